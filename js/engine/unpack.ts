/**
 * Takes packed results apart; the other half of `crates/core/src/pack.rs`.
 *
 * Reads numbers and strings in the order in which Rust wrote them.
 */

/** A result as it crosses from either engine. */
export interface Packed {
  readonly nums: Float64Array;
  readonly text: string;
}

/** A cursor over a {@link Packed} result. */
export interface Unpacker {
  /** The next number. */
  num(): number;
  /** The next number, or null where Rust wrote `None`. */
  opt(): number | null;
  /** The next truth value. */
  flag(): boolean;
  /** The next string. */
  str(): string;
  /** The next string, or null where Rust wrote `None`. */
  optStr(): string | null;
}

/** Starts reading a packed result from its beginning. */
export function unpack(packed: Packed): Unpacker {
  const { nums, text } = packed;
  let at = 0;
  let from = 0;
  const num = (): number => nums[at++] as number;
  const take = (length: number): string => {
    const to = from + length;
    const part = text.slice(from, to);
    from = to;
    return part;
  };
  return {
    num,
    opt: () => {
      const value = num();
      return value < 0 ? null : value;
    },
    flag: () => num() === 1,
    str: () => take(num()),
    optStr: () => {
      const length = num();
      return length < 0 ? null : take(length);
    },
  };
}
