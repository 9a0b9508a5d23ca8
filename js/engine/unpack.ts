/**
 * Takes packed results apart; the other half of `crates/core/src/pack.rs`.
 *
 * Reads numbers and strings in the order in which Rust wrote them.
 */

/** A result as it crosses from either engine. */
export interface Packed {
  /** A list where there are few: a buffer costs more than reading it. */
  readonly nums: ArrayLike<number>;
  readonly text: string;
}

/** Starts reading a packed result from its beginning. */
export function unpack(packed: Packed): Unpacker {
  return new Unpacker(packed);
}

/**
 * A cursor over a {@link Packed} result. A class, because closures made for
 * each result cost more than reading most of them.
 */
export class Unpacker {
  readonly #nums: ArrayLike<number>;
  readonly #text: string;
  #at = 0;
  #from = 0;

  /** Starts at the beginning. */
  constructor({ nums, text }: Packed) {
    this.#nums = nums;
    this.#text = text;
  }

  /** The next number. */
  num(): number {
    return this.#nums[this.#at++] as number;
  }

  /** The next number, or null where Rust wrote `None`. */
  opt(): number | null {
    const value = this.num();
    return value < 0 ? null : value;
  }

  /** The next truth value. */
  flag(): boolean {
    return this.num() === 1;
  }

  /** The next string. */
  str(): string {
    return this.#take(this.num());
  }

  /** The next string, or null where Rust wrote `None`. */
  optStr(): string | null {
    const length = this.num();
    return length < 0 ? null : this.#take(length);
  }

  #take(length: number): string {
    const from = this.#from;
    this.#from += length;
    return this.#text.slice(from, this.#from);
  }
}
