/**
 * One page for several processes: joins the events of their hubs into one feed, and passes each request on to the
 * process that it concerns. Nothing is decided here: an answer counts when the process that asked takes it.
 */
import { keepLast } from "../../schema/keep-last.ts";
import { VERSION } from "../../engine/generated/version.ts";
import { eventStream } from "../event-stream.ts";
import type { ReviewResponder } from "../http.ts";
import { makeReviewLog } from "../log.ts";
import type { ReviewLogin } from "../login.ts";
import type { ReviewCall, ReviewSnapshot, ReviewState, UnnumberedEvent } from "../protocol.ts";
import { bodyOf, json, refusal } from "../routes/route.ts";
import { readRelayedEvent } from "./events.ts";

/** A process whose questions, calls and workspaces the page shows. */
type ReviewSource = Pick<ReviewResponder, "answer">;

/** A source that is shown. */
export interface ShownSource {
  /** Shows an event. Returns false for what is none, and for one about a question of another source. */
  tell(event: unknown): boolean;
  /** Withdraws its questions and ends its calls, because the process has ended. */
  leave(): void;
}

/** The page of several processes. */
export interface SharedReview extends ReviewResponder {
  /** Shows a source until it leaves. */
  add(source: ReviewSource): ShownSource;
  /** Ends the streams of the pages. */
  close(): void;
}

/** The number of questions whose process is remembered, for answers that come late. */
const MAX_REMEMBERED_QUESTIONS = 10_000;
/** The parameter of an address that names a workspace. */
const WORKSPACE_PARAMETER = "workspace";

/** Creates a page without sources. `token` is that of programs. */
export function makeSharedReview(token: string): SharedReview {
  const page = new SharedPage();
  return {
    token,
    answer: (request, path, login) => page.answer(request, path, login),
    add: (source) => page.add(source),
    close: () => page.closing.abort(),
  };
}

/** The sources of a page, and the log of what they have told. */
class SharedPage {
  readonly log = makeReviewLog();
  readonly closing = new AbortController();
  readonly #shown = new Map<ReviewSource, RelayedSource>();
  readonly #ownerByQuestion = new Map<string, ReviewSource>();

  async answer(request: Request, path: string, login: ReviewLogin): Promise<Response> {
    const { log } = this;
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (path === "state" && isRead)
      return json(200, { run: log.run, version: VERSION, ...this.#subject(), state: log.state(), ...login });
    if (path === "events" && isRead)
      return eventStream(
        { ...log, closed: this.closing.signal },
        request,
        new URL(request.url).searchParams.get("after"),
      );
    const question = await questionOf(request, path);
    if (question === undefined) return this.#answerForWorkspace(request, path, login);
    const owner = this.#ownerByQuestion.get(question);
    if (owner !== undefined) return owner.answer(withoutWorkspace(request), path, login);
    const settled = log.state().settled.findLast((one) => one.question.id === question);
    if (settled === undefined) return refusal(404, "nothing like that waits");
    const { outcome: reason, by } = settled;
    return json(410, { error: "it does not wait any more", reason, by });
  }

  add(source: ReviewSource): ShownSource {
    const shown = new RelayedSource(this, source);
    this.#shown.set(source, shown);
    return { tell: (event) => shown.tell(event), leave: () => shown.leave() };
  }

  /** Returns true while a source is shown by `shown`, and not by another of its connections. */
  isShownBy(source: ReviewSource, shown: RelayedSource): boolean {
    return this.#shown.get(source) === shown;
  }

  /** Ends the source that is shown, and forgets whose its questions were. Returns false for one that has left already. */
  remove(source: ReviewSource): boolean {
    if (!this.#shown.delete(source)) return false;
    for (const [question, owner] of this.#ownerByQuestion)
      if (owner === source) this.#ownerByQuestion.delete(question);
    return true;
  }

  /** Returns true for an event that asks a new question, or is about a question of this source. */
  mayTell(source: ReviewSource, question: string, { type }: UnnumberedEvent): boolean {
    return this.#ownerByQuestion.get(question) === (type === "asked" ? undefined : source);
  }

  /** Notes that a question is one of this source. */
  own(source: ReviewSource, question: string): void {
    keepLast(this.#ownerByQuestion, question, source, MAX_REMEMBERED_QUESTIONS);
  }

  tellSubject(): void {
    this.log.tell({ type: "subject", ...this.#subject() });
  }

  #subject(): Pick<ReviewSnapshot, "subject" | "workspaces"> {
    const all = [...this.#shown.values()];
    return {
      subject: [...new Set(all.map(({ subject }) => subject))].filter((one) => one !== "").join(", "),
      workspaces: all.flatMap(({ workspaces }) => [...workspaces.keys()]),
    };
  }

  /** Returns the workspaces of a source under names that no other source has. */
  withFreeNames(source: ReviewSource, names: readonly string[]): ReadonlyMap<string, string> {
    const taken = new Set(
      [...this.#shown].flatMap(([one, { workspaces }]) => (one === source ? [] : [...workspaces.keys()])),
    );
    const free = new Map<string, string>();
    for (const name of names) {
      let shown = name;
      for (let number = 2; taken.has(shown) || free.has(shown); number++) shown = `${name} (${number})`;
      free.set(shown, name);
    }
    return free;
  }

  /** Passes a request about a workspace on, under the name that its process knows. */
  async #answerForWorkspace(request: Request, path: string, login: ReviewLogin): Promise<Response> {
    const url = new URL(request.url);
    const named = url.searchParams.get(WORKSPACE_PARAMETER);
    for (const [source, { workspaces }] of this.#shown) {
      const [first] = workspaces.keys();
      const own = workspaces.get(named ?? first ?? "");
      if (own === undefined) continue;
      url.searchParams.set(WORKSPACE_PARAMETER, own);
      return source.answer(new Request(url, request), path, login);
    }
    return refusal(404, "there is no such workspace");
  }
}

/** A source that is shown, with the last data that its process has sent about itself. */
class RelayedSource {
  subject = "";
  /** Its workspaces: the names on the page, and its own. */
  workspaces: ReadonlyMap<string, string> = new Map();
  readonly #page: SharedPage;
  readonly #source: ReviewSource;
  readonly #waiting = new Set<string>();
  readonly #running = new Map<string, ReviewCall>();

  constructor(page: SharedPage, source: ReviewSource) {
    this.#page = page;
    this.#source = source;
  }

  tell(given: unknown): boolean {
    const page = this.#page;
    const relayed = readRelayedEvent(given);
    if (relayed === undefined || !page.isShownBy(this.#source, this)) return false;
    const { event, question } = relayed;
    if (event.type === "subject") {
      this.subject = event.subject;
      this.workspaces = page.withFreeNames(this.#source, event.workspaces);
      page.tellSubject();
      return true;
    }
    if (question !== undefined && !this.#note(question, event)) return false;
    if (event.type === "call.begin") this.#running.set(event.call.id, event.call);
    else if (event.type === "call.end") this.#running.delete(event.call.id);
    page.log.tell(event);
    return true;
  }

  leave(): void {
    const { log } = this.#page;
    if (!this.#page.remove(this.#source)) return;
    const at = Date.now();
    for (const id of this.#waiting) log.tell({ type: "withdrawn", id, at });
    for (const call of this.#running.values())
      log.tell({ type: "call.end", call: { ...call, ok: false, code: "CANCELLED", ms: at - call.at } });
    this.#page.tellSubject();
  }

  /** Notes what an event does to a question. Returns false for a question of another source. */
  #note(question: string, event: UnnumberedEvent): boolean {
    if (!this.#page.mayTell(this.#source, question, event)) return false;
    if (event.type === "asked") {
      this.#page.own(this.#source, question);
      this.#waiting.add(question);
    } else if (event.type !== "stale") this.#waiting.delete(question);
    return true;
  }
}

/** Returns the question that a request is about, which is in its path or, for the reach of an answer, in its body. */
async function questionOf(request: Request, path: string): Promise<string | undefined> {
  const [, named] = /^approvals\/([^/]+)/u.exec(path) ?? [];
  if (named !== undefined || path !== "scopes" || request.method !== "POST") return named;
  const { id } = (await bodyOf(request.clone())) ?? {};
  return typeof id === "string" ? id : undefined;
}

/** Returns a request without the workspace that is chosen on the page, which may be one of another process. */
function withoutWorkspace(request: Request): Request {
  const url = new URL(request.url);
  if (!url.searchParams.has(WORKSPACE_PARAMETER)) return request;
  url.searchParams.delete(WORKSPACE_PARAMETER);
  return new Request(url, request);
}

/** Returns events that lead from the empty state to that of a hub, so that another process can show it. */
export function eventsOfSnapshot({
  subject,
  workspaces,
  state: { settled, waiting, calls },
}: {
  readonly subject: string;
  readonly workspaces: readonly string[];
  readonly state: ReviewState;
}): readonly UnnumberedEvent[] {
  return [
    { type: "subject", subject, workspaces },
    ...settled.flatMap(({ question, outcome, by = "", at, isWider, reason }): UnnumberedEvent[] => [
      { type: "asked", question },
      outcome === "withdrawn"
        ? { type: "withdrawn", id: question.id, at }
        : {
            type: "answered",
            ...{ id: question.id, outcome, by, at },
            ...(isWider === undefined ? {} : { isWider }),
            ...(reason === undefined ? {} : { reason }),
          },
    ]),
    ...waiting.map((question): UnnumberedEvent => ({ type: "asked", question })),
    ...calls.map(
      (call): UnnumberedEvent => ({ type: call.ok === undefined ? "call.begin" : "call.end", call }),
    ),
  ];
}
