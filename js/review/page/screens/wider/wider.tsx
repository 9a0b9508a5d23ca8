/** The dialog "Wider…": an answer that also allows later calls, in words. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CoveredCount, ReviewQuestion, WiderPlace } from "../../../protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { whyEnded } from "../../state/answers.ts";
import { chosenQuestion } from "../../state/choice.ts";
import { useAnswerGuard } from "../answer-guard.ts";
import { useModal } from "../dialog.tsx";
import type { PageEffects, ScreenProps } from "../props.ts";
import {
  coveredSentence,
  END_WORDS,
  endsOf,
  narrowestDraft,
  PLACE_WORDS,
  sentenceOf,
  type WiderDraft,
  wideningOfDraft,
  whyNotEnd,
} from "../../../questions/wider-draft.ts";
import { whyNotWider } from "./why-not.ts";

/** Draws the dialog. */
export function WiderDialog({ state, effects }: ScreenProps): JSX.Element {
  const cancel = useRef<HTMLButtonElement>(null);
  const close = (): void => effects.dispatch({ type: "dialog", dialog: undefined });
  const dialog = useModal(close);
  // The question stays the one for which the dialog was opened, also when it is settled meanwhile.
  const [question] = useState(() => chosenQuestion(state));
  const [draft, setDraft] = useState<WiderDraft | undefined>(
    () => question && { ...narrowestDraft(question, Date.now()), ...state.proposal },
  );
  useLayoutEffect(() => {
    cancel.current?.focus();
  }, []);
  const isGuarded = useAnswerGuard(state.chosenAt);
  const widening = question && draft && wideningOfDraft(question, draft, Date.now());
  const why =
    whyNotWider(state) ??
    whyEnded(state, question?.id) ??
    (widening === undefined ? "The time is in the past." : undefined);
  return (
    <dialog ref={dialog} class="wider" aria-labelledby="wider-head">
      <h2 id="wider-head" class="dialog-head">
        Allow, and allow later calls too
      </h2>
      {question !== undefined && draft !== undefined && (
        <>
          <Choices
            role={state.role}
            question={question}
            draft={draft}
            onChange={(part) => setDraft({ ...draft, ...part })}
          />
          <p class="wider-sentence" aria-live="polite">
            {widening !== undefined && <SafeText text={sentenceOf(question, widening)} />}
          </p>
          <Covered effects={effects} id={question.id} widening={widening} />
        </>
      )}
      {why !== undefined && <p class="hint">{why}</p>}
      <div class="answers">
        <button ref={cancel} type="button" onClick={close}>
          Cancel <kbd>Esc</kbd>
        </button>
        <span class="spacer" />
        <button
          type="button"
          class="allow"
          aria-disabled={isGuarded || undefined}
          disabled={why !== undefined}
          onClick={() => widening !== undefined && !isGuarded && effects.answer("allow", widening)}
        >
          Allow and remember
        </button>
      </div>
    </dialog>
  );
}

interface ChoicesProps {
  readonly role: ScreenProps["state"]["role"];
  readonly question: ReviewQuestion;
  readonly draft: WiderDraft;
  onChange(part: Partial<WiderDraft>): void;
}

function Choices({ role, question, draft, onChange }: ChoicesProps): JSX.Element {
  return (
    <div class="wider-choices">
      {question.kind === "change" ? (
        <Places question={question} draft={draft} onChange={onChange} />
      ) : (
        <Access question={question} draft={draft} onChange={onChange} />
      )}
      {question.kind === "change" && question.agent !== undefined && (
        <fieldset>
          <legend>By</legend>
          <Radio name="agent" isChosen={draft.isAgentOnly} onChoose={() => onChange({ isAgentOnly: true })}>
            only <SafeText text={question.agent} />
          </Radio>
          <Radio name="agent" isChosen={!draft.isAgentOnly} onChoose={() => onChange({ isAgentOnly: false })}>
            any agent
          </Radio>
        </fieldset>
      )}
      <fieldset>
        <legend>For</legend>
        {endsOf(question).map((end) => {
          const why = whyNotEnd(role, end);
          return (
            <Radio
              key={end}
              name="end"
              isChosen={draft.end === end}
              isDisabled={why !== undefined}
              onChoose={() => onChange({ end })}
            >
              {END_WORDS[end]}
              {end === "time" && (
                <input
                  type="datetime-local"
                  aria-label="The time"
                  value={draft.time}
                  onInput={({ currentTarget }) => onChange({ end, time: currentTarget.value })}
                />
              )}
              {why !== undefined && <span class="quiet"> ({why})</span>}
            </Radio>
          );
        })}
      </fieldset>
    </div>
  );
}

function Places({
  question,
  draft,
  onChange,
}: Omit<ChoicesProps, "role"> & {
  readonly question: ReviewQuestion & { readonly kind: "change" };
}): JSX.Element {
  const { places = [], files = [], dir, command = "" } = question.wider ?? {};
  const detailOf = (place: WiderPlace): string => {
    if (place === "command") return command;
    if (place === "everywhere") return question.tool;
    if (place === "directory") return `${draft.dir ?? dir ?? ""}/**`;
    return files.length === 1 ? (files[0] ?? "") : `${files.length} paths`;
  };
  return (
    <fieldset>
      <legend>On</legend>
      {places.map((place) => (
        <Radio
          key={place}
          name="place"
          isChosen={draft.place === place}
          onChoose={() => onChange({ place })}
          detail={detailOf(place)}
        >
          {place === "files" && files.length > 1 ? "these files" : PLACE_WORDS[place]}
        </Radio>
      ))}
    </fieldset>
  );
}

function Access({ draft, onChange }: Omit<ChoicesProps, "role">): JSX.Element {
  return (
    <fieldset>
      <legend>Access</legend>
      <Radio name="access" isChosen={draft.access === "read"} onChoose={() => onChange({ access: "read" })}>
        read
      </Radio>
      <Radio name="access" isChosen={draft.access === "write"} onChoose={() => onChange({ access: "write" })}>
        read and write
      </Radio>
    </fieldset>
  );
}

function Radio({
  name,
  isChosen,
  isDisabled = false,
  onChoose,
  detail,
  children,
}: {
  readonly name: string;
  readonly isChosen: boolean;
  readonly isDisabled?: boolean;
  onChoose(): void;
  readonly detail?: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <label class="radio">
      <input type="radio" name={name} checked={isChosen} disabled={isDisabled} onChange={onChoose} />
      <span class="radio-text">
        {children}
        <SafeText class="radio-detail quiet" text={detail} />
      </span>
    </label>
  );
}

/** Draws how many of the last calls the choices would have covered. */
function Covered({
  effects,
  id,
  widening,
}: {
  readonly effects: PageEffects;
  readonly id: string;
  readonly widening: ReturnType<typeof wideningOfDraft>;
}): JSX.Element | null {
  const wider = widening !== undefined && "wider" in widening ? widening.wider : undefined;
  const asked = wider === undefined ? undefined : JSON.stringify(wider);
  const [known, setKnown] = useState<{ asked: string; count: CoveredCount | string }>();
  useEffect(() => {
    if (wider === undefined || asked === undefined) return undefined;
    let isCurrent = true;
    const show = (count: CoveredCount | string): void => {
      if (isCurrent) setKnown({ asked, count });
    };
    effects
      .send<CoveredCount>("scopes", { id, wider })
      .then(show, (error: unknown) => show(messageOf(error)));
    return () => {
      isCurrent = false;
    };
  }, [asked]);
  if (wider === undefined) return null;
  // The number of the choices before is not that of these.
  const count = known?.asked === asked ? known?.count : undefined;
  return (
    <p class="quiet" aria-live="polite">
      {count === undefined
        ? "Counting the calls that it would have covered…"
        : typeof count === "string"
          ? `How many calls it would have covered is not known: ${count}.`
          : coveredSentence(count)}
    </p>
  );
}
