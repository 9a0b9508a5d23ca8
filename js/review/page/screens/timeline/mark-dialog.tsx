/** The dialog that names the present place in the history. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { HistoryMark } from "../../../../tools/lib/history-entry.ts";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Dialog, useIsDrawn } from "../dialog.tsx";
import type { PageEffects } from "../props.ts";
import type { TimelineView } from "./view.ts";

interface MarkDialogProps {
  readonly effects: PageEffects;
  show(change: Partial<TimelineView>): void;
}

/** Draws the dialog. */
export function MarkDialog({ effects, show }: MarkDialogProps): JSX.Element {
  const [name, setName] = useState("");
  const [failure, setFailure] = useState<string>();
  const [isSending, setSending] = useState(false);
  const isDrawn = useIsDrawn();
  const close = (): void => show({ dialog: undefined });
  const send = async (): Promise<void> => {
    setSending(true);
    try {
      const mark = await effects.send<HistoryMark>("marks", { name: name.trim() });
      if (isDrawn())
        show({ dialog: undefined, chosen: `mark:${mark.name}`, failure: undefined, done: undefined });
    } catch (error) {
      setFailure(messageOf(error));
      setSending(false);
    }
  };
  return (
    <Dialog title="Set a mark" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <p>A rewind to it reverses all later changes, as long as the history still has them.</p>
        <label for="mark-name">Name</label>
        <input
          id="mark-name"
          type="text"
          value={name}
          maxLength={64}
          autocomplete="off"
          aria-invalid={failure !== undefined}
          aria-describedby={failure === undefined ? undefined : "mark-failure"}
          onInput={({ currentTarget: { value } }) => setName(value)}
        />
        {failure !== undefined && (
          <p id="mark-failure" class="tl-failure" role="alert">
            {failure}
          </p>
        )}
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel <kbd>Esc</kbd>
          </button>
          <span class="spacer" />
          <button type="submit" class="allow" disabled={isSending || name.trim() === ""}>
            Set the mark
          </button>
        </div>
      </form>
    </Dialog>
  );
}
