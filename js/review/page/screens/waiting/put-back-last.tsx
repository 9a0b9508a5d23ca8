/** The dialog that puts back what this person allowed last. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PastCall, PastCalls } from "../../../past/history-protocol.ts";
import type { SettledQuestion } from "../../../protocol.ts";
import { lastAnswer } from "../../state/last-answer.ts";
import { whyNotPermitted } from "../../state/permission.ts";
import { type Loaded, useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { PutBackDialog } from "../timeline/put-back-dialog.tsx";
import { type TimelineView, reversalsOf } from "../timeline/view.ts";

/**
 * Draws the dialog, or closes it with the reason why nothing can be put back. The paths are those of the history: of a
 * change that was allowed in part, these only.
 */
export function PutBackLast({ state, effects }: ScreenProps): JSX.Element | null {
  // It stays the answer for which the dialog was opened, also when another one is given meanwhile.
  const [last] = useState(() => lastAnswer(state));
  const past = useLoaded<PastCalls>(effects, "history", state.review.history);
  const entry = past.data?.entries.find(
    ({ callId, unrecorded }) => callId === last?.question.callId && unrecorded !== true,
  );
  const why = whyNotPermitted(state, "manage") ?? whyNotPutBack(last, past, entry);
  const close = (text?: string, isFailure = true): void =>
    effects.dispatch(
      text === undefined ? { type: "dialog", dialog: undefined } : { type: "done", text, isFailure },
    );
  useEffect(() => {
    if (why !== undefined) close(why);
  }, [why]);
  if (why !== undefined || entry === undefined) return null;
  const show = ({ done, failure, ...change }: Partial<TimelineView>): void => {
    const text = (failure ?? done)?.text;
    if (text !== undefined || "dialog" in change) close(text, failure !== undefined);
  };
  return <PutBackDialog entry={entry} entries={past.data?.entries ?? []} effects={effects} show={show} />;
}

/** Returns why the call of the last answer cannot be put back; undefined if it can, or while that is not known. */
function whyNotPutBack(
  last: SettledQuestion | undefined,
  { data, failure }: Loaded<PastCalls>,
  entry: PastCall | undefined,
): string | undefined {
  if (last?.question.kind === "directory") return "Access to a directory is revoked on the screen Policy.";
  if (failure !== undefined) return `The history could not be loaded: ${failure}.`;
  if (data === undefined) return undefined;
  if (entry === undefined) return "The history of this workspace has no change of that call.";
  const reversal = reversalsOf(data.entries).get(entry.callId);
  return reversal === undefined || reversal.isPart ? undefined : "It was put back before.";
}
