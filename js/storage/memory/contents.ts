/**
 * The contents of a storage in memory by their hashes, for the operation `link`. Trees and the history hold the
 * contents; this index holds them weakly, so that what nothing names any more is freed.
 */

/** The number of contents at which the index first looks for freed ones. */
const MIN_SWEPT_CONTENTS = 1024;

/** Contents by hash. */
export class Contents {
  readonly #byHash = new Map<string, WeakRef<Uint8Array>>();
  #sweepAt = MIN_SWEPT_CONTENTS;

  /** Returns the known content with this hash, or undefined. */
  get(hash: string): Uint8Array | undefined {
    return this.#byHash.get(hash)?.deref();
  }

  /** Adds a content, and returns the one that is known with its hash already. */
  add(hash: string, body: Uint8Array): Uint8Array {
    const known = this.get(hash);
    if (known !== undefined) return known;
    this.#byHash.set(hash, new WeakRef(body));
    if (this.#byHash.size >= this.#sweepAt) {
      for (const [one, ref] of this.#byHash) if (ref.deref() === undefined) this.#byHash.delete(one);
      this.#sweepAt = Math.max(MIN_SWEPT_CONTENTS, this.#byHash.size * 2);
    }
    return body;
  }
}
