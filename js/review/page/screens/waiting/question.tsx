/** The chosen question: what it is about, its diff, and the answers. */
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { type ChoiceCounts, canChooseParts, choiceCounts, chosenQuestion } from "../../state/choice.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { compareWithSeen, type Comparison, type HunkNews } from "../../state/seen.ts";
import { Images } from "../../diff/images.tsx";
import { Fact } from "../fact.tsx";
import { SafeText } from "../../diff/text.tsx";
import { jointAnswersOf } from "../../../questions/joint.ts";
import type { ReviewQuestion, SettledQuestion } from "../../../protocol.ts";
import {
  chosenEnd,
  canLookAgain,
  editedChange,
  whyNotEdited,
  whyNotAllowed,
  whyNotRefused,
} from "../../state/answers.ts";
import { useAnswerGuard } from "../answer-guard.ts";
import { useKeptFocus } from "../kept-focus.ts";
import type { ScreenProps } from "../props.ts";
import { Proposed } from "../wider/proposed.tsx";
import { offersWider, whyNotWider } from "../wider/why-not.ts";
import { SecretsBar } from "../secrets-bar.tsx";
import { plural } from "../../../../engine/escape.ts";

/** Draws the chosen question. */
export function QuestionView({ state, effects }: ScreenProps): JSX.Element {
  const end = chosenEnd(state);
  const question = chosenQuestion(state) ?? end?.question;
  const pages = state.rows.get(question?.id ?? "")?.pages;
  const seen = state.seen.get(question?.id ?? "");
  const comparison = useMemo(
    () => (pages === undefined || seen === undefined ? undefined : compareWithSeen(pages, seen)),
    [pages, seen],
  );
  const article = useKeptFocus<HTMLElement>(question?.id);
  if (question === undefined) return <Empty state={state} />;
  return (
    <article ref={article} class="question" part="question" aria-labelledby="question-head" tabIndex={-1}>
      <Head question={question} />
      {end !== undefined && <Ended end={end} />}
      {end === undefined && <Joint state={state} question={question} />}
      {end === undefined && question.conflict !== undefined && (
        <p class="bar warning">
          A file has changed since this was asked, and this change can no longer be made as it is (
          <SafeText text={question.conflict} />
          ). Refuse it: the agent is told to read the file again, and can ask anew.
        </p>
      )}
      {end === undefined && question.stale === true && question.conflict === undefined && (
        <div class="bar warning with-action">
          <p class="bar-text">
            A file has changed since this was asked, so it cannot be allowed. Look again: the change is
            planned on the present content and asked about anew.
          </p>
          {state.role !== "watch" && (
            <button
              type="button"
              aria-keyshortcuts="l"
              disabled={!canLookAgain(state)}
              onClick={() => effects.answer("look_again")}
            >
              Look again <kbd>l</kbd>
            </button>
          )}
        </div>
      )}
      {comparison !== undefined && end === undefined && <Replacing comparison={comparison} />}
      {question.kind === "change" && question.incomplete !== undefined && (
        <p class="bar warning">
          This does not show all of the change ({question.incomplete}), so it can only be refused.
        </p>
      )}
      <SecretsBar
        pages={pages}
        isShown={state.rows.get(question.id)?.isShown === true}
        onToggle={() => effects.dispatch({ type: "secrets" })}
      />
      <Body state={state} effects={effects} question={question} news={comparison?.news} />
      {end === undefined && <Proposed state={state} effects={effects} question={question} />}
      {end === undefined && state.drafts.has(question.id) && (
        <p class="bar ended" role="status">
          Your edited text is kept and opens with “Edit…”. “Allow once” writes what the agent proposed.
        </p>
      )}
      <Answers state={state} effects={effects} question={question} />
    </article>
  );
}

function Empty({ state: { connection, review } }: Pick<ScreenProps, "state">): JSX.Element {
  if (connection === "connecting") return <p class="empty">Connecting…</p>;
  const last = review.settled.at(-1);
  return (
    <div class="empty">
      <p>Nothing waits for an answer.</p>
      <p class="quiet">
        A change that an agent wants to make appears here, with its diff, before it is made.
      </p>
      {last !== undefined && (
        <p class="quiet">
          Last: {OUTCOME_WORDS[last.outcome]} <SafeText text={last.question.title} />
        </p>
      )}
    </div>
  );
}

function Head({ question }: { readonly question: ReviewQuestion }): JSX.Element {
  const { title, tool, agent, askedAt } = question;
  return (
    <header class="question-head">
      <h2 id="question-head">
        <SafeText text={title} />
      </h2>
      <p class="facts">
        <Fact label="Agent" text={agent} />
        <Fact label="Tool" text={tool} />
        {question.kind === "change" && (
          <>
            <Fact label="Risk">
              <span class={`risk ${question.risk}`}>{question.risk}</span>
            </Fact>
            <Fact label="Digest">
              <code title={question.digest}>{question.digest.replace(/^sha256:/u, "").slice(0, 12)}</code>
            </Fact>
          </>
        )}
        <Fact label="Asked">
          <Ago at={askedAt} />
        </Fact>
      </p>
    </header>
  );
}

/** The interval in milliseconds at which ages are drawn again. */
const AGE_INTERVAL_MS = 1000;

function Ago({ at }: { readonly at: number }): JSX.Element {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), AGE_INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  const text =
    seconds < 3600
      ? `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} ago`
      : `${Math.floor(seconds / 3600)} h ago`;
  return <time dateTime={new Date(at).toISOString()}>{text}</time>;
}

const OUTCOME_WORDS = {
  allow: "allowed",
  allow_parts: "allowed a part of",
  refuse: "refused",
  look_again: "looked again at",
  withdrawn: "withdrawn",
} as const;

/** Says that several people are asked, and who of them has allowed. */
function Joint({
  state,
  question,
}: Pick<ScreenProps, "state"> & { readonly question: ReviewQuestion }): JSX.Element | null {
  const joint = jointAnswersOf(state.review, question);
  if (joint === undefined) return null;
  const { needed, allowedBy } = joint;
  return (
    <p class="bar ended">
      {allowedBy.length} of {needed} have allowed this
      {allowedBy.length > 0 && (
        <>
          : <SafeText text={allowedBy.join(", ")} />
        </>
      )}
      . The same person counts once.
    </p>
  );
}

function Ended({ end: { outcome, by, at } }: { readonly end: SettledQuestion }): JSX.Element {
  return (
    <p class="bar ended">
      {outcome === "withdrawn" ? (
        "Withdrawn: the agent does not wait for this any more"
      ) : (
        <>
          <SafeText text={by ?? "Somebody"} /> {OUTCOME_WORDS[outcome]} it
        </>
      )}
      , <Ago at={at} />.{" "}
      {outcome === "look_again" && "If the call still changes something, the new question appears here."}
    </p>
  );
}

/** Says how a change that was planned again differs from what was seen before. */
function Replacing({ comparison: { news, gone } }: { readonly comparison: Comparison }): JSX.Element {
  const marked = (kind: HunkNews): number => [...news.values()].filter((one) => one === kind).length;
  const words = [
    ...(marked("new") > 0 ? [`${plural(marked("new"), "hunk")} not in what you saw`] : []),
    ...(marked("around") > 0 ? [`${plural(marked("around"), "hunk")} with other lines around`] : []),
    ...(gone > 0 ? [`${plural(gone, "hunk")} of what you saw gone`] : []),
  ];
  return (
    <p class="bar ended">
      Planned again on the present content:{" "}
      {words.length === 0 ? "the same hunks as before" : words.join(", ")}.
    </p>
  );
}

function Body({
  state,
  effects,
  question,
  news,
}: ScreenProps & {
  readonly question: ReviewQuestion;
  readonly news: ReadonlyMap<string, HunkNews> | undefined;
}): JSX.Element {
  if (question.kind === "directory") {
    return (
      <dl class="directory">
        <dt>Directory</dt>
        <dd>
          <SafeText text={question.dir} />
        </dd>
        <dt>Access</dt>
        <dd>{question.access === "read" ? "read" : "read and write"}</dd>
      </dl>
    );
  }
  const rows = state.rows.get(question.id);
  if (rows?.failure !== undefined)
    return <p class="bar failure">The change could not be loaded: {rows.failure}</p>;
  if (rows === undefined || rows.pages.length === 0) {
    const isWaiting = chosenQuestion(state) !== undefined;
    return <p class="empty">{isWaiting ? "Loading the change…" : "Its lines are not kept any more."}</p>;
  }
  const images = chosenQuestion(state) !== undefined && (
    <Images changes={question.changes} file={effects.file} question={question.id} />
  );
  return (
    <>
      {images}
      <DiffView
        key={question.id}
        pages={rows.pages}
        news={news}
        leftOut={state.leftOut.get(question.id)}
        canChoose={canChooseParts(state)}
        hunk={state.hunk}
        line={state.line}
        onToggle={(key, line) =>
          effects.dispatch({ type: "toggle", key, ...(line === undefined ? {} : { line }) })
        }
        onHunk={(hunk) => effects.dispatch({ type: "hunk", hunk })}
        onLines={(hunk) => effects.dispatch({ type: "lines", hunk })}
        onLine={(hunk, line) => effects.dispatch({ type: "line", hunk, line })}
      />
    </>
  );
}

function Answers({
  state,
  effects,
  question,
}: ScreenProps & { readonly question: ReviewQuestion }): JSX.Element {
  const isSettled = chosenQuestion(state) === undefined;
  const why = whyNotAllowed(state);
  const counts = choiceCounts(state);
  const isGuarded = useAnswerGuard(state.chosenAt);
  /** Returns the properties of a button that does something about the question, once that can have been seen. */
  const once = (done: () => void) => ({
    "aria-disabled": isGuarded || undefined,
    onClick: isGuarded ? undefined : done,
  });
  const open = (dialog: "refuse" | "edit" | "wider") =>
    once(() => effects.dispatch({ type: "dialog", dialog }));
  // A change that does not fit the present content can only be refused.
  const isRefusedOnly = question.conflict !== undefined;
  if (isSettled) {
    return (
      <footer class="answers">
        <span class="spacer" />
        {state.review.waiting.length > 0 && (
          <button
            type="button"
            onClick={() => effects.dispatch({ type: "step", by: 1, now: performance.now() })}
          >
            Next question <kbd>j</kbd>
          </button>
        )}
      </footer>
    );
  }
  return (
    <footer class="answers" part="answers">
      <button
        type="button"
        class="refuse"
        part="refuse"
        aria-keyshortcuts="r"
        disabled={whyNotRefused(state) !== undefined}
        {...open("refuse")}
      >
        Refuse… <kbd>r</kbd>
      </button>
      <span class="spacer" />
      <span class="hint" id="answer-hint">
        {why ?? (question.kind === "change" && question.hasParts ? countsInWords(counts) : "")}
      </span>
      {!isRefusedOnly && editedChange(state) !== undefined && (
        <button
          type="button"
          aria-keyshortcuts="e"
          title={whyNotEdited(state)}
          disabled={whyNotEdited(state) !== undefined}
          {...open("edit")}
        >
          Edit… <kbd>e</kbd>
        </button>
      )}
      {!isRefusedOnly && offersWider(question) && (
        <button
          type="button"
          aria-keyshortcuts="w"
          title={whyNotWider(state)}
          disabled={whyNotWider(state) !== undefined}
          {...open("wider")}
        >
          Wider… <kbd>w</kbd>
        </button>
      )}
      {!isRefusedOnly && (
        <button
          type="button"
          class="allow"
          part="allow"
          aria-keyshortcuts="a"
          aria-describedby="answer-hint"
          disabled={why !== undefined}
          {...once(() => effects.answer("allow"))}
        >
          {allowLabel(question, counts)} <kbd>a</kbd>
        </button>
      )}
    </footer>
  );
}

/** Returns in words how much the button allows. */
function allowLabel({ kind }: ReviewQuestion, { chosen, partly, all }: ChoiceCounts): string {
  if (kind === "directory") return "Allow for this session";
  if (chosen === all) return "Allow once";
  return partly > 0 ? "Allow what is chosen" : `Allow ${chosen} of ${all}`;
}

/** Returns how much is chosen, such as `2 of 3 hunks chosen, and lines of 1`. */
function countsInWords({ chosen, partly, all, areHunks }: ChoiceCounts): string {
  const kind = areHunks ? (all === 1 ? "hunk" : "hunks") : "parts";
  return `${chosen} of ${all} ${kind} chosen${partly > 0 ? `, and lines of ${partly}` : ""}`;
}
