/** The line hashes of contents that a caller has seen, by which a changed file tells which of its lines are new. */

/** The most characters of all kept hashes, of six a line: 8 MB for each agent. Beyond it the oldest are dropped. */
const MAX_KEPT_CHARS = 8 * 1024 * 1024;

/** The line hashes of contents, by the hash of each. Kept in memory only: without them a change has no lines. */
export class LineHashes {
  readonly #kept = new Map<string, string>();
  #chars = 0;

  /** Keeps the line hashes of a content, as the engine returns them. */
  keep(hash: string, lines: string): void {
    this.#drop(hash);
    this.#kept.set(hash, lines);
    this.#chars += lines.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= MAX_KEPT_CHARS) break;
      this.#drop(oldest);
    }
  }

  /** Returns the line hashes of a content; undefined where they are not kept. */
  of(hash: string): string | undefined {
    return this.#kept.get(hash);
  }

  #drop(hash: string): void {
    const lines = this.#kept.get(hash);
    if (lines === undefined) return;
    this.#kept.delete(hash);
    this.#chars -= lines.length;
  }
}
