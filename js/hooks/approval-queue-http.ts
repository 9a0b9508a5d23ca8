/**
 * Serves an approval queue over HTTP: its questions as plain data, requests, answers and authentication.
 * `approval-queue.ts` manages the waiting questions.
 */
import { bearerTokenOf, tokensAreEqual } from "../http/access.ts";
import type { GrantAccess } from "../policy/index.ts";
import type { PlainDetails } from "./notebook.ts";

/** The members of an approval queue that its HTTP interface uses. */
export interface ServedQueue {
  readonly token: string;
  pending(): readonly PendingApproval[];
  answer(id: string, reply: unknown): boolean;
  watch(listener: (event: QueueEvent) => void): () => void;
  /** Aborted when the queue is closed, which ends its event streams. */
  readonly closed: AbortSignal;
}

/** The number of bytes that a client may leave unread; with more, its event stream is ended. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** The maximum length of the body of an answer, in UTF-16 units. */
const MAX_ANSWER_BODY_LENGTH = 32 * 1024 * 1024;

/** Returns the response to one HTTP request. */
export async function handleQueueRequest(request: Request, queue: ServedQueue): Promise<Response> {
  if (!tokensAreEqual(bearerTokenOf(request) ?? "", queue.token))
    return jsonResponse(401, { error: "the token is missing or wrong" });
  const [, place] = /\/approvals(?:\/([^/]+))?\/?$/u.exec(new URL(request.url).pathname) ?? [null, null];
  if (place === null) return jsonResponse(404, { error: "there is nothing here" });
  if (request.method === "GET" && place === undefined) return jsonResponse(200, { pending: queue.pending() });
  if (request.method === "GET" && place === "events") return eventStreamResponse(queue, request.signal);
  if (request.method !== "POST" || place === undefined || place === "events")
    return jsonResponse(405, { error: "not this way" });
  const text = await request.text();
  const reply = text.length > MAX_ANSWER_BODY_LENGTH ? undefined : parseJsonObject(text);
  if (reply === undefined) return jsonResponse(400, { error: "the answer is not a JSON object" });
  if (!queue.pending().some(({ id }) => id === place))
    return jsonResponse(404, { error: "nothing like that waits" });
  return queue.answer(place, reply)
    ? jsonResponse(200, { answered: true })
    : jsonResponse(400, { error: "the answer is not one of those offered" });
}

/**
 * Returns a response that streams the waiting questions and the later events as server-sent events, until the
 * client disconnects or the queue is closed.
 */
function eventStreamResponse(
  queue: Pick<ServedQueue, "pending" | "watch" | "closed">,
  signal: AbortSignal,
): Response {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const end = (): void => {
          stop();
          controller.close();
        };
        const send = (event: QueueEvent): void =>
          controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
        const stopWatching = queue.watch((event) => {
          // When the client connects again, it gets all waiting questions, so it misses none.
          if ((controller.desiredSize ?? 0) > 0) send(event);
          else end();
        });
        stop = () => {
          stopWatching();
          signal.removeEventListener("abort", stop);
          queue.closed.removeEventListener("abort", end);
        };
        signal.addEventListener("abort", stop, { once: true });
        queue.closed.addEventListener("abort", end, { once: true });
        if (queue.closed.aborted) return end();
        for (const question of queue.pending()) send({ type: "asked", question });
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
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

/** A waiting question. Plain data. */
export type PendingApproval = {
  readonly id: string;
  /** When it was asked, in ISO 8601. */
  readonly asked_at: string;
} & (
  | { readonly kind: "change"; readonly details: PlainDetails }
  | {
      readonly kind: "directory";
      readonly question: string;
      readonly dir: string;
      readonly access: GrantAccess;
      readonly tool: string;
    }
);

/** An event of the approval queue. */
export type QueueEvent =
  | { readonly type: "asked"; readonly question: PendingApproval }
  /** The question does not wait any more: it was answered or withdrawn. */
  | { readonly type: "gone"; readonly id: string };
