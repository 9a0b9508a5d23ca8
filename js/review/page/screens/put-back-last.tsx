/** The dialog that puts back what this person allowed last. */
import type { JSX } from "preact";
import type { PastCall, PastCalls } from "../../history-protocol.ts";
import type { SettledQuestion } from "../../protocol.ts";
import { lastAnswer } from "../last-answer.ts";
import { Dialog } from "./dialog.tsx";
import { type Loaded, useLoaded } from "./loaded.ts";
import type { ScreenProps } from "./props.ts";
import { PutBackDialog } from "./timeline/put-back-dialog.tsx";
import { type TimelineView, undoneCalls, whyNotManaged } from "./timeline/view.ts";

/** Draws the dialog. The paths are those that the history has: of a change that was allowed in part, these only. */
export function PutBackLast({ state, effects }: ScreenProps): JSX.Element {
  const last = lastAnswer(state);
  const past = useLoaded<PastCalls>(effects, "history", state.review.history);
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  const entry = past.data?.entries.find(({ callId }) => callId === last?.question.callId);
  const why = whyNotManaged(state) ?? whyNotPutBack(last, past, entry);
  if (why === undefined && entry !== undefined) {
    const show = ({ done, failure }: Partial<TimelineView>): void => {
      close();
      if (done !== undefined) effects.dispatch({ type: "done", text: done.text });
      if (failure !== undefined) effects.dispatch({ type: "failed", text: failure.text });
    };
    return <PutBackDialog entry={entry} effects={effects} show={show} />;
  }
  return (
    <Dialog title="Put back what you allowed last" onClose={close}>
      <p>{why ?? "Loading the history…"}</p>
      <div class="answers">
        <span class="spacer" />
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </Dialog>
  );
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
  if (entry === undefined)
    return "The history of this workspace has no change of that call: it runs, has failed, or changed nothing.";
  if (entry.unrecorded === true)
    return "What this call changed was not recorded, so it cannot be put back here.";
  return undoneCalls(data.entries).has(entry.callId) ? "It was put back before." : undefined;
}
