/** The dialog that names every question of a plan before they are answered together. */
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { whyNoAnswer } from "../../state/answers.ts";
import { FileHead } from "../../diff/file-head.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { ChangeQuestion } from "../../state/question-paths.ts";
import { useAnswerGuard } from "../answer-guard.ts";
import { useModal } from "../dialog.tsx";
import type { ScreenProps } from "../props.ts";
import { ReasonField } from "../waiting/reason-field.tsx";
import { answerEach, type EachResult, noticeOfResults } from "./answer-each.ts";
import { type GroupPlan, type LeftOutQuestion, makerOf, whyGone } from "./group.ts";

/** Draws the dialog for the plan of the state. */
export function GroupDialog({ state, effects }: ScreenProps): JSX.Element | null {
  const { plan } = state;
  return plan === undefined ? null : <PlanDialog state={state} effects={effects} plan={plan} />;
}

function PlanDialog({ state, effects, plan }: ScreenProps & { readonly plan: GroupPlan }): JSX.Element {
  const cancel = useRef<HTMLButtonElement>(null);
  const [openedAt] = useState(() => performance.now());
  const isGuarded = useAnswerGuard(openedAt);
  const [reason, setReason] = useState("");
  const [results, setResults] = useState<ReadonlyMap<string, EachResult>>(new Map());
  /** The present state, for an answer that is sent after the dialog was drawn. */
  const latest = useRef({ state, isOpen: true, results });
  latest.current.state = state;
  const { outcome, group } = plan;
  /** The questions that were answered and those that were not, once the answers are sent. */
  const [sent, setSent] = useState<Divided>();
  const { left, leftOut } = sent ?? divide(plan, state);
  const why =
    whyNoAnswer(state) ?? (left.length === 0 ? "None of them can be answered any more." : undefined);

  /** Ends the dialog and shows the results of the answers that were sent. The others are not sent. */
  const finish = (): void => {
    const known = latest.current.results;
    const ids = new Set([...known].flatMap(([id, result]) => (result === "taken" ? [id] : [])));
    const notice = noticeOfResults(plan, known);
    effects.dispatch({ type: "group-sent", ids, notice, now: performance.now() });
  };
  const close = (): void => {
    latest.current.isOpen = false;
    if ([...latest.current.results.values()].includes("sending"))
      effects.dispatch({ type: "dialog", dialog: undefined });
    else finish();
  };
  const dialog = useModal(close);
  useLayoutEffect(() => {
    if (outcome === "allow") cancel.current?.focus();
    return () => {
      latest.current.isOpen = false;
    };
  }, []);
  const submit = async (): Promise<void> => {
    // A key or a click that was meant for what was there before answers nothing.
    if (why !== undefined || sent !== undefined || isGuarded) return;
    setSent({ left, leftOut });
    await answerEach(
      effects,
      { outcome, questions: left },
      {
        reason: reason.trim(),
        whyNot: ({ id }) => {
          const { state: now, isOpen } = latest.current;
          if (!isOpen) return "not sent, because the dialog was closed";
          return whyNoAnswer({ ...now, sending: undefined }) ?? whyGone(now.review, id, outcome);
        },
        tell(id, result) {
          latest.current.results = new Map(latest.current.results).set(id, result);
          setResults(latest.current.results);
          if (result === "sending") effects.dispatch({ type: "sending", id });
        },
      },
    );
    const isDone = [...latest.current.results.values()].every((result) => result === "taken");
    if (isDone || !latest.current.isOpen) finish();
  };
  const isSending = [...results.values()].includes("sending");
  const verb = outcome === "allow" ? "Allow" : "Refuse";
  return (
    <dialog ref={dialog} class="group-dialog" aria-labelledby="group-head">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h2 id="group-head" class="dialog-head">
          {verb} {left.length === 1 ? "this change" : `these ${left.length} changes`}
        </h2>
        <p class="quiet">
          In <SafeText text={group.dir} />, <SafeText text={makerOf(group)} />.
          {outcome === "allow" && " Each is allowed once, and only as it was asked."}
        </p>
        {left.length > 0 && (
          <ul class="group-list">
            {left.map((question) => (
              <Item
                key={question.id}
                question={question}
                note={noteOf(results.get(question.id), outcome) ?? openedNote(state, question, outcome)}
              />
            ))}
          </ul>
        )}
        <div aria-live="polite">
          {leftOut.length > 0 && (
            <>
              <h3 class="group-left-head">Left out</h3>
              <ul class="group-list">
                {leftOut.map(({ question, why: reasonLeftOut }) => (
                  <Item key={question.id} question={question} note={reasonLeftOut} />
                ))}
              </ul>
            </>
          )}
        </div>
        {outcome === "refuse" && sent === undefined && (
          <ReasonField id="group-reason" reason={reason} onReason={setReason} />
        )}
        <div class="answers">
          <button ref={cancel} type="button" onClick={close}>
            {sent !== undefined && !isSending ? "Close" : "Cancel"} <kbd>Esc</kbd>
          </button>
          <span class="spacer" />
          {why !== undefined && sent === undefined && <span class="hint">{why}</span>}
          {(sent === undefined || isSending) && (
            <button
              type="submit"
              class={outcome === "allow" ? "allow" : "refuse strong"}
              aria-disabled={isGuarded || undefined}
              disabled={why !== undefined || sent !== undefined}
            >
              {verb} {left.length === 1 ? "this one" : `these ${left.length}`}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}

/** The questions of a plan that are answered, and those that are left out. */
interface Divided {
  readonly left: readonly ChangeQuestion[];
  readonly leftOut: readonly LeftOutQuestion[];
}

/** Divides the questions of a plan by what is known now. */
function divide({ questions, leftOut, outcome }: GroupPlan, { review }: ScreenProps["state"]): Divided {
  const gone = questions.flatMap((question) => {
    const why = whyGone(review, question.id, outcome);
    return why === undefined ? [] : [{ question, why }];
  });
  return {
    left: questions.filter((question) => gone.every((one) => one.question !== question)),
    leftOut: [...leftOut, ...gone],
  };
}

/** Draws a question with all of its paths. */
function Item({
  question: { changes, title },
  note,
}: {
  readonly question: ChangeQuestion;
  readonly note: string | undefined;
}): JSX.Element {
  return (
    <li>
      {changes.length > 1 && <SafeText as="span" text={title} />}
      {changes.map((change, index) => (
        <span key={index} class="group-file">
          <FileHead change={change} />
          {change.type === "file" && change.hasText === false && change.kind !== "delete" && (
            <span class="tag">not text</span>
          )}
        </span>
      ))}
      <SafeText class="group-note" text={note} />
    </li>
  );
}

function noteOf(result: EachResult | undefined, outcome: GroupPlan["outcome"]): string | undefined {
  if (typeof result === "object") return `Not answered: ${result.failure}`;
  if (result === "sending") return "being sent…";
  if (result === undefined) return undefined;
  return outcome === "allow" ? "allowed" : "refused";
}

/** Says of a change that is about to be allowed that its lines were not on this page yet. */
function openedNote(
  { rows }: ScreenProps["state"],
  { id }: ChangeQuestion,
  outcome: GroupPlan["outcome"],
): string | undefined {
  return outcome === "allow" && rows.get(id)?.isComplete !== true ? "not opened yet" : undefined;
}
