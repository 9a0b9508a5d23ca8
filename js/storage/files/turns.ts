/** The queue of a storage in one process: commits one after the other, and reads at the same time but not beside a commit. */
export class Turns {
  #lastCommit: Promise<unknown> = Promise.resolve();
  #reads: Promise<unknown>[] = [];

  /** Runs a read once the commits before it have ended. */
  read<T>(run: () => Promise<T>): Promise<T> {
    const turn = this.#lastCommit.then(run);
    const ended = turn.catch(() => undefined);
    this.#reads.push(ended);
    void ended.then(() => this.#reads.splice(this.#reads.indexOf(ended), 1));
    return turn;
  }

  /** Runs a commit once everything before it has ended. */
  commit<T>(run: () => Promise<T>): Promise<T> {
    const turn = Promise.all([this.#lastCommit, ...this.#reads]).then(run);
    this.#lastCommit = turn.catch(() => undefined);
    return turn;
  }
}
