/**
 * A limit for the number of calls that start in one turn of the event loop.
 *
 * When many agents call in loops, each answer starts the next call in the same turn, and Node delivers
 * up to a thousand answers before it handles timers and sockets again. With the limit, these wait for
 * a few calls only.
 */
import { nextTurn } from "../../engine/yielder.ts";

/** Counts the calls that start in the current turn of the event loop. */
export class LoopTurns {
  readonly #maxStarts: number;
  #starts = 0;
  #next: Promise<void> | undefined;

  constructor(maxStarts: number) {
    this.#maxStarts = maxStarts;
  }

  /** Counts a start. Returns false when the turn is full. */
  take(): boolean {
    if (this.#starts >= this.#maxStarts) return false;
    if (this.#starts === 0) nextTurn(() => (this.#starts = 0));
    this.#starts += 1;
    return true;
  }

  /** Waits for the next turn. Waiting calls continue in the order in which they came. */
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
