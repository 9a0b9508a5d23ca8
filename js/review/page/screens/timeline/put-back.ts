/** Puts back what a call has changed. */
import type { PastCall, UndoAnswer, UndoConflict } from "../../../past/history-protocol.ts";
import { isUnanswered, ResponseError } from "../../../transport.ts";
import type { PageEffects } from "../props.ts";
import { count, type PutBackFailure, type TimelineView } from "./view.ts";

/** Undoes a call, and shows what came of it. */
export async function putBack(
  effects: PageEffects,
  callId: string,
  show: (change: Partial<TimelineView>) => void,
): Promise<void> {
  const closed = { dialog: undefined } as const;
  try {
    const undone = await effects.send<UndoAnswer>(`history/${encodeURIComponent(callId)}/undo`, {});
    const text = `Put back: ${count(undone.paths.length, "path")}.`;
    const done = { text, callId: undone.callId };
    show({ ...closed, done, failure: undefined, chosen: undone.callId });
  } catch (error) {
    show({ ...closed, done: undefined, failure: failureOf(error, "Not put back") });
  }
}

/** Keeps calls, so that they count as reviewed. */
export async function keepCalls(
  effects: PageEffects,
  calls: readonly PastCall[],
  show: (change: Partial<TimelineView>) => void,
): Promise<void> {
  try {
    await effects.send("history/keep", { calls: calls.map(({ callId }) => callId) });
    show({ dialog: undefined, failure: undefined, done: undefined });
  } catch (error) {
    show({ dialog: undefined, failure: failureOf(error, "Not kept") });
  }
}

/** Returns why something was not done, in words. */
export function failureOf(error: unknown, what: string): PutBackFailure {
  if (isUnanswered(error)) {
    const text =
      "It is not known whether this was done: the connection broke. The list of calls shows it once the connection is back.";
    return { text, later: [] };
  }
  const message = error instanceof Error ? error.message : String(error);
  const data = error instanceof ResponseError ? (error.data as Partial<UndoConflict> | undefined) : undefined;
  const later = data?.later ?? [];
  // Without a later call it was a person or another program.
  const others =
    data?.later !== undefined && later.length === 0 ? " A person or another program has changed it." : "";
  return { text: `${what}: ${message.replace(/\.$/u, "")}.${others}`, later };
}
