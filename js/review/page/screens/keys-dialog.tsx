/** The dialog that lists the keys. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { KEY_HELP } from "../keys/keys.ts";
import type { Notifier } from "../notifications/notify.ts";
import { useModal } from "./dialog.tsx";
import type { PageEffects } from "./props.ts";

/** Draws the dialog. */
export function Keys({ effects }: { readonly effects: PageEffects }): JSX.Element {
  const closing = useRef<HTMLButtonElement>(null);
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  const dialog = useModal(close);
  useLayoutEffect(() => {
    closing.current?.focus({ preventScroll: true });
    // The browser has scrolled to the first button, which is below the keys.
    if (dialog.current !== null) dialog.current.scrollTop = 0;
  }, []);
  return (
    <dialog ref={dialog} aria-labelledby="keys-head">
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
      {effects.notifier !== undefined && <Notifications notifier={effects.notifier} />}
      <div class="answers">
        <span class="spacer" />
        <button ref={closing} type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
    </dialog>
  );
}

const NOTIFY_WORDS = {
  off: "When this page is hidden, the browser can say that a question waits, without what it is about.",
  on: "When this page is hidden, the browser says that a question waits. Its settings for this page end that.",
  refused: "The browser shows no notifications of this page. Its settings for this page can allow them.",
} as const;

/** Draws whether the browser says that a question waits, and a button that asks for it. */
function Notifications({ notifier }: { readonly notifier: Notifier }): JSX.Element {
  const [state, setState] = useState(notifier.state);
  return (
    <div class="proposed">
      <p class="quiet" role="status">
        {NOTIFY_WORDS[state]}
      </p>
      {state === "off" && (
        <button type="button" onClick={() => void notifier.ask().then(setState)}>
          Notify me
        </button>
      )}
    </div>
  );
}
