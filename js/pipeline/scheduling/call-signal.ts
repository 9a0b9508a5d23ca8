/**
 * The signal that ends one call early: when its caller aborts, when its workspace closes, or when
 * its time limit expires.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Call } from "../../tools/lib/tool.ts";

/** The abort signal of the caller, by the signal that was created for the call. */
const callerSignals = new WeakMap<AbortSignal, AbortSignal>();

/** Returns the caller's signal for a signal that was created for its call, and any other signal unchanged. */
export function callerSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  return signal === undefined ? undefined : (callerSignals.get(signal) ?? signal);
}

/** The signal of one call. It is created on first use, because most reads end before they could be cancelled. */
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
      if (this.#outer !== undefined) callerSignals.set(this.#controller.signal, this.#outer);
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

  /** Cancels the call after the given time, unless `untimed` is called before. */
  limit(timeoutMs: number): Call["timer"] {
    // A call that is made once more has its time again.
    this.untimed();
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

  /** Stops the time limit: the call waits for a person, writes, or enforces its own limit. */
  untimed(): void {
    clearTimeout(this.#timer as never);
  }

  /** Releases the caller's signal and the timer. */
  end(): void {
    if (this.#timer !== undefined) this.untimed();
    if (this.#controller !== undefined) this.#outer?.removeEventListener("abort", this.#abort);
  }

  /** Returns the error for the caller: TIMEOUT instead of CANCELLED when the time limit expired. */
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
