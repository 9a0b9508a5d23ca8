/** The readers-writer queue of a storage in one process: reads run concurrently, commits run alone, in their order. */
export class Turns {
  #lastCommit: Promise<unknown> = Promise.resolve();
  #reads: Promise<unknown>[] = [];

  /** Runs a read once the commits before it have settled. */
  read<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#lastCommit.then(run);
    const settled = result.catch(() => undefined);
    this.#reads.push(settled);
    void settled.then(() => this.#reads.splice(this.#reads.indexOf(settled), 1));
    return result;
  }

  /** Runs a commit once everything before it has settled. */
  commit<T>(run: () => Promise<T>): Promise<T> {
    const result = Promise.all([this.#lastCommit, ...this.#reads]).then(run);
    this.#lastCommit = result.catch(() => undefined);
    return result;
  }
}
