/** A dialog above the page. Escape closes it. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Draws a dialog. */
export function Dialog({ title, children, onClose }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-head" onClose={onClose}>
      <h2 id="dialog-head" class="dialog-head">
        {title}
      </h2>
      {children}
    </dialog>
  );
}

interface ConfirmButtonsProps {
  readonly children: ComponentChildren;
  onCancel(): void;
  /** Called once: afterwards the button is disabled. */
  onConfirm(): void;
}

/** Draws the two buttons of a dialog that asks before something is done. The text of the second is `children`. */
export function ConfirmButtons({ children, onCancel, onConfirm }: ConfirmButtonsProps): JSX.Element {
  const [isSending, setSending] = useState(false);
  return (
    <div class="answers">
      <button type="button" onClick={onCancel}>
        Cancel <kbd>Esc</kbd>
      </button>
      <span class="spacer" />
      <button
        type="button"
        class="allow"
        disabled={isSending}
        onClick={() => {
          setSending(true);
          onConfirm();
        }}
      >
        {children}
      </button>
    </div>
  );
}
