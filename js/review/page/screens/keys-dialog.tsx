/** The dialog that lists the keys. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { KEY_HELP } from "../keys.ts";
import type { PageEffects } from "./props.ts";

/** Draws the dialog. */
export function Keys({ effects }: { readonly effects: PageEffects }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  return (
    <dialog ref={dialog} aria-labelledby="keys-head" onClose={close}>
      <h2 id="keys-head" class="dialog-head">
        Keys
      </h2>
      <dl class="keys">
        {KEY_HELP.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
      <div class="answers">
        <span class="spacer" />
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </dialog>
  );
}
