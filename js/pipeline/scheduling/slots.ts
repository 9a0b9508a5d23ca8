/** Limits the number of calls of a workspace that run at once. */
import { FilewrightError } from "../../engine/errors.ts";

/** Runs a limited number of calls at once; the others wait in the order in which they came. */
export class CallSlots {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param limit the number of calls; infinity for a workspace without a limit */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes a slot, or waits for one; the result releases it.
   * @throws FilewrightError CANCELLED when the signal is aborted first
   */
  take(signal: AbortSignal): (() => void) | Promise<() => void> {
    if (this.#running < this.#limit) {
      this.#running += 1;
      return this.#release();
    }
    return new Promise((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener("abort", abort);
        resolve(this.#release());
      };
      const abort = (): void => {
        const at = this.#waiting.indexOf(start);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(new FilewrightError("CANCELLED", "cancelled while it waited for its turn"));
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.push(start);
    });
  }

  #release(): () => void {
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const next = this.#waiting.shift();
      // The slot passes to the next waiting call, so the count stays the same.
      if (next === undefined) this.#running -= 1;
      else next();
    };
  }
}
