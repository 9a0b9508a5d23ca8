/**
 * The hub of the review page: an approver whose questions wait for a person at a page, and an observer that shows the
 * page which calls run. It keeps the state of the page and its last events; `http.ts` serves them.
 */
import { type ApprovalQueue, approvalQueue } from "../hooks/approval-queue.ts";
import type { QueueEvent } from "../hooks/queue/event-log.ts";
import type { PendingApproval } from "../hooks/queue/summary.ts";
import type { Approver } from "../hooks/confirm.ts";
import type { ApprovalScope } from "../hooks/scope/scope.ts";
import type { PlainDetails } from "../hooks/notebook.ts";
import type { CallBegin, CallEnd, Observer } from "../hooks/observer.ts";
import { FilewrightError } from "../engine/errors.ts";
import { escapeControls } from "../engine/escape.ts";
import { VERSION } from "../engine/generated/version.ts";
import { anyText, instance, optionChecker, type Options, options } from "../schema/option.ts";
import type { Workspace } from "../workspace/types.ts";
import type { ActivityView, ReviewActivity } from "./activity/activity-data.ts";
import { makeActivityCounter } from "./activity/activity.ts";
import { contentOf, rowsOfChange, type ShownChange, shownChangesOf } from "./questions/changes.ts";
import { shownImage, type ShownImage } from "./questions/binary.ts";
import { jointAnswersOf } from "./questions/joint.ts";
import type { ReviewLogin } from "./login.ts";
import { replyOfAnswer } from "./questions/reply.ts";
import { scopeOfChoice, widerOfferOf } from "./questions/wider.ts";
import type {
  ChangeContent,
  ChangeSide,
  ChangeRows,
  ReviewAnswer,
  ReviewCall,
  ReviewEvent,
  ReviewOutcome,
  ReviewQuestion,
  ReviewSnapshot,
  UnnumberedEvent,
  WiderChoice,
} from "./protocol.ts";
import { makePeople, type PeopleOfCall } from "./past/people.ts";
import { makeReviewLog } from "./log.ts";
import { hideSecrets } from "./secrets/secret-text.ts";
import { takesBack } from "../schema/tool-facts.ts";

/** The options of {@link reviewHub}. */
export interface ReviewHubOptions {
  /** The subject of the review, for the head of the page, such as the name of a directory. Default: nothing. */
  readonly subject?: string | undefined;
  /**
   * The queue in which the questions wait, so that programs and `filewright approve` can answer them too. Default: a
   * new one.
   */
  readonly queue?: ApprovalQueue | undefined;
}

/** The options of {@link reviewHub}. @printed */
export const REVIEW_HUB_OPTIONS: Options<ReviewHubOptions> = options("ReviewHubOptions", {
  subject: anyText(),
  queue: instance<ApprovalQueue>("ApprovalQueue", "an approval queue", {}),
});

const checkOptions = optionChecker("reviewHub", REVIEW_HUB_OPTIONS);

/**
 * The effect of an answer. `wrong`: the question does not offer it. `changed`: it is for another digest. `stale`: a
 * file has changed since the question was asked. `repeated`: this person has already allowed it, and another one is
 * needed. `unknown`: there is no such question. `settled`: the question was answered or withdrawn before.
 */
export type AnswerEffect =
  | { readonly effect: "taken" | "wrong" | "changed" | "stale" | "repeated" | "unknown" }
  | { readonly effect: "settled"; readonly outcome: ReviewOutcome | "withdrawn"; readonly by?: string };

/** Connects workspaces, whose questions wait here, with the pages on which people answer them. */
export interface ReviewHub extends Approver {
  /** The queue in which the questions wait. */
  readonly queue: ApprovalQueue;
  /** Shows the calls of a workspace on the page: an element of its option `observers`. */
  readonly observer: Observer;
  /**
   * Returns the numbers of calls, failures and refusals and the durations of calls, for each agent and tool, as the
   * observer has counted them. They are not sent to any other machine.
   */
  activity(view: ActivityView): Promise<ReviewActivity>;
  /** Names this run. The numbers of events begin again with each run. */
  readonly run: string;
  /** Returns everything that the page shows now. */
  snapshot(login: ReviewLogin): ReviewSnapshot;
  /** Returns the events after the one with this number; undefined when some of them are not kept any more. */
  eventsAfter(seq: number): readonly ReviewEvent[] | undefined;
  /** Calls `listener` with each later event. Returns a function that ends it. */
  watch(listener: (event: ReviewEvent) => void): () => void;
  /** Returns a page of the rows of a change; undefined when no such question waits. */
  rows(id: string, change: number, from: number): ChangeRows | undefined;
  /** Returns the scope of a wider answer to a question; undefined when no question that waits offers it. */
  scopeOf(id: string, choice: WiderChoice): ApprovalScope | undefined;
  /**
   * Returns the text of a change, to be edited; undefined when no such question waits, or it writes no text.
   * @throws FilewrightError INVALID_ARGUMENT for a text that is too long
   */
  content(id: string, change: number): ChangeContent | undefined;
  /** Returns a content of a change as an image; undefined when no such question waits, or it is no image to show. */
  image(id: string, change: number, side: ChangeSide): ShownImage | undefined;
  /** Answers a question in the name of `by`. */
  answer(id: string, answer: ReviewAnswer, by: string): AnswerEffect;
  /**
   * Makes a workspace known to the page, for its timeline, its policy and its searches. `name` tells it from others;
   * default: the subject. Returns a function that ends it. @throws FilewrightError ALREADY_EXISTS for a name in use
   */
  attach(workspace: Workspace, name?: string): () => void;
  /** Returns the workspace with a name, or the first one; undefined when there is none. */
  workspace(name?: string): Workspace | undefined;
  /** Returns what allowed a call of the history, and for whom it was made, as far as this run knows. */
  peopleOf(callId: string): PeopleOfCall | undefined;
  /** Tells the pages that the history has changed without a call, as by an undo or a mark. */
  noteHistory(): void;
  /** Aborted when the hub is closed. */
  readonly closed: AbortSignal;
  /** Refuses all waiting and future questions, and ends the pages' connections. */
  close(): void;
}

/** The name that is shown for an answer without a name. */
const UNNAMED = "somebody";

/** A question that waits, with the data that the page shows about it. */
interface HeldQuestion {
  readonly pending: PendingApproval;
  readonly question: ReviewQuestion;
  readonly changes: readonly ShownChange[];
}

/**
 * Creates the hub of a review page. Pass its functions to a workspace, and the hub to `serveReviewPage`.
 *
 * @example
 * const hub = reviewHub({ subject: "/repo" });
 * const ws = await openWorkspace({ root: "/repo", confirm: hub.confirm, observers: [hub.observer] });
 * hub.attach(ws); // for the timeline, the policy and the searches of the page
 * const page = await serveReviewPage(hub);
 * console.log(page.link()); // opens the page once, within two minutes
 */
export function reviewHub(given: ReviewHubOptions = {}): ReviewHub {
  const { subject = "", queue = approvalQueue() } = checkOptions(given);
  const held = new Map<string, HeldQuestion>();
  const workspaces = new Map<string, Workspace>();
  const closing = new AbortController();
  const log = makeReviewLog();
  const counter = makeActivityCounter();
  const people = makePeople();
  /** The refusal that is being given to the queue. */
  let refusal: { readonly id: string; readonly reason: string } | undefined;
  const { tell } = log;

  const tellStale = ({ id, conflict }: { readonly id: string; readonly conflict?: string }): void =>
    tell({ type: "stale", id, ...(conflict === undefined ? {} : { conflict }) });
  const tellSubject = (): void => tell({ type: "subject", subject, workspaces: [...workspaces.keys()] });
  const hold = (pending: PendingApproval): void => {
    const changes = pending.kind === "change" ? shownChangesOf(pending.details) : [];
    const question = questionOf(pending, changes);
    held.set(pending.id, { pending, question, changes });
    tell({ type: "asked", question });
    if (pending.kind === "change" && pending.stale === true) tellStale(pending);
  };
  for (const pending of queue.pending()) hold(pending);
  queue.watch((event: QueueEvent) => {
    if (event.type === "asked") {
      const pending = queue.pending().find(({ id }) => id === event.question.id);
      if (pending !== undefined) hold(pending);
      return;
    }
    const { id } = event;
    if (event.type === "stale") {
      if (held.has(id)) tellStale(event);
      return;
    }
    if (!held.delete(id)) return;
    const at = Date.now();
    if (event.type === "withdrawn") tell({ type: "withdrawn", id, at });
    else
      tell({
        type: "answered",
        id,
        at,
        outcome: outcomeOf(event.outcome),
        by: event.by ?? UNNAMED,
        ...(event.outcome.startsWith("proceed_always") ? { isWider: true } : {}),
        ...(refusal?.id === id && refusal.reason !== "" ? { reason: refusal.reason } : {}),
      });
  });

  return Object.freeze({
    queue,
    run: log.run,
    confirm: queue.confirm,
    ask: queue.ask,
    observer: callObserver(tell, (call) => {
      counter.count(call);
      people.note(call);
    }),
    async activity(view: ActivityView) {
      const histories = await Promise.all([...new Set(workspaces.values())].map((ws) => ws.history()));
      return counter.view(view, histories.flat());
    },
    closed: closing.signal,
    snapshot: ({ role, by }: ReviewLogin) => ({
      run: log.run,
      version: VERSION,
      subject,
      workspaces: [...workspaces.keys()],
      state: log.state(),
      role,
      by,
    }),
    attach(workspace: Workspace, name: string = subject) {
      if (workspaces.has(name))
        throw new FilewrightError("ALREADY_EXISTS", `a workspace with the name '${name}' is attached`, {
          hint: "give each workspace of a review page another name",
        });
      workspaces.set(name, workspace);
      tellSubject();
      return () => {
        if (workspaces.get(name) !== workspace) return;
        workspaces.delete(name);
        tellSubject();
      };
    },
    peopleOf: people.of,
    noteHistory: () => tell({ type: "history" }),
    workspace: (name?: string) =>
      name === undefined ? workspaces.values().next().value : workspaces.get(name),
    eventsAfter: log.eventsAfter,
    watch: log.watch,
    rows(id: string, change: number, from: number) {
      const { pending, changes } = held.get(id) ?? {};
      const shown = changes?.[change];
      if (shown === undefined || pending?.kind !== "change") return undefined;
      return rowsOfChange(shown, pending.details.digest, from);
    },
    scopeOf(id: string, choice: WiderChoice) {
      const pending = held.get(id)?.pending;
      return pending?.kind === "change" ? scopeOfChoice(pending.details, choice) : undefined;
    },
    content(id: string, change: number) {
      const pending = held.get(id)?.pending;
      return pending?.kind === "change" ? contentOf(pending.details, change) : undefined;
    },
    image(id: string, number: number, side: ChangeSide) {
      const pending = held.get(id)?.pending;
      const change = pending?.kind === "change" ? pending.details.changes[number] : undefined;
      return change && shownImage(change, side);
    },
    answer(id: string, answer: ReviewAnswer, by: string): AnswerEffect {
      const one = held.get(id);
      if (one === undefined) {
        const settled = log.state().settled.findLast(({ question }) => question.id === id);
        if (settled === undefined) return { effect: "unknown" };
        const { outcome } = settled;
        return { effect: "settled", outcome, ...(settled.by === undefined ? {} : { by: settled.by }) };
      }
      const { pending } = one;
      if (pending.kind === "change" && answer.digest !== pending.details.digest) return { effect: "changed" };
      const isStale = log.state().waiting.some((question) => question.id === id && question.stale === true);
      if (answer.outcome === "allow" && jointAnswersOf(log.state(), one.question)?.allowedBy.includes(by))
        return { effect: "repeated" };
      if (isStale && answer.outcome.startsWith("allow")) return { effect: "stale" };
      const reply = replyOfAnswer(pending, answer, by);
      if (reply === undefined) return { effect: "wrong" };
      // The queue tells its watchers at once, without the reason.
      refusal = answer.outcome === "refuse" ? { id, reason: answer.reason ?? "" } : undefined;
      return { effect: queue.answer(id, reply) ? "taken" : "wrong" };
    },
    close(): void {
      queue.close();
      closing.abort();
    },
  });
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
    ...(agent === undefined ? {} : { agent }),
    ...(callId === undefined ? {} : { callId }),
    ...(turn === undefined ? {} : { turn }),
    ...(replaces === undefined ? {} : { replaces }),
    kind: "change",
    digest,
    risk,
    ...(complete ? {} : { incomplete: incomplete ?? "it is too large" }),
    changes: changes.map(({ summary }) => summary),
    canEdit: details.scopes.some(({ outcome }) => outcome === "modify_with_editor"),
    hasParts: offersParts(details, changes),
    ...(needed === undefined ? {} : { needed }),
    ...(wider === undefined ? {} : { wider }),
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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

const NO_PATHS: readonly string[] = Object.freeze([]);

/** The number of characters of an error that are shown in the list of calls. */
const MAX_MESSAGE_CHARS = 300;

/** Creates the observer that reports the beginning and the end of each call. */
function callObserver(tell: (event: UnnumberedEvent) => void, count: (call: CallEnd) => void): Observer {
  // Each call of an agent pays for this, so the objects are built without copies.
  const shownCall = ({ id, tool, agent, at }: CallBegin, paths: readonly string[]): Mutable<ReviewCall> =>
    agent === undefined ? { id, tool, at, paths } : { id, tool, agent, at, paths };
  return Object.freeze({
    begin(call: CallBegin): undefined {
      tell({ type: "call.begin", call: shownCall(call, NO_PATHS) });
    },
    end(call: CallEnd): void {
      count(call);
      const shown = shownCall(call, call.paths);
      shown.ok = call.ok;
      shown.ms = call.duration_ms;
      if (call.code !== undefined) shown.code = call.code;
      if (call.message !== undefined)
        shown.message = hideSecrets(call.message.slice(0, MAX_MESSAGE_CHARS)).text;
      if (call.error_path !== undefined) shown.errorPath = call.error_path;
      const by = call.approval?.by ?? call.by;
      if (by !== undefined) shown.by = by;
      if (call.changes) shown.changes = true;
      if (call.changes && changesUnreviewed(call)) shown.changesUnreviewed = true;
      tell({ type: "call.end", call: shown });
    },
  });
}

/** Returns true for a changing call that is unreviewed itself, or may have taken back unreviewed ones. */
function changesUnreviewed(call: CallEnd): boolean {
  return takesBack(call.tool) || call.allowed_by?.some(({ kind }) => kind === "review") === true;
}
