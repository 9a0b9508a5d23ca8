/** Tells the observers of a workspace of the beginning and the end of each call. */
import { newCallId } from "../log/index.ts";
import { runObserved } from "../pipeline/observe.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { Stage } from "./call.ts";

export const observing: Stage = {
  isNeeded: ({ observers }) => observers.all.length > 0,
  run(request, next) {
    const { session, known, options, presetCall, facts } = request;
    const callId = known.kind === "read" || known.kind === "review" ? "" : newCallId();
    const about = {
      tool: known.name,
      ...withoutUndefined({
        called_as: presetCall?.tool.name,
        agent: options.agent ?? session.caller.agent,
        by: session.caller.by,
        call_id: callId || undefined,
      }),
    };
    return runObserved(session.observers.all, { about, changes: known.kind !== "read" }, facts, () =>
      next({ ...request, callId }),
    );
  },
};
