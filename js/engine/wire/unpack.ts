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

/**
 * A reader over a {@link Packed} result. It is a class, because creating closures for each result costs more
 * than reading most results. The generated decoders of records read numbers themselves.
 */
export class Unpacker {
  readonly nums: ArrayLike<number>;
  readonly text: string;
  /** The index of the next number. */
  at = 0;
  /** The index of the next character, in UTF-16 units. */
  chars = 0;

  /** Starts at the beginning. */
  constructor({ nums, text }: Packed) {
    this.nums = nums;
    this.text = text;
  }

  /** True when everything was read. */
  get isAtEnd(): boolean {
    return this.at >= this.nums.length;
  }

  /** Reads the next number. */
  num(): number {
    return this.nums[this.at++] as number;
  }

  /** Reads the next string. */
  str(): string {
    const from = this.chars;
    this.chars += this.nums[this.at++] as number;
    return this.text.slice(from, this.chars);
  }

  /** Reads the next string, or null where Rust wrote `None`. */
  optStr(): string | null {
    if ((this.nums[this.at] as number) >= 0) return this.str();
    this.at++;
    return null;
  }

  /** Reads the number of items, then each item by `item`. */
  list<T>(item: () => T): T[] {
    const items: T[] = [];
    for (let left = this.nums[this.at++] as number; left > 0; left--) items.push(item());
    return items;
  }
}
