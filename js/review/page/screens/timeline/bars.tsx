/** Draws the bars that tell a person whether a change was put back. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import type { PageEffects } from "../props.ts";
import { putBack } from "./put-back.ts";
import {
  actionOf,
  clockTime,
  type PutBack,
  type PutBackFailure,
  subjectOf,
  type TimelineView,
} from "./view.ts";

interface DoneBarProps {
  readonly done: PutBack;
  /** Why it cannot be undone now. */
  readonly why: string | undefined;
  readonly effects: PageEffects;
  show(change: Partial<TimelineView>): void;
}

/** Draws what was put back, and offers to put that back at once. */
export function DoneBar({ done, why, effects, show }: DoneBarProps): JSX.Element {
  const [isSending, setSending] = useState(false);
  const putThisBack = async ({ detail }: MouseEvent): Promise<void> => {
    // The second click of a double click would put back what the first one has just done.
    if (detail > 1) return;
    setSending(true);
    await putBack(effects, done.callId, show);
    setSending(false);
  };
  return (
    <div class="bar done tl-bar" role="status">
      <SafeText as="span" text={done.text} />
      <button
        type="button"
        disabled={why !== undefined || isSending}
        title={why}
        onClick={(event) => void putThisBack(event)}
      >
        Put this back
      </button>
    </div>
  );
}

/** The number of later calls that are named. */
const MAX_NAMED = 5;

/** Draws why something was not put back, and which later calls stand in the way. */
export function FailureBar({
  failure: { text, later },
  onChoose,
}: {
  readonly failure: PutBackFailure;
  onChoose(key: string): void;
}): JSX.Element {
  return (
    <div class="bar failure tl-bar" role="alert">
      <p>
        <SafeText text={text} />
      </p>
      {later.length > 0 && (
        <>
          <p>Changed since by:</p>
          <ul>
            {later.slice(0, MAX_NAMED).map((entry) => (
              <li key={entry.callId}>
                <button type="button" class="tl-link" onClick={() => onChoose(entry.callId)}>
                  <SafeText text={`${clockTime(entry.time)} ${actionOf(entry)} ${subjectOf(entry)}`} />
                </button>
              </li>
            ))}
          </ul>
          {later.length > MAX_NAMED && <p>and {later.length - MAX_NAMED} more</p>}
        </>
      )}
    </div>
  );
}
