/**
 * A remote approver: questions wait until a web page, or any program, answers them over HTTP or a
 * WebSocket.
 *
 * A client must have the token. A question is answered once; a withdrawn one cannot be answered
 * any more. There is no page and no open port of its own: {@link ApprovalQueue.handle} fits every
 * server with `Request` and `Response`.
 */
import { randomHex } from "../engine/hex.ts";
import { GRANT_REPLY, type GrantQuestion, type GrantReply } from "../policy/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { keepLast } from "../schema/keep-last.ts";
import { optionChecker, type Options, options, optionReader, text } from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { MIN_TOKEN_CHARS } from "../http/access.ts";
import { makeEventLog } from "../http/event-log.ts";
import { type AnswerResult, handleQueueRequest } from "./approval-queue-http.ts";
import { partsProblem } from "./changed-files.ts";
import { type Approver, CONFIRM_REPLY, type Confirmation, type ConfirmReply } from "./confirm.ts";
import { plainDetails } from "./notebook.ts";
import type { QueueEvent, QueueState, WithdrawalReason } from "./queue/events.ts";
import { type QueueSocket, SocketClient } from "./queue/socket.ts";
import { type PendingApproval, summaryOf } from "./queue/summary.ts";

export type { QueueSocket } from "./queue/socket.ts";

/** A queue of waiting questions. */
export interface ApprovalQueue extends Approver {
  /** The token that clients must send. */
  readonly token: string;
  /** Returns the waiting questions. */
  pending(): readonly PendingApproval[];
  /** Answers a question. Returns false when it is not waiting, or the answer is invalid. */
  answer(id: string, reply: unknown): boolean;
  /**
   * Looks whether what a question shows has changed by now, so that an approval of it would fail with CONFLICT. False
   * for a question that does not wait.
   */
  isStale(id: string): Promise<boolean>;
  /** Calls `listener` with each later event, in order, until it throws. Returns a function that ends it. */
  watch(listener: (event: QueueEvent) => void): () => void;
  /**
   * Serves, all with `Authorization: Bearer TOKEN`:
   * - `GET …/approvals`: the waiting questions in summary, and the number of the last event;
   * - `GET …/approvals/events`: the state and then events, or those after the `Last-Event-ID`, as server-sent events;
   * - `GET …/approvals/ID`: a whole question;
   * - `GET …/approvals/ID/stale`: whether what it shows has changed by now;
   * - `GET …/approvals/ID/changes/N`: the contents of its path N, from 0, with an ETag;
   * - `POST …/approvals/ID`: an answer, as JSON. 409: another came first, or it is for another content; 410: the
   *   question was withdrawn.
   */
  handle(request: Request): Promise<Response>;
  /**
   * Serves a socket. Its first message must be `{"token": …}`, with `"after": EVENT_ID` where it was connected before;
   * then it is sent the state and events, each with its `event_id`. It asks for a whole question with `{"get": ID}`, and answers
   * with `{"id": …, "reply": …}`. Pass it the socket's messages, and close it with the socket.
   */
  attach(socket: QueueSocket): { receive(text: string): void; close(): void };
  /** Refuses all waiting and future questions, and ends the event streams. */
  close(): void;
}

/** The options of {@link approvalQueue}. */
export interface ApprovalQueueOptions {
  /** The token that clients must send, of at least 16 characters. Default: 32 random bytes in hexadecimal. */
  readonly token?: string | undefined;
}

/** The options of {@link approvalQueue}. */
export const APPROVAL_QUEUE_OPTIONS: Options<ApprovalQueueOptions> = options("ApprovalQueueOptions", {
  token: text({
    test: (token) =>
      token.length < MIN_TOKEN_CHARS ? `must have at least ${MIN_TOKEN_CHARS} characters` : undefined,
  }),
});

const checkOptions = optionChecker("approvalQueue", APPROVAL_QUEUE_OPTIONS);
const readConfirmReply = optionReader(CONFIRM_REPLY);
const readGrantReply = optionReader(GRANT_REPLY);

/** An answer as a question reads it: its value and how it is told, or why it is none. */
type ReadAnswer<T> =
  | { readonly value: T; readonly outcome: string; readonly by: string | undefined }
  | Exclude<AnswerResult, { readonly result: "answered" }>;

/** The number of ended questions whose end is remembered, for answers that come late. */
const MAX_ENDED_QUESTIONS = 10_000;

/** A question as it is asked. */
interface AskedQuestion<T> {
  readonly about: DistributiveOmit<PendingApproval, "id" | "asked_at">;
  /** The answer when the question is withdrawn. */
  readonly refusal: T;
  readonly read: (reply: unknown, isStale: boolean) => ReadAnswer<T>;
  readonly watched: Pick<Confirmation, "signal" | "isStale" | "conflict" | "onStale">;
}

/** The questions of a queue: those that wait, and what became of the last ones that ended. */
class Questions {
  readonly log = makeEventLog<QueueEvent>(`${randomHex(8)}-`);
  readonly closing = new AbortController();
  readonly waiting = new Map<string, AnyWaitingQuestion>();
  readonly #ended = new Map<string, AnswerResult>();
  /** The questions that were looked at again, by their digests. */
  readonly #replacedIds = new Map<string, string>();

  /** Puts a question, and waits for its answer. */
  put<T>(asked: AskedQuestion<T>): Promise<T> {
    if (this.closing.signal.aborted || asked.watched.signal?.aborted === true)
      return Promise.resolve(asked.refusal);
    const id = randomHex(16);
    const question = { id, asked_at: new Date().toISOString(), ...asked.about } as PendingApproval;
    return new Promise<T>((resolve) => {
      this.waiting.set(id, new WaitingQuestion(this, { question, asked, resolve }));
      this.log.append({ type: "asked", question: summaryOf(question) });
    });
  }

  /** Notes that a question waits no more. */
  ended(id: string, how: AnswerResult): void {
    this.waiting.delete(id);
    keepLast(this.#ended, id, how, MAX_ENDED_QUESTIONS);
  }

  /** Notes that a question was answered by a look at what has changed, so that another one follows. */
  lookedAgain({ id, details }: Extract<PendingApproval, { readonly kind: "change" }>): void {
    keepLast(this.#replacedIds, details.digest, id, MAX_ENDED_QUESTIONS);
  }

  /** Returns the question that a later one replaces. */
  replacedBy({ replaces }: Confirmation): { readonly replaces?: string } {
    const id = replaces === undefined ? undefined : this.#replacedIds.get(replaces);
    return id === undefined ? {} : { replaces: id };
  }

  pending(): readonly PendingApproval[] {
    return [...this.waiting.values()].map(({ question }) => question);
  }

  state(): QueueState {
    return { type: "state", seq: this.log.seq, pending: this.pending().map(summaryOf) };
  }

  /** Gives an answer to a question. */
  take(id: string, reply: unknown): AnswerResult {
    return this.waiting.get(id)?.take(reply) ?? this.#ended.get(id) ?? { result: "unknown" };
  }
}

/** A question that waits, whatever its answer is. */
type AnyWaitingQuestion = Pick<WaitingQuestion<unknown>, "question" | "isStale" | "take" | "withdraw">;

/** A question that waits for its answer. */
class WaitingQuestion<T> {
  question: PendingApproval;
  readonly #questions: Questions;
  readonly #asked: AskedQuestion<T>;
  readonly #resolve: (value: T) => void;
  readonly #endWatch: (() => void) | undefined;

  constructor(
    questions: Questions,
    parts: {
      readonly question: PendingApproval;
      readonly asked: AskedQuestion<T>;
      readonly resolve: (value: T) => void;
    },
  ) {
    this.question = parts.question;
    this.#questions = questions;
    this.#asked = parts.asked;
    this.#resolve = parts.resolve;
    const { signal, onStale } = parts.asked.watched;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#endWatch = onStale?.(() => this.#markStale());
  }

  readonly #onAbort = (): void => this.withdraw("cancelled");

  /** Looks at once whether what is shown has changed. */
  async isStale(): Promise<boolean> {
    if ((await this.#asked.watched.isStale?.()) === true) this.#markStale();
    return isMarked(this.question);
  }

  /** Ends the wait with a valid answer; the question keeps waiting after any other. */
  take(reply: unknown): AnswerResult {
    const answer = this.#asked.read(reply, isMarked(this.question));
    if (!("value" in answer)) return answer;
    const { value, outcome, by } = answer;
    const told = { outcome, ...withoutUndefined({ by }) };
    this.#settle(value, { result: "taken", ...told });
    if (outcome === "look_again" && this.question.kind === "change")
      this.#questions.lookedAgain(this.question);
    this.#questions.log.append({ type: "answered", id: this.question.id, ...told });
    return { result: "answered" };
  }

  /** Ends the wait with a refusal. */
  withdraw(why: WithdrawalReason): void {
    const { id } = this.question;
    if (!this.#questions.waiting.has(id)) return;
    this.#settle(this.#asked.refusal, { result: "withdrawn", why });
    this.#questions.log.append({ type: "withdrawn", id, why });
  }

  #settle(value: T, how: AnswerResult): void {
    this.#questions.ended(this.question.id, how);
    this.#asked.watched.signal?.removeEventListener("abort", this.#onAbort);
    this.#endWatch?.();
    this.#resolve(value);
  }

  /** Marks a question about a change as stale, and tells why, if that is not told yet. */
  #markStale(): void {
    const { question } = this;
    if (!this.#questions.waiting.has(question.id) || question.kind !== "change") return;
    const why = this.#asked.watched.conflict?.();
    const known = withoutUndefined({ conflict: why && escapeControls(why) });
    const { conflict: before, ...others } = question;
    if (isMarked(question) && before === known.conflict) return;
    this.question = { ...others, stale: true, ...known };
    this.#questions.log.append({ type: "stale", id: question.id, ...known });
  }
}

/**
 * Creates an approval queue.
 *
 * @example
 * const queue = approvalQueue();
 * const ws = await openWorkspace({ root: "/repo", confirm: queue.confirm });
 * serve((request) => queue.handle(request)); // any fetch-style server
 */
export function approvalQueue(given: ApprovalQueueOptions = {}): ApprovalQueue {
  const token = checkOptions(given).token ?? randomHex(32);
  const questions = new Questions();
  const { log, waiting, closing } = questions;
  const isStale = async (id: string): Promise<boolean> => (await waiting.get(id)?.isStale()) ?? false;
  const shared = {
    token,
    log,
    state: () => questions.state(),
    find: (id: string) => waiting.get(id)?.question,
  };
  const take = (id: string, reply: unknown): AnswerResult => questions.take(id, reply);
  return Object.freeze({
    token,
    pending: () => questions.pending(),
    answer: (id: string, reply: unknown) => take(id, reply).result === "answered",
    isStale,
    watch: log.watch,
    confirm: (details: Confirmation) =>
      questions.put<ConfirmReply>({
        about: { kind: "change", details: plainDetails(details), ...questions.replacedBy(details) },
        refusal: { outcome: "cancel" },
        read: (reply, isKnownStale) => readChangeAnswer(reply, details, isKnownStale),
        watched: details,
      }),
    ask: (question: string, _options: readonly string[], about: GrantQuestion) =>
      questions.put<GrantReply>({
        about: { kind: "directory", question, dir: about.dir, access: about.access, tool: about.tool },
        refusal: { answer: "no" },
        read: readDirectoryAnswer,
        watched: { signal: about.signal },
      }),
    handle: (request: Request) =>
      handleQueueRequest(request, {
        ...shared,
        isStale,
        async take(id, reply) {
          // A person who answers is told at once that the content has changed; the call would fail with CONFLICT.
          const { outcome } = { ...(reply as { readonly outcome?: unknown } | null) };
          if (outcome !== "cancel") await waiting.get(id)?.isStale();
          return take(id, reply);
        },
        closed: closing.signal,
      }),
    attach(socket: QueueSocket) {
      const client = new SocketClient({ ...shared, take }, socket);
      return { receive: (text: string) => client.receive(text), close: () => client.close() };
    },
    close(): void {
      for (const one of [...waiting.values()]) one.withdraw("closed");
      closing.abort();
    },
  });
}

/** Returns true for a question of which it is known that what it shows has changed. */
function isMarked(question: PendingApproval): boolean {
  return question.kind === "change" && question.stale === true;
}

/** `Omit` for each member of a union. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Reads an answer about a change. */
function readChangeAnswer(
  given: unknown,
  { scopes, digest, changes, isStale }: Confirmation,
  isKnownStale: boolean,
): ReadAnswer<ConfirmReply> {
  const { payload } = { ...(given as { readonly payload?: unknown } | null) };
  const reply = readConfirmReply(
    payload === undefined ? given : { ...(given as object), payload: withExpiryDate(payload) },
  );
  if (reply === undefined) return { result: "invalid" };
  // An answer with a digest applies only to the question with that digest.
  const { digest: answered, by } = reply.payload ?? {};
  if (answered !== undefined && answered !== digest) return { result: "stale", digest };
  const { outcome } = reply;
  if (outcome === "look_again")
    return isStale === undefined ? { result: "invalid" } : { value: reply, outcome, by };
  if (!scopes.some((scope) => scope.outcome === outcome)) return { result: "invalid" };
  if (isKnownStale && outcome !== "cancel") return { result: "stale", digest };
  return hasItsContents(reply, changes) ? { value: reply, outcome, by } : { result: "invalid" };
}

/** Returns true for an answer with the contents, or the parts of the changes, that its outcome needs. */
function hasItsContents({ outcome, payload = {} }: ConfirmReply, changes: Confirmation["changes"]): boolean {
  const { newContent, contents, parts = [] } = payload;
  if (outcome === "modify_with_editor") return newContent !== undefined || contents !== undefined;
  return outcome !== "proceed_parts" || partsProblem(changes, parts) === undefined;
}

/** Reads an answer about a directory. */
function readDirectoryAnswer(given: unknown): ReadAnswer<GrantReply> {
  const value = readGrantReply(withExpiryDate(given));
  return value === undefined ? { result: "invalid" } : { value, outcome: value.answer, by: value.by };
}

/** Returns an answer with its `expires` as a date, which JSON has as text. */
function withExpiryDate(given: unknown): unknown {
  const { expires } = { ...(given as { readonly expires?: unknown } | null) };
  return typeof expires === "string" ? { ...(given as object), expires: new Date(expires) } : given;
}
