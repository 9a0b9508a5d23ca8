/**
 * The admission of calls: how many run at once, how many start in one turn of the event loop, and none
 * during a shutdown, which waits for the running ones.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { nextTurn } from "../../engine/yielder.ts";
import { type Failure, refusedFailure } from "../result.ts";

/** A queue of calls, each known by the function that starts it. */
interface WaitingCalls {
  enter(start: () => void): void;
  leave(start: () => void): void;
}

/**
 * Waits in a queue until it starts the call, and returns what `begin` returns then.
 * @throws FilewrightError CANCELLED when the signal is aborted first
 */
export function waitForTurn<T>(signal: AbortSignal, begin: () => T, queue: WaitingCalls): Promise<T> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      signal.removeEventListener("abort", abort);
      resolve(begin());
    };
    const cancel = (): void =>
      reject(new FilewrightError("CANCELLED", "cancelled while it waited for its turn"));
    const abort = (): void => {
      queue.leave(start);
      cancel();
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", abort, { once: true });
    queue.enter(start);
  });
}

/** Runs a limited number of calls at once; the others wait in the order in which they came. */
export class CallSlots {
  readonly #limit: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param limit the number of calls */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes a slot, or waits for one. Returns the function that releases it. The signal is made when the call waits,
   * because that takes longer than the rest of a small call.
   * @throws FilewrightError CANCELLED when the signal is aborted first
   */
  take(limited: { readonly signal: AbortSignal }): (() => void) | Promise<() => void> {
    if (this.#running < this.#limit) {
      this.#running += 1;
      return this.#release();
    }
    return waitForTurn(limited.signal, () => this.#release(), {
      enter: (start) => void this.#waiting.push(start),
      leave: (start) => void this.#waiting.splice(this.#waiting.indexOf(start), 1),
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

/**
 * Counts the calls that start in the current turn of the event loop, and limits them.
 *
 * When many agents call in loops, each answer starts the next call in the same turn, and Node delivers
 * up to a thousand answers before it handles timers and sockets again. With the limit, these wait for
 * a few calls only.
 */
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

/** Counts calls, and refuses new ones during a shutdown. */
export interface CallGate {
  /** Returns the refusal of a new call; undefined when it may begin. */
  refusal(): Failure | undefined;
  /** Runs a call and counts it while it runs. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Refuses all further calls. Resolves when no call is running. */
  drain(): Promise<void>;
}

/** Returns the refusal of a call that came during a shutdown. */
export function shuttingDownFailure(): Failure {
  const message =
    "The workspace is shutting down, and nothing of this call was done. Call again once it is back.";
  return refusedFailure("CANCELLED", message, { reason: "shutting_down" });
}

/** Returns the failure of a call whose end a server that shuts down has not waited for. */
export function abandonedFailure(): Failure {
  const message =
    "The server shut down before this call had ended. Look whether its change was made before you repeat it.";
  return refusedFailure("CANCELLED", message, { outcome: "unknown" });
}

/**
 * Creates the counter of a workspace.
 * @param above that of the parent workspace, which also counts and refuses the calls
 */
export function makeCallGate(above?: CallGate): CallGate {
  let isDraining = false;
  let running = 0;
  const waiting: (() => void)[] = [];
  const run = async <T>(call: () => Promise<T>): Promise<T> => {
    running += 1;
    try {
      return await call();
    } finally {
      running -= 1;
      if (running === 0) for (const resolve of waiting.splice(0)) resolve();
    }
  };
  return {
    refusal: () => (isDraining ? shuttingDownFailure() : above?.refusal()),
    run: above === undefined ? run : (call) => above.run(() => run(call)),
    drain() {
      isDraining = true;
      return running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
