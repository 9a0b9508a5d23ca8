/** The dialog in which a refusal gets its reason. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { visibleText } from "../../diff/escapes.ts";
import { SafeText } from "../../diff/text.tsx";
import { chosenEnd, whyEnded, whyNotRefused } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import { useAnswerGuard } from "../answer-guard.ts";
import { useModal } from "../dialog.tsx";
import type { ScreenProps } from "../props.ts";
import { ReasonField } from "./reason-field.tsx";

/** Draws the dialog. */
export function RefuseDialog({ state, effects }: ScreenProps): JSX.Element {
  const chosen = chosenQuestion(state) ?? chosenEnd(state)?.question;
  // The question stays the one for which the dialog was opened, or that which replaces it.
  const [asked] = useState(chosen);
  const question = asked !== undefined && chosen?.replaces === asked.id ? chosen : asked;
  const ended = whyEnded(state, question?.id);
  const close = (): void => {
    // It was for that question, and is not offered for another one.
    if (ended !== undefined) effects.dispatch({ type: "reason", reason: "" });
    effects.dispatch({ type: "dialog", dialog: undefined });
  };
  const dialog = useModal(close);
  const why = whyNotRefused(state) ?? ended;
  const isGuarded = useAnswerGuard(state.chosenAt);
  const title = question?.title;
  return (
    <dialog ref={dialog} aria-labelledby="refuse-head">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (why === undefined && !isGuarded) effects.answer("refuse");
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
        {ended !== undefined && (
          <p class="hint" role="alert">
            {visibleText(ended)}
            {state.reason !== "" && " Your reason is still here to copy."}
          </p>
        )}
        {ended === undefined && why !== undefined && <p class="hint">{why}</p>}
        <div class="answers">
          <button type="button" onClick={close}>
            Cancel <kbd>Esc</kbd>
          </button>
          <span class="spacer" />
          <button
            type="submit"
            class="refuse strong"
            aria-disabled={isGuarded || undefined}
            disabled={why !== undefined}
          >
            Refuse <kbd>Enter</kbd>
          </button>
        </div>
      </form>
    </dialog>
  );
}
