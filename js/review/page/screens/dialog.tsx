/** A dialog above the page. Escape closes it. */
import type { ComponentChildren, JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

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
