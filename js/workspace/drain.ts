/**
 * The calls of a workspace that run, counted, so that it can end in order: what runs is finished, what comes
 * is refused.
 */
import { type Failure, refused } from "./result.ts";

/** Counts calls, and refuses new ones while the workspace ends. */
export interface CallGate {
  /** Why no call may begin; undefined where one may. */
  refusal(): Failure | undefined;
  /** Runs a call and counts it while it runs. */
  run<T>(call: () => Promise<T>): Promise<T>;
  /** Lets no further call begin. Resolves once none runs. */
  drain(): Promise<void>;
}

/** The refusal of a call that came while the workspace ends. */
export function shuttingDown(): Failure {
  const message =
    "The workspace is shutting down, and nothing of this call was done. Call again once it is back.";
  return refused("CANCELLED", message, { reason: "shutting_down" });
}

/** Makes the gate. @param above that of the workspace which this one is a part of: it counts and refuses too */
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
    refusal: () => (isDraining ? shuttingDown() : above?.refusal()),
    run: above === undefined ? run : (call) => above.run(() => run(call)),
    drain() {
      isDraining = true;
      return running === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve));
    },
  };
}
