/** The dialog that puts back what a call has changed. */
import type { JSX } from "preact";
import type { PastCall } from "../../../past/history-protocol.ts";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import { ConfirmButtons, Dialog } from "../dialog.tsx";
import type { PageEffects } from "../props.ts";
import { putBack } from "./put-back.ts";
import { actionOf, clockTime, count, type TimelineView } from "./view.ts";

/** The number of paths that are named. */
const MAX_NAMED = 50;

interface PutBackDialogProps {
  readonly entry: PastCall;
  readonly effects: PageEffects;
  show(change: Partial<TimelineView>): void;
}

/** Draws the dialog. */
export function PutBackDialog({ entry, effects, show }: PutBackDialogProps): JSX.Element {
  const { tool, time, paths, callId } = entry;
  const action = actionOf(entry);
  const named = action === tool ? visibleText(tool) : `“${action}”`;
  const close = (): void => show({ dialog: undefined });
  return (
    <Dialog title={`Put back ${named} of ${clockTime(time)}?`} onClose={close}>
      <p>These become as they were before this call. That can be put back, too.</p>
      <ul class="tl-named">
        {paths.slice(0, MAX_NAMED).map((path) => (
          <li key={path}>
            <SafeText text={path} />
          </li>
        ))}
        {paths.length > MAX_NAMED && <li class="quiet">and {paths.length - MAX_NAMED} more</li>}
      </ul>
      <ConfirmButtons onCancel={close} onConfirm={() => void putBack(effects, callId, show)}>
        Put back {count(paths.length, "path")}
      </ConfirmButtons>
    </Dialog>
  );
}
