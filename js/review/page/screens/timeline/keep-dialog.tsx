/** The dialog that keeps several calls: it lists them all. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { PastCall } from "../../../past/history-protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { ConfirmButtons, Dialog, useIsDrawn } from "../dialog.tsx";
import type { PageEffects } from "../props.ts";
import { keepCalls } from "./put-back.ts";
import { clockTime, subjectOf, type TimelineView } from "./view.ts";
import { plural } from "../../../../engine/escape.ts";

interface KeepDialogProps {
  readonly calls: readonly PastCall[];
  readonly effects: PageEffects;
  show(change: Partial<TimelineView>): void;
}

/** Draws the dialog. It keeps the calls that it lists: those that were there when it was opened. */
export function KeepDialog({ calls, effects, show }: KeepDialogProps): JSX.Element {
  const [listed] = useState(calls);
  const isDrawn = useIsDrawn();
  const close = (): void => show({ dialog: undefined });
  const showEnd = (change: Partial<TimelineView>): void =>
    show(isDrawn() ? { ...change, dialog: undefined } : change);
  return (
    <Dialog title={`Keep ${plural(listed.length, "call")}?`} onClose={close}>
      <p>They have been made already, and count as reviewed afterwards:</p>
      <ul class="tl-named">
        {listed.map((call) => (
          <li key={call.callId}>
            <SafeText text={`${clockTime(call.time)} ${call.tool} ${subjectOf(call)}`} />
          </li>
        ))}
      </ul>
      <ConfirmButtons onCancel={close} onConfirm={() => void keepCalls(effects, listed, showEnd)}>
        Keep all of these {listed.length}
      </ConfirmButtons>
    </Dialog>
  );
}
