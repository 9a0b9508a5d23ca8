/**
 * Counts the running calls of a workspace so that it can shut down in order: running calls finish, and
 * new ones are refused.
 */
import { type Failure, refusedFailure } from "../result.ts";

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

/** Creates the gate. @param above the gate of the parent workspace, which also counts and refuses the calls */
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
