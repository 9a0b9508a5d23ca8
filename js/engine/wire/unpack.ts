/**
 * Decodes packed results; the counterpart of `crates/core/src/pack.rs`.
 *
 * Reads numbers and strings in the order in which Rust wrote them.
 */

/** A packed result of either engine. */
export interface Packed {
  /** A plain list for few numbers: a buffer costs more than reading it. */
  readonly nums: ArrayLike<number>;
  readonly text: string;
}

/** Starts reading a packed result from its beginning. */
export function unpack(packed: Packed): Unpacker {
  return new Unpacker(packed);
}

/**
 * A cursor over a {@link Packed} result. A class, because closures per result cost more than
 * reading most of them.
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

  /** True when everything was read. */
  get isAtEnd(): boolean {
    return this.#at >= this.#nums.length;
  }

  /** Reads the next number. */
  num(): number {
    return this.#nums[this.#at++] as number;
  }

  /** Reads the next number, or null where Rust wrote `None`. */
  opt(): number | null {
    const value = this.num();
    return value < 0 ? null : value;
  }

  /** The same for a number that may be negative. */
  optSigned(): number | null {
    const value = this.num();
    return Number.isNaN(value) ? null : value;
  }

  /** Reads the next boolean. */
  flag(): boolean {
    return this.num() === 1;
  }

  /** Reads the next string. */
  str(): string {
    return this.#take(this.num());
  }

  /** Reads the next string, or null where Rust wrote `None`. */
  optStr(): string | null {
    const length = this.num();
    return length < 0 ? null : this.#take(length);
  }

  /** Reads a number of items, and each of them. */
  list<T>(item: () => T): T[] {
    const items: T[] = [];
    for (let left = this.num(); left > 0; left--) items.push(item());
    return items;
  }

  #take(length: number): string {
    const from = this.#from;
    this.#from += length;
    return this.#text.slice(from, this.#from);
  }
}
