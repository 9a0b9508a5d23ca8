/**
 * The questions that wait at the page, with the data that it shows about them: in step with their queue, which other
 * programs answer too.
 */
import type { ApprovalQueue } from "../../hooks/approval-queue.ts";
import type { QueueEvent } from "../../hooks/queue/events.ts";
import type { PendingApproval } from "../../hooks/queue/summary.ts";
import type { ApprovalScope } from "../../hooks/scope/scope.ts";
import type { PlainDetails } from "../../hooks/notebook.ts";
import { escapeControls } from "../../engine/escape.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { ReviewLog } from "../log.ts";
import type {
  ChangeContent,
  ChangeSide,
  ChangeRows,
  ReviewAnswer,
  ReviewOutcome,
  ReviewQuestion,
  WiderChoice,
} from "../protocol.ts";
import { hideSecrets } from "../secrets/secret-text.ts";
import { shownImage, type ShownImage } from "./binary.ts";
import { contentOf, rowsOfChange, type ShownChange, shownChangesOf } from "./changes.ts";
import { jointAnswersOf } from "./joint.ts";
import { replyOfAnswer } from "./reply.ts";
import { scopeOfChoice, widerOfferOf } from "./wider.ts";

/**
 * The effect of an answer. `wrong`: the question does not offer it. `changed`: it is for another digest. `stale`: a
 * file has changed since the question was asked. `repeated`: this person has already allowed it, and another one is
 * needed. `unknown`: there is no such question. `settled`: the question was answered or withdrawn before.
 */
export type AnswerEffect =
  | { readonly effect: "taken" | "wrong" | "changed" | "stale" | "repeated" | "unknown" }
  | { readonly effect: "settled"; readonly outcome: ReviewOutcome | "withdrawn"; readonly by?: string };

/** The name that is shown for an answer without a name. */
const UNNAMED = "somebody";

/** A question that waits, with the data that the page shows about it. */
interface HeldQuestion {
  readonly pending: PendingApproval;
  readonly question: ReviewQuestion;
  readonly changes: readonly ShownChange[];
}

/** The waiting questions of a queue. */
export class HeldQuestions {
  readonly #queue: ApprovalQueue;
  readonly #log: ReviewLog;
  readonly #held = new Map<string, HeldQuestion>();
  /** The refusal that is being given to the queue. */
  #refusal: { readonly id: string; readonly reason: string } | undefined;

  constructor(queue: ApprovalQueue, log: ReviewLog) {
    this.#queue = queue;
    this.#log = log;
    for (const pending of queue.pending()) this.#hold(pending);
    queue.watch((event) => this.#hear(event));
  }

  /** Returns a page of the rows of a change; undefined when no such question waits. */
  rows(id: string, change: number, from: number): ChangeRows | undefined {
    const shown = this.#held.get(id)?.changes[change];
    const details = this.#detailsOf(id);
    return shown && details && rowsOfChange(shown, details.digest, from);
  }

  /** Returns the scope of a wider answer; undefined when no question that waits offers it. */
  scopeOf(id: string, choice: WiderChoice): ApprovalScope | undefined {
    const details = this.#detailsOf(id);
    return details && scopeOfChoice(details, choice);
  }

  /** Returns the text of a change, to be edited. @throws FilewrightError INVALID_ARGUMENT for a text that is too long */
  content(id: string, change: number): ChangeContent | undefined {
    const details = this.#detailsOf(id);
    return details && contentOf(details, change);
  }

  /** Returns a content of a change as an image; undefined when no such question waits, or it is no image to show. */
  image(id: string, number: number, side: ChangeSide): ShownImage | undefined {
    const change = this.#detailsOf(id)?.changes[number];
    return change && shownImage(change, side);
  }

  /** Answers a question in the name of `by`. */
  answer(id: string, answer: ReviewAnswer, by: string): AnswerEffect {
    const one = this.#held.get(id);
    return one === undefined ? this.#effectOfLate(id) : this.#give(one, answer, by);
  }

  /** Returns the details of a waiting question about a change. */
  #detailsOf(id: string): PlainDetails | undefined {
    const pending = this.#held.get(id)?.pending;
    return pending?.kind === "change" ? pending.details : undefined;
  }

  #effectOfLate(id: string): AnswerEffect {
    const settled = this.#log.state().settled.findLast(({ question }) => question.id === id);
    if (settled === undefined) return { effect: "unknown" };
    const { outcome, by } = settled;
    return { effect: "settled", outcome, ...withoutUndefined({ by }) };
  }

  #give({ pending, question }: HeldQuestion, answer: ReviewAnswer, by: string): AnswerEffect {
    const { id } = question;
    if (pending.kind === "change" && answer.digest !== pending.details.digest) return { effect: "changed" };
    const state = this.#log.state();
    const isStale = state.waiting.some((one) => one.id === id && one.stale === true);
    if (answer.outcome === "allow" && jointAnswersOf(state, question)?.allowedBy.includes(by))
      return { effect: "repeated" };
    if (isStale && answer.outcome.startsWith("allow")) return { effect: "stale" };
    const reply = replyOfAnswer(pending, answer, by);
    if (reply === undefined) return { effect: "wrong" };
    // The queue tells its watchers at once, without the reason.
    this.#refusal = answer.outcome === "refuse" ? { id, reason: answer.reason ?? "" } : undefined;
    return { effect: this.#queue.answer(id, reply) ? "taken" : "wrong" };
  }

  #hold(pending: PendingApproval): void {
    const changes = pending.kind === "change" ? shownChangesOf(pending.details) : [];
    const question = questionOf(pending, changes);
    this.#held.set(pending.id, { pending, question, changes });
    this.#log.tell({ type: "asked", question });
    if (pending.kind === "change" && pending.stale === true) this.#tellStale(pending);
  }

  #tellStale({ id, conflict }: { readonly id: string; readonly conflict?: string }): void {
    this.#log.tell({ type: "stale", id, ...withoutUndefined({ conflict }) });
  }

  #hear(event: QueueEvent): void {
    if (event.type === "asked") {
      const pending = this.#queue.pending().find(({ id }) => id === event.question.id);
      if (pending !== undefined) this.#hold(pending);
    } else if (event.type === "stale") {
      if (this.#held.has(event.id)) this.#tellStale(event);
    } else if (this.#held.delete(event.id)) {
      if (event.type === "answered") this.#tellAnswered(event);
      else this.#log.tell({ type: "withdrawn", id: event.id, at: Date.now() });
    }
  }

  #tellAnswered({ id, outcome, by = UNNAMED }: Extract<QueueEvent, { readonly type: "answered" }>): void {
    const isWider = outcome.startsWith("proceed_always") ? true : undefined;
    const refusal = this.#refusal?.id === id ? this.#refusal.reason : "";
    const reason = refusal === "" ? undefined : refusal;
    const more = withoutUndefined({ isWider, reason });
    this.#log.tell({ type: "answered", id, at: Date.now(), outcome: outcomeOf(outcome), by, ...more });
  }
}

/** Returns the outcome of an answer, from this page or from elsewhere, as the page shows it. */
function outcomeOf(outcome: string): ReviewOutcome {
  if (outcome === "cancel" || outcome === "no") return "refuse";
  if (outcome === "look_again") return outcome;
  return outcome === "proceed_parts" || outcome === "modify_with_editor" ? "allow_parts" : "allow";
}

/** Returns a question as the page shows it. */
function questionOf(pending: PendingApproval, changes: readonly ShownChange[]): ReviewQuestion {
  const { id, asked_at } = pending;
  const askedAt = Date.parse(asked_at);
  if (pending.kind === "directory") {
    const { question, tool, dir, access } = pending;
    return { id, askedAt, title: escapeControls(question), tool, kind: "directory", dir, access };
  }
  const { details, replaces } = pending;
  const { title, tool, agent, callId, turn, digest, risk, complete, incomplete, needed } = details;
  const wider = widerOfferOf(details);
  return {
    id,
    askedAt,
    title: hideSecrets(title).text,
    tool,
    ...withoutUndefined({ agent, callId, turn, replaces }),
    kind: "change",
    digest,
    risk,
    ...withoutUndefined({ incomplete: complete ? undefined : (incomplete ?? "it is too large") }),
    changes: changes.map(({ summary }) => summary),
    canEdit: details.scopes.some(({ outcome }) => outcome === "modify_with_editor"),
    hasParts: offersParts(details, changes),
    ...withoutUndefined({ needed, wider }),
  };
}

/** Returns true when a part of a question can be allowed alone. */
function offersParts({ scopes }: PlainDetails, changes: readonly ShownChange[]): boolean {
  const canDivide = ({ summary: { whole, added, removed } }: ShownChange): boolean =>
    !whole && added + removed > 1;
  return (
    (changes.length > 1 || changes.some(canDivide)) &&
    scopes.some(({ outcome }) => outcome === "proceed_parts")
  );
}
