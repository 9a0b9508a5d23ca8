/**
 * Decodes packed results, in which Rust returns all numbers of a result as one array and all strings as one.
 * The counterpart is `crates/core/src/pack.rs`.
 *
 * Numbers and strings must be read in the order in which Rust wrote them.
 */

/** A packed result of the native or the WebAssembly engine. */
export interface Packed {
  /** A plain array when there are few numbers, because creating a typed array costs more than reading it. */
  readonly nums: ArrayLike<number>;
  readonly text: string;
}

/** Starts reading a packed result from its beginning. */
export function unpackerOf(packed: Packed): Unpacker {
  return new Unpacker(packed);
}

/**
 * A reader over a {@link Packed} result. It is a class, because creating closures for each result costs more
 * than reading most results.
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

  /** Reads the next number, which may be negative, or null where Rust wrote `None`. */
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

  /** Reads the number of items, then each item by `item`. */
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
