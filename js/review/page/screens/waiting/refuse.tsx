/** The dialog in which a refusal gets its reason. */
import type { JSX } from "preact";
import { SafeText } from "../../diff/text.tsx";
import { whyNotRefused } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import { useModal } from "../dialog.tsx";
import type { ScreenProps } from "../props.ts";
import { ReasonField } from "./reason-field.tsx";

/** Draws the dialog. */
export function RefuseDialog({ state, effects }: ScreenProps): JSX.Element {
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  const dialog = useModal(close);
  const why = whyNotRefused(state);
  const title = chosenQuestion(state)?.title;
  return (
    <dialog ref={dialog} aria-labelledby="refuse-head">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (why === undefined) effects.answer("refuse");
        }}
      >
        <h2 id="refuse-head" class="dialog-head">
          Refuse
        </h2>
        {title !== undefined && (
          <p class="quiet">
            <SafeText text={title} />
          </p>
        )}
        <ReasonField
          id="refuse-reason"
          reason={state.reason}
          onReason={(reason) => effects.dispatch({ type: "reason", reason })}
        />
        {why !== undefined && <p class="hint">{why}</p>}
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel <kbd>Esc</kbd>
          </button>
          <span class="spacer" />
          <button type="submit" class="refuse strong" disabled={why !== undefined}>
            Refuse <kbd>Enter</kbd>
          </button>
        </div>
      </form>
    </dialog>
  );
}
