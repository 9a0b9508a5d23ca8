/**
 * Lets calls begin in turn: a few in each turn of the event loop. A call takes a slot of its workspace, where the option
 * `concurrency` limits them, and a place among the running walks when it walks a tree. Both are released here.
 */
import type { CallOptions } from "../pipeline/enter.ts";
import { checkAborted } from "../engine/errors.ts";
import { LoopTurns } from "../pipeline/scheduling/admission.ts";
import { type ScanClient, scanQueue } from "../pipeline/scheduling/scans.ts";
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
    checkAborted(request.options.signal);
    return await next(request);
  } finally {
    giveBack(request);
  }
}

/** Releases the slot and the places among the walks that a call has taken. */
function giveBack({ taken }: CallRequest): void {
  for (const leave of taken.splice(0)) leave();
}

/** Walks a tree for an operation of a batch, which has a place among the running walks only for so long. */
export async function inTurn<T>(request: CallRequest, session: Session, walk: () => Promise<T>): Promise<T> {
  const own = { ...request, taken: [] };
  try {
    await takeScan(own, session);
    return await walk();
  } finally {
    giveBack(own);
  }
}

/** Takes a slot of the workspace; a promise where the call must wait. @throws FilewrightError CANCELLED */
export function takeSlot(request: CallRequest): Promise<void> | undefined {
  const { session, limited } = request;
  return session.scheduling.slots && take(request, "slot", session.scheduling.slots.take(limited));
}

/** Takes a place among the calls that walk a tree; a promise where it must wait. @throws FilewrightError CANCELLED */
export function takeScan(request: CallRequest, session: Session): Promise<void> | undefined {
  const { options, limited } = request;
  return take(request, "scan", scanQueue.admit(scanClientOf(session, options), limited.signal));
}

/** Keeps a place that a call has taken, or waits for it and tells how long. */
function take(
  request: CallRequest,
  reason: "slot" | "scan",
  place: (() => void) | Promise<() => void>,
): Promise<void> | undefined {
  if (place instanceof Promise) return wait(request, reason, place);
  request.taken.push(place);
  return undefined;
}

async function wait(
  { facts, taken }: CallRequest,
  reason: "slot" | "scan",
  place: Promise<() => void>,
): Promise<void> {
  const before = performance.now();
  taken.push(await place);
  const ms = Math.max(1, Math.round(performance.now() - before));
  facts.tell({ what: "waited", reason, ms });
}

/** Returns the client for the queue of walks: one agent of one workspace. */
function scanClientOf(session: Session, { agent = session.caller.agent }: CallOptions): ScanClient {
  return { name: `${session.caller.workspace} ${agent ?? ""}`, tenant: session.caller.tenant };
}
