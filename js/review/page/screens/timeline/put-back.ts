/** Puts back what a call has changed. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { PastCall, UndoAnswer, UndoConflict } from "../../../past/history-protocol.ts";
import { isUnanswered, ResponseError } from "../../../transport.ts";
import type { PageEffects } from "../props.ts";
import type { ChosenPutBack, PutBackFailure, TimelineView } from "./view.ts";
import { plural } from "../../../../engine/escape.ts";

function undoPath(callId: string): string {
  return `history/${encodeURIComponent(callId)}/undo`;
}

/** Puts back a call, and shows what came of it. */
export async function putBack(
  effects: PageEffects,
  callId: string,
  show: (change: Partial<TimelineView>) => void,
): Promise<void> {
  try {
    const { callId: made, paths } = await effects.send<UndoAnswer>(undoPath(callId), {});
    const text = `Put back: ${plural(paths.length, "path")}.`;
    const done = made === undefined ? undefined : { text, callId: made };
    show({ done, failure: undefined, chosen: made });
  } catch (error) {
    show({ done: undefined, failure: failureOf(error, "Not put back") });
  }
}

/** Returns what a put back of some hunks would change. @throws ResponseError */
export function previewPutBack(effects: PageEffects, { callId, parts }: ChosenPutBack): Promise<UndoAnswer> {
  return effects.send(undoPath(callId), { parts, dryRun: true });
}

/** Puts back the hunks that were previewed, and returns what the timeline shows then. @throws ResponseError */
export async function putBackHunks(
  effects: PageEffects,
  { callId, parts, label }: ChosenPutBack,
  digest: string | undefined,
): Promise<Partial<TimelineView>> {
  const { callId: made } = await effects.send<UndoAnswer>(undoPath(callId), { parts, digest });
  return made === undefined ? {} : { chosen: made, done: { text: `Put back: ${label}.`, callId: made } };
}

/** Keeps calls, so that they count as reviewed. */
export async function keepCalls(
  effects: PageEffects,
  calls: readonly PastCall[],
  show: (change: Partial<TimelineView>) => void,
): Promise<void> {
  try {
    await effects.send("history/keep", { calls: calls.map(({ callId }) => callId) });
    show({ failure: undefined, done: undefined });
  } catch (error) {
    show({ failure: failureOf(error, "Not kept") });
  }
}

/** Returns why something was not done, in words. With `isPreview` nothing would have been done in any case. */
export function failureOf(error: unknown, what: string, isPreview = false): PutBackFailure {
  if (isUnanswered(error)) {
    const text = isPreview
      ? "The server did not answer."
      : "It is not known whether this was done: the connection broke. The list of calls shows it once the connection is back.";
    return { text, later: [], isDoubtful: !isPreview };
  }
  const message = messageOf(error);
  const data = error instanceof ResponseError ? (error.data as Partial<UndoConflict> | undefined) : undefined;
  const later = data?.later ?? [];
  // Without a later call it was a person or another program.
  const others =
    data?.later !== undefined && later.length === 0 ? " A person or another program has changed it." : "";
  const unfit = (data?.unfit ?? []).map(({ path, hunks }) => {
    const numbers = hunks.map((hunk) => hunk + 1).join(", ");
    return ` ${hunks.length === 1 ? "Hunk" : "Hunks"} ${numbers} of ${path} ${hunks.length === 1 ? "does" : "do"} not fit any more.`;
  });
  return { text: `${what}: ${message.replace(/\.$/u, "")}.${unfit.join("")}${others}`, later };
}
