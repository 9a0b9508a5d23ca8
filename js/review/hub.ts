/**
 * The hub of the review page: an approver whose questions wait for a person at a page, and an observer that shows the
 * page which calls run. It keeps the state of the page and its last events; `http.ts` serves them.
 */
import { type ApprovalQueue, approvalQueue } from "../hooks/approval-queue.ts";
import type { Approver } from "../hooks/confirm.ts";
import type { ApprovalScope } from "../hooks/scope/scope.ts";
import type { CallBegin, CallEnd, Observer } from "../hooks/observer.ts";
import { FilewrightError } from "../engine/errors.ts";
import { VERSION } from "../engine/generated/version.ts";
import { anyText, instance, optionChecker, type Options, options } from "../schema/option.ts";
import type { Workspace } from "../workspace/types.ts";
import type { ActivityView, ReviewActivity } from "./activity/activity-data.ts";
import { makeActivityCounter } from "./activity/activity.ts";
import type { ShownImage } from "./questions/binary.ts";
import { type AnswerEffect, HeldQuestions } from "./questions/held.ts";
import type { ReviewLogin } from "./login.ts";
import type {
  ChangeContent,
  ChangeSide,
  ChangeRows,
  ReviewAnswer,
  ReviewCall,
  ReviewEvent,
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
  const workspaces = new Map<string, Workspace>();
  const closing = new AbortController();
  const log = makeReviewLog();
  const counter = makeActivityCounter();
  const people = makePeople();
  const questions = new HeldQuestions(queue, log);
  const { tell } = log;

  const tellSubject = (): void => tell({ type: "subject", subject, workspaces: [...workspaces.keys()] });

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
    rows: (id: string, change: number, from: number) => questions.rows(id, change, from),
    scopeOf: (id: string, choice: WiderChoice) => questions.scopeOf(id, choice),
    content: (id: string, change: number) => questions.content(id, change),
    image: (id: string, change: number, side: ChangeSide) => questions.image(id, change, side),
    answer: (id: string, answer: ReviewAnswer, by: string) => questions.answer(id, answer, by),
    close(): void {
      queue.close();
      closing.abort();
    },
  });
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
