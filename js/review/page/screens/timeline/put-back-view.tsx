/** The preview of a put back of some hunks of a call: what would change, before it is made exactly so. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { PastCall, UndoAnswer } from "../../../past/history-protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { FailureBar } from "./bars.tsx";
import { useRows } from "./data.ts";
import { PastDiff } from "./past-diff.tsx";
import { failureOf, previewPutBack, putBackHunks } from "./put-back.ts";
import { useTimelineKeys } from "./timeline-keys.ts";
import {
  actionOf,
  type ChosenPutBack,
  NOTHING_OPEN,
  type PutBackFailure,
  subjectOf,
  type TimelineView,
} from "./view.ts";
import { AnswerButtons } from "../dialog.tsx";

interface PutBackViewProps extends ScreenProps {
  readonly entry: PastCall;
  readonly chosen: ChosenPutBack;
  show(change: Partial<TimelineView>): void;
}

/** Draws the preview. */
export function PutBackView({ entry, chosen, state, effects, show }: PutBackViewProps): JSX.Element {
  const [preview, setPreview] = useState<UndoAnswer>();
  const [failure, setFailure] = useState<PutBackFailure>();
  const [isSending, setSending] = useState(false);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    previewPutBack(effects, chosen).then(
      (made) => isCurrent && setPreview(made),
      (error: unknown) => isCurrent && setFailure(failureOf(error, "Cannot be put back", true)),
    );
    return () => {
      isCurrent = false;
    };
  }, [tries]);
  const digest = preview?.digest;
  const rows = useRows(effects, digest && `previews/rows?digest=${digest}`);
  const close = (): void => show({ putBack: undefined, hunk: 0 });
  useTimelineKeys(effects, { Escape: close });
  const lookAgain = (): void => {
    setPreview(undefined);
    setFailure(undefined);
    setTries((before) => before + 1);
  };
  const confirm = async (): Promise<void> => {
    setSending(true);
    try {
      show({ ...NOTHING_OPEN, ...(await putBackHunks(effects, chosen, digest)) });
    } catch (error) {
      setSending(false);
      setFailure(failureOf(error, "Not put back"));
    }
  };
  const why = whyNotPermitted(state, "manage");
  return (
    <article class="question" aria-labelledby="tl-put-back">
      <header class="question-head">
        <h2 id="tl-put-back">
          Put back {chosen.label} of <SafeText text={`${actionOf(entry)} ${subjectOf(entry)}`} />
        </h2>
        <p class="facts">What the file becomes. Other lines stay as they are.</p>
      </header>
      {failure !== undefined && (
        <>
          <FailureBar failure={failure} onChoose={(key) => show({ ...NOTHING_OPEN, chosen: key })} />
          <div class="bar warning tl-bar">
            <span>{failure.isDoubtful !== true && "Nothing was changed."}</span>
            <button type="button" onClick={lookAgain}>
              Look again
            </button>
          </div>
        </>
      )}
      {digest !== undefined && (
        <PastDiff rows={rows} hunk={state.timeline.hunk} effects={effects} show={show} />
      )}
      {digest === undefined && failure === undefined && <p class="empty">Looking what would change…</p>}
      <footer class="answers">
        <AnswerButtons
          why={why}
          isDisabled={
            why !== undefined || isSending || failure !== undefined || (preview?.paths.length ?? 0) === 0
          }
          onCancel={close}
          onConfirm={() => void confirm()}
        >
          Put back {chosen.label}
        </AnswerButtons>
      </footer>
    </article>
  );
}
