/**
 * A remote approver: questions wait until a web page, or any program, answers them over HTTP or a
 * WebSocket.
 *
 * A client must have the token. A question is answered once; a withdrawn one cannot be answered
 * any more. There is no page and no open port of its own: {@link ApprovalQueue.handle} fits every
 * server with `Request` and `Response`.
 */
import { GRANT_REPLY, type GrantQuestion, type GrantReply } from "../policy/index.ts";
import { optionChecker, type Options, options, optionReader, text } from "../schema/option.ts";
import { MIN_TOKEN_CHARS, tokensAreEqual } from "../http/access.ts";
import {
  parseJsonObject,
  handleQueueRequest,
  type QueueEvent,
  type PendingApproval,
} from "./approval-queue-http.ts";
import { type Approver, CONFIRM_REPLY, type Confirmation, type ConfirmReply } from "./confirm.ts";
import { plainDetails } from "./notebook.ts";

/** One end of a WebSocket, or of another text channel. */
export interface QueueSocket {
  send(text: string): void;
}

/** A queue of waiting questions. */
export interface ApprovalQueue extends Approver {
  /** The token that clients must send. */
  readonly token: string;
  /** Returns the waiting questions. */
  pending(): readonly PendingApproval[];
  /** Answers a question. Returns false when it is not waiting, or the answer is invalid. */
  answer(id: string, reply: unknown): boolean;
  /** Calls `listener` with each later event. Returns a function that ends it. */
  watch(listener: (event: QueueEvent) => void): () => void;
  /**
   * Serves `GET …/approvals` (waiting questions), `GET …/approvals/events` (events, as server-sent
   * events) and `POST …/approvals/ID` (an answer, as JSON), all with `Authorization: Bearer
   * TOKEN`.
   */
  handle(request: Request): Promise<Response>;
  /**
   * Serves a socket. Its first message must be `{"token": …}`; then it is sent waiting questions
   * and events, and answers with `{"id": …, "reply": …}`. Pass it the socket's messages, and close
   * it with the socket.
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

/** A question with the functions that end its wait. */
interface WaitingQuestion {
  readonly question: PendingApproval;
  /** Ends the wait with a valid answer. Returns false for an invalid one, and the question keeps waiting. */
  take(reply: unknown): boolean;
  /** Ends the wait with a refusal. */
  refuse(): void;
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
  const waiting = new Map<string, WaitingQuestion>();
  const listeners = new Set<(event: QueueEvent) => void>();
  const closing = new AbortController();

  const tellAll = (event: QueueEvent): void => {
    for (const listener of listeners) {
      try {
        listener(event);
      } catch {
        listeners.delete(listener); // The watcher's socket is gone.
      }
    }
  };
  const pending = (): readonly PendingApproval[] => [...waiting.values()].map(({ question }) => question);

  const put = <T>(
    about: DistributiveOmit<PendingApproval, "id" | "asked_at">,
    refusal: T,
    read: (reply: unknown) => T | undefined,
    signal: AbortSignal | undefined,
  ): Promise<T> => {
    if (closing.signal.aborted || signal?.aborted === true) return Promise.resolve(refusal);
    const id = randomHex(16);
    const question = { id, asked_at: new Date().toISOString(), ...about } as PendingApproval;
    return new Promise<T>((resolve) => {
      const settle = (value: T): void => {
        if (!waiting.delete(id)) return;
        signal?.removeEventListener("abort", withdraw);
        resolve(value);
        tellAll({ type: "gone", id });
      };
      const withdraw = (): void => settle(refusal);
      signal?.addEventListener("abort", withdraw, { once: true });
      waiting.set(id, {
        question,
        take(reply) {
          const value = read(reply);
          if (value === undefined) return false;
          settle(value);
          return true;
        },
        refuse: withdraw,
      });
      tellAll({ type: "asked", question });
    });
  };

  const answer = (id: string, reply: unknown): boolean => waiting.get(id)?.take(reply) ?? false;
  const watch = (listener: (event: QueueEvent) => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };

  return Object.freeze({
    token,
    pending,
    answer,
    watch,
    confirm: (details: Confirmation) =>
      put<ConfirmReply>(
        { kind: "change", details: plainDetails(details) },
        { outcome: "cancel" },
        (reply) => checkConfirmReply(reply, details),
        details.signal,
      ),
    ask: (question: string, _options: readonly string[], about: GrantQuestion) =>
      put<GrantReply>(
        { kind: "directory", question, dir: about.dir, access: about.access, tool: about.tool },
        { answer: "no" },
        checkGrantReply,
        about.signal,
      ),
    handle: (request: Request) =>
      handleQueueRequest(request, { token, pending, answer, watch, closed: closing.signal }),
    attach(socket: QueueSocket) {
      let stop: (() => void) | undefined;
      const send = (message: unknown): void => socket.send(JSON.stringify(message));
      return {
        receive(text: string): void {
          const message = parseJsonObject(text);
          if (stop === undefined) {
            if (!tokensAreEqual(String(message?.["token"] ?? ""), token)) send({ type: "refused" });
            else {
              stop = watch(send);
              for (const question of pending()) send({ type: "asked", question });
            }
          } else {
            const id = String(message?.["id"] ?? "");
            if (!answer(id, message?.["reply"])) send({ type: "refused", id });
          }
        },
        close: () => stop?.(),
      };
    },
    close(): void {
      for (const one of [...waiting.values()]) one.refuse();
      closing.abort();
    },
  });
}

/** `Omit` for each member of a union. */
type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** Returns a valid answer about a change; undefined for an invalid outcome or one that was not offered. */
function checkConfirmReply(given: unknown, { scopes, digest }: Confirmation): ConfirmReply | undefined {
  const { payload } = { ...(given as { readonly payload?: unknown } | null) };
  const reply = readConfirmReply(
    payload === undefined ? given : { ...(given as object), payload: withExpiryDate(payload) },
  );
  if (reply === undefined || !scopes.some(({ outcome }) => outcome === reply.outcome)) return undefined;
  const answered = reply.payload?.digest;
  // An answer with a digest applies only to the question with that digest.
  if (answered !== undefined && answered !== digest) return undefined;
  if (reply.outcome === "modify_with_editor" && reply.payload?.newContent === undefined) return undefined;
  return reply;
}

/** Returns a valid answer about a directory; undefined for an invalid one. */
function checkGrantReply(given: unknown): GrantReply | undefined {
  return readGrantReply(withExpiryDate(given));
}

/** Returns an answer with its `expires` as a date, which JSON has as text. */
function withExpiryDate(given: unknown): unknown {
  const { expires } = { ...(given as { readonly expires?: unknown } | null) };
  return typeof expires === "string" ? { ...(given as object), expires: new Date(expires) } : given;
}

/** Returns this many random bytes in hexadecimal. */
function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return [...random].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
