/**
 * Lets calls begin in turn: a few in each turn of the event loop. The call takes a slot of its workspace, and a place in
 * the queue of walks, when it needs them (`places.ts`); they are given back here.
 */
import type { CallOptions } from "../pipeline/enter.ts";
import { throwIfCancelled } from "../pipeline/change.ts";
import { LoopTurns } from "../pipeline/scheduling/admission.ts";
import type { ScanClient } from "../pipeline/scheduling/scans.ts";
import type { Session } from "../pipeline/session.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { CallRequest, Next, Stage } from "./call.ts";

/**
 * The calls of all workspaces that start in one turn of the event loop: at most 32, which take a few milliseconds.
 */
const callStartsPerTurn = new LoopTurns(32);

export const fairness: Stage = {
  run: (request, next) =>
    callStartsPerTurn.take()
      ? begin(request, next)
      : callStartsPerTurn.next().then(() => fairness.run(request, next)),
};

async function begin(request: CallRequest, next: Next): Promise<ToolResult> {
  try {
    throwIfCancelled(request.options.signal);
    return await next(request);
  } finally {
    request.places.leave();
  }
}

/** Returns the client for the queue of walks: one agent of one workspace. */
export function scanClientOf(session: Session, { agent = session.caller.agent }: CallOptions): ScanClient {
  return { name: `${session.caller.workspace} ${agent ?? ""}`, tenant: session.caller.tenant };
}
