/** A dialog that says what a button will do, and does it once a person agrees. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { ConfirmButtons, Dialog } from "../dialog.tsx";

/** The properties of the dialog. */
export interface ConfirmProps {
  readonly title: string;
  /** The word on the button that does it. */
  readonly action: string;
  readonly children: ComponentChildren;
  /** Does it. @throws Error to be shown */
  run(): Promise<unknown>;
  /** Called when the dialog ends. `isDone` is true when it was done. */
  onEnd(isDone: boolean): void;
}

/** Draws the dialog. Escape and *Cancel* change nothing. */
export function ConfirmDialog({ title, action, children, run, onEnd }: ConfirmProps): JSX.Element {
  const [failure, setFailure] = useState<string>();
  const cancel = (): void => onEnd(false);
  const confirm = async (): Promise<void> => {
    try {
      await run();
      onEnd(true);
    } catch (error) {
      setFailure(messageOf(error));
    }
  };
  return (
    <Dialog title={title} onClose={cancel}>
      {children}
      {failure !== undefined && (
        <p class="bar failure" role="alert">
          {failure}
        </p>
      )}
      <ConfirmButtons onCancel={cancel} onConfirm={confirm}>
        {action}
      </ConfirmButtons>
    </Dialog>
  );
}
