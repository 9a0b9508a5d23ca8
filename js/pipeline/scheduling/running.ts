/**
 * The running calls of a workspace, and the signal that ends one of them early: when its caller aborts, when its workspace
 * closes, or when its time limit expires. When a workspace closes, reads are cancelled, writes finish, and it waits for
 * both.
 */
import { FilewrightError } from "../../engine/errors.ts";
import type { Call } from "../../tools/lib/tool.ts";

/**
 * The maximum time that `close()` waits for calls that do not end, such as on a hanging file system, in
 * milliseconds.
 */
const MAX_CLOSE_WAIT_MS = 10_000;

/** The running calls of a workspace, including those of its agents. */
export class RunningCalls {
  /** The ids of successful changing calls, by which a caller without a name recognizes its own. */
  readonly changes: Set<string> = new Set<string>();
  readonly #parent: RunningCalls | undefined;
  readonly #cancels = new Set<() => void>();
  #idle: (() => void) | undefined;
  #closed = false;

  /** @param parent for an agent: the calls of its workspace, which also waits for those of the agent */
  constructor(parent?: RunningCalls) {
    this.#parent = parent;
  }

  /** True when no further call may begin. */
  get closed(): boolean {
    return this.#closed || this.#parent?.closed === true;
  }

  /**
   * Records the beginning of a call. `cancel` is called when the workspace closes. Returns the function
   * that records the end.
   */
  begin(cancel: () => void): () => void {
    const endAbove = this.#parent?.begin(cancel);
    // A separate function for each call, because several calls may share one `cancel`.
    const own = (): void => cancel();
    this.#cancels.add(own);
    return () => {
      this.#cancels.delete(own);
      if (this.#cancels.size === 0) this.#idle?.();
      endAbove?.();
    };
  }

  /** Refuses further calls, cancels the running ones and waits until they have ended. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const cancel of [...this.#cancels]) cancel();
    if (this.#cancels.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, MAX_CLOSE_WAIT_MS);
      this.#idle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

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
