/**
 * A limit for the calls that start in one turn of the event loop.
 *
 * Where many agents call in loops, each answer starts the next call in the same
 * turn, and Node hands over up to a thousand answers before it looks at timers
 * and sockets again. With the limit those wait for a few calls and not for all.
 */

// Taken when the module is loaded, so that a test that replaces timers does not stop calls.
const nextTurn: (run: () => void) => void =
  globalThis.setImmediate ?? ((run: () => void) => globalThis.setTimeout(run, 0));

/** Counts what starts in this turn of the event loop. */
export class LoopTurns {
  readonly #maxStarts: number;
  #starts = 0;
  #next: Promise<void> | undefined;

  constructor(maxStarts: number) {
    this.#maxStarts = maxStarts;
  }

  /** Counts a start; false where this turn is full. */
  take(): boolean {
    if (this.#starts >= this.#maxStarts) return false;
    if (this.#starts === 0) nextTurn(() => (this.#starts = 0));
    this.#starts += 1;
    return true;
  }

  /** Waits for the next turn. Those who wait go on in the order in which they came. */
  next(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      nextTurn(() => {
        this.#next = undefined;
        resolve();
      });
    });
    return this.#next;
  }
}
