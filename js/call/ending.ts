/**
 * Ends a call early: when its caller aborts, or its workspace closes, which waits for its running calls and the hooks
 * after them. The time limit of a call ends it by the same signal (`run.ts`).
 */
import type { Stage } from "./call.ts";

export const ending: Stage = {
  async run(request, next) {
    const { session, known, options, limited } = request;
    const ended = session.scheduling.running.begin(() => limited.cancel());
    // A read of one file ends before it can be cancelled, unless it waits for a hook, a grant or an approval.
    const isQuick =
      known.traits.includes("endsAtOnce") &&
      session.hooks.bound.length === 0 &&
      session.gates.permissions === undefined &&
      session.gates.rules.isEmpty;
    try {
      return await next(isQuick ? request : { ...request, options: { ...options, signal: limited.signal } });
    } finally {
      limited.end();
      ended();
    }
  },
};
