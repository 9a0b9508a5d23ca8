/**
 * What may end one call early: its caller's signal, the closing of its workspace,
 * and the time it was given.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { Call } from "../tools/tool.ts";

/** The caller's signals of those that were made for its calls. */
const callers = new WeakMap<AbortSignal, AbortSignal>();

/** The signal that the caller gave, for who knows the call by it; the signal itself where it is the caller's. */
export function callerSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  return signal === undefined ? undefined : (callers.get(signal) ?? signal);
}

/** The signal of one call. Made when somebody asks for it: most reads end before anybody could. */
export class CallSignal {
  readonly #outer: AbortSignal | undefined;
  #controller: AbortController | undefined;
  #timer: unknown;
  #timeoutMs = 0;
  #timedOut = false;
  #cancelled = false;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
  }

  /** Aborted when the call must end. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#outer !== undefined) callers.set(this.#controller.signal, this.#outer);
      if (this.#cancelled || this.#outer?.aborted === true) this.#controller.abort();
      else this.#outer?.addEventListener("abort", this.#abort, { once: true });
    }
    return this.#controller.signal;
  }

  /** Cancels the call. */
  cancel(): void {
    this.#cancelled = true;
    this.#controller?.abort();
  }

  /** Ends the call after so many milliseconds, unless `untimed` is called before. */
  limit(timeoutMs: number): Required<Pick<Call, "timeLeft" | "untimed">> {
    this.#timeoutMs = timeoutMs;
    const end = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      this.cancel();
    }, timeoutMs);
    return {
      timeLeft: () => Math.max(0, Math.ceil(end - performance.now())),
      untimed: () => this.untimed(),
    };
  }

  /** From now on time does not count: the call asks somebody, writes, or minds its time itself. */
  untimed(): void {
    clearTimeout(this.#timer as never);
  }

  /** Lets go of the caller's signal and of the timer. */
  end(): void {
    this.untimed();
    if (this.#controller !== undefined) this.#outer?.removeEventListener("abort", this.#abort);
  }

  /** What is told of a failure: TIMEOUT where the call was cancelled because its time was up. */
  told(thrown: unknown): unknown {
    if (!this.#timedOut || !(thrown instanceof FilewrightError) || thrown.code !== "CANCELLED") return thrown;
    return new FilewrightError("TIMEOUT", `Not done after ${this.#timeoutMs} ms; nothing was changed.`, {
      complete: true,
      hint: "Narrow the call (a deeper path, a glob), or raise timeout_ms.",
      details: { timeout_ms: this.#timeoutMs },
      cause: thrown,
    });
  }

  readonly #abort = (): void => this.cancel();
}
