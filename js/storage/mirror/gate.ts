/** Many readers or one writer, within a process. A writer waits for the readers that have begun, and goes before others. */
export class Gate {
  readonly #readers = new Set<Promise<unknown>>();
  #writer: Promise<unknown> | undefined;

  /** True while there is no reader and no writer. */
  get isIdle(): boolean {
    return this.#readers.size === 0 && this.#writer === undefined;
  }

  /** Runs a reader once no writer is at work. */
  async read<T>(run: () => Promise<T>): Promise<T> {
    while (this.#writer !== undefined) await settled(this.#writer);
    const reading = run();
    this.#readers.add(reading);
    try {
      return await reading;
    } finally {
      this.#readers.delete(reading);
    }
  }

  /** Runs a writer alone. */
  async write<T>(run: () => Promise<T>): Promise<T> {
    while (this.#writer !== undefined) await settled(this.#writer);
    const writing = (async () => {
      while (this.#readers.size > 0) await Promise.allSettled(this.#readers);
      return run();
    })();
    this.#writer = writing;
    try {
      return await writing;
    } finally {
      this.#writer = undefined;
    }
  }
}

async function settled(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
