/** A dialog that says what a button will do, and does it once a person agrees. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { useModal } from "../dialog.tsx";

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
  const dialog = useModal(() => onEnd(false));
  const [isRunning, setRunning] = useState(false);
  const [failure, setFailure] = useState<string>();
  const submit = async (): Promise<void> => {
    setRunning(true);
    try {
      await run();
      onEnd(true);
    } catch (error) {
      setFailure(error instanceof Error ? error.message : String(error));
      setRunning(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-head">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) void submit();
        }}
      >
        <h2 id="confirm-head" class="dialog-head">
          {title}
        </h2>
        {children}
        {failure !== undefined && <p class="bar failure">{failure}</p>}
        <div class="answers">
          <button type="button" onClick={() => onEnd(false)}>
            Cancel <kbd>Esc</kbd>
          </button>
          <span class="spacer" />
          <button type="submit" class="allow strong" disabled={isRunning}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
