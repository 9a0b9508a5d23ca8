/** A dialog above the page. Escape closes it. */
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
}

/** Opens a dialog above the page, and calls `onClose` when a person closes it. Returns the reference for its element. */
export function useModal(onClose: () => void): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
  const closed = useRef(onClose);
  closed.current = onClose;
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null) return undefined;
    element.showModal();
    // The event `close` comes in a later task, and a key that is pressed before it would find the dialog still drawn.
    // The observer of a mutation runs before the next task.
    const closing = new MutationObserver(() => {
      if (!element.open) closed.current();
    });
    closing.observe(element, { attributeFilter: ["open"] });
    return () => {
      closing.disconnect();
      // A dialog that is removed while it is open would not give the focus back.
      element.close();
    };
  }, []);
  return dialog;
}

/**
 * Returns a function that returns true while the component is drawn. An answer that comes after its dialog was closed
 * must not close another one, into which a person may be typing.
 */
export function useIsDrawn(): () => boolean {
  const isDrawn = useRef(true);
  useLayoutEffect(
    () => () => {
      isDrawn.current = false;
    },
    [],
  );
  return () => isDrawn.current;
}

/** Draws a dialog. */
export function Dialog({ title, children, onClose }: DialogProps): JSX.Element {
  const dialog = useModal(onClose);
  return (
    <dialog ref={dialog} aria-labelledby="dialog-head">
      <h2 id="dialog-head" class="dialog-head">
        {title}
      </h2>
      {children}
    </dialog>
  );
}

interface AnswerButtonsProps {
  readonly children: ComponentChildren;
  /** The reason why nothing can be confirmed now, which is shown. */
  readonly why?: string | undefined;
  readonly isDisabled: boolean;
  onCancel(): void;
  onConfirm(): void;
}

/** Draws the content of a row of buttons: one to cancel and, at the other end, one to confirm with the text `children`. */
export function AnswerButtons({
  children,
  why,
  isDisabled,
  onCancel,
  onConfirm,
}: AnswerButtonsProps): JSX.Element {
  return (
    <>
      <button type="button" onClick={onCancel}>
        Cancel <kbd>Esc</kbd>
      </button>
      <span class="spacer" />
      {why !== undefined && <span class="hint">{why}</span>}
      <button type="button" class="allow" disabled={isDisabled} onClick={onConfirm}>
        {children}
      </button>
    </>
  );
}

interface ConfirmButtonsProps {
  readonly children: ComponentChildren;
  onCancel(): void;
  /** Called at a click. The button is disabled from then on; if a promise is returned, until that has resolved. */
  onConfirm(): void | Promise<void>;
}

/** Draws the two buttons of a dialog that asks before something is done. The text of the second is `children`. */
export function ConfirmButtons({ children, onCancel, onConfirm }: ConfirmButtonsProps): JSX.Element {
  const [isSending, setSending] = useState(false);
  return (
    <div class="answers">
      <AnswerButtons
        isDisabled={isSending}
        onCancel={onCancel}
        onConfirm={() => {
          setSending(true);
          void onConfirm()?.then(() => setSending(false));
        }}
      >
        {children}
      </AnswerButtons>
    </div>
  );
}
