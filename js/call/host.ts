/**
 * The work of a host itself on the past of its workspace, for a person: it undoes a call or a part of one, and keeps
 * calls. `AROUND_HOST` in `stages.ts` has its stages.
 */
import { newCallId } from "../log/index.ts";
import type { Facts } from "../pipeline/facts.ts";
import type { HostWork } from "../pipeline/past/history.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Called, Next, Stage } from "./call.ts";

/** Something that a host does itself. */
export interface HostCall<Data> {
  /** Its name for observers and errors. */
  readonly known: Called;
  /** The person for whom the host does it; undefined where it is not known. */
  readonly by: string | undefined;
  /** Ends it early. A workspace that closes waits for it, and does not cancel it. */
  readonly signal: AbortSignal | undefined;
  /** Does it. @throws FilewrightError */
  work(work: HostWork): Promise<Data>;
}

/** Returns the last step of what a host does: the work itself. */
export function hostStep(asked: Pick<HostCall<unknown>, "work">): Next {
  return async ({ session, callId, facts }) =>
    resultOfData(facts, await asked.work({ session, callId: callId || newCallId(), facts }));
}

/** Returns the result of a call of which only the data is wanted. */
function resultOfData(facts: Facts, data: unknown): ToolResult {
  const meta = { duration_ms: performance.now() - facts.started, truncated: false, undoable: false };
  return { ok: true, text: "", display: "", data, meta };
}

/** A host gets data and errors, and no text. */
export const withoutText: Stage = {
  run: async (request, next) => ({ ...(await next(request)), text: "", display: "" }),
};
