/**
 * Serves an approval queue over HTTP: requests, answers, event streams and authentication. `approval-queue.ts` manages
 * the waiting questions.
 */
import { bearerTokenOf, tokensAreEqual } from "../http/access.ts";
import type { EventLog } from "../http/event-log.ts";
import { eventMessage, eventStreamResponse } from "../http/event-stream.ts";
import type { QueueEvent, QueueState } from "./queue/events.ts";
import { changeContentsOf, type PendingApproval } from "./queue/summary.ts";

/** The effect of an answer. Only `answered` ends the wait of the question. */
export type AnswerResult =
  | { readonly result: "answered" }
  /** It is not one of the answers that were offered. */
  | { readonly result: "invalid" }
  /** It is for another content than that of the question, or the content has changed since. */
  | { readonly result: "stale"; readonly digest: string }
  /** Another answer came first. */
  | { readonly result: "taken"; readonly outcome: string; readonly by?: string }
  /** The question was withdrawn. */
  | { readonly result: "withdrawn"; readonly why: string }
  /** There never was such a question, or it was long ago. */
  | { readonly result: "unknown" };

/** The members of an approval queue that its HTTP interface uses. */
export interface ServedQueue {
  readonly token: string;
  readonly log: EventLog<QueueEvent>;
  /** Returns the waiting questions and the number of the last event. */
  state(): QueueState;
  /** Returns a waiting question; undefined when it does not wait. */
  find(id: string): PendingApproval | undefined;
  /** Looks at once whether what a question shows has changed. */
  isStale(id: string): Promise<boolean>;
  /** Answers a question. */
  take(id: string, reply: unknown): Promise<AnswerResult>;
  /** Aborted when the queue is closed, which ends its event streams. */
  readonly closed: AbortSignal;
}

/** The maximum length of the body of an answer, in UTF-16 units. */
const MAX_ANSWER_BODY_LENGTH = 32 * 1024 * 1024;

/** Returns the response to one HTTP request. */
export async function handleQueueRequest(request: Request, queue: ServedQueue): Promise<Response> {
  if (!tokensAreEqual(bearerTokenOf(request) ?? "", queue.token))
    return jsonResponse(401, { error: "the token is missing or wrong" });
  const { pathname } = new URL(request.url);
  const found = /\/approvals(?:\/([^/]+)(?:\/changes\/(\d{1,9})|\/(stale))?)?\/?$/u.exec(pathname);
  if (found === null) return jsonResponse(404, { error: "there is nothing here" });
  const [, place, number, stale] = found;
  const part: QuestionPart =
    number === undefined ? (stale === undefined ? "whole" : "stale") : Number(number);
  if (request.method === "GET") {
    if (place !== undefined) return questionResponse(request, queue, place, part);
    const { seq, pending } = queue.state();
    return jsonResponse(200, { seq, pending });
  }
  if (request.method !== "POST" || place === undefined || place === "events" || part !== "whole")
    return jsonResponse(405, { error: "not this way" });
  const text = await request.text();
  const reply = text.length > MAX_ANSWER_BODY_LENGTH ? undefined : parseJsonObject(text);
  if (reply === undefined) return jsonResponse(400, { error: "the answer is not a JSON object" });
  return answerResponse(await queue.take(place, reply));
}

/** The part of a question that a request is about; a number is that of a change. */
type QuestionPart = "whole" | "stale" | number;

/** Returns the response to a request to read a question, or the events. */
async function questionResponse(
  request: Request,
  queue: ServedQueue,
  place: string,
  part: QuestionPart,
): Promise<Response> {
  if (place === "events" && part === "whole") return queueEventsResponse(queue, request);
  const question = queue.find(place);
  if (question === undefined) return notWaitingResponse();
  if (part === "stale") return jsonResponse(200, { stale: await queue.isStale(place) });
  return part === "whole" ? jsonResponse(200, question) : changeResponse(request, question, part);
}

function notWaitingResponse(): Response {
  return jsonResponse(404, { error: "nothing like that waits" });
}

/** Returns the response about the effect of an answer. */
function answerResponse(result: AnswerResult): Response {
  switch (result.result) {
    case "answered":
      return jsonResponse(200, { answered: true });
    case "invalid":
      return jsonResponse(400, { error: "the answer is not one of those offered" });
    case "stale":
      return jsonResponse(409, { error: "the content has changed since it was shown", ...result });
    case "taken":
      return jsonResponse(409, { error: "another answer came first", ...result });
    case "withdrawn":
      return jsonResponse(410, { error: "the question was withdrawn", ...result });
    case "unknown":
      return notWaitingResponse();
  }
}

/** Returns the contents of one path of a question, or that the client has them already. */
function changeResponse(request: Request, question: PendingApproval, index: number): Response {
  const found = changeContentsOf(question, index);
  if (found === undefined) return jsonResponse(404, { error: "the question has no such change" });
  const etag = `"${found.tag}"`;
  const known = request.headers.get("if-none-match");
  if (known?.split(",").some((tag) => tag.trim() === etag) === true)
    return new Response(null, { status: 304, headers: { etag, "cache-control": "private, no-cache" } });
  const response = jsonResponse(200, found.change);
  response.headers.set("etag", etag);
  response.headers.set("cache-control", "private, no-cache");
  return response;
}

/**
 * Returns a response that streams events until the queue is closed. It begins with what the client has missed since its
 * `Last-Event-ID`, or with the state of the queue.
 */
function queueEventsResponse({ log, state, closed }: ServedQueue, request: Request): Response {
  return eventStreamResponse(request, closed, ({ write, send }) => {
    if (closed.aborted) return { stop() {} };
    const textOf = (event: QueueEvent | QueueState): string => eventMessage(log.idOf(event.seq), event);
    const last = request.headers.get("last-event-id");
    const missed = last === null ? undefined : log.after(last);
    for (const event of missed ?? [state()]) write(textOf(event));
    return { stop: log.watch((event) => send(textOf(event))) };
  });
}

function jsonResponse(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store" },
  });
}

/** Returns the object of a JSON text; undefined for any other text. */
export function parseJsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : undefined;
  } catch {
    return undefined;
  }
}
