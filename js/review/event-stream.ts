/** Streams the events of a hub as server-sent events, from the last one that a page has seen. */
import type { ReviewFeed } from "./log.ts";
import type { ReviewEvent } from "./protocol.ts";

/** The feed that is streamed, and the signal that ends its streams. */
type StreamedFeed = Pick<ReviewFeed, "run" | "eventsAfter" | "watch"> & { readonly closed: AbortSignal };

/** The number of bytes that a page may leave unread; with more, its stream ends, and it connects again. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** The interval in milliseconds between comments, which show both sides whether the connection still works. */
const COMMENT_INTERVAL_MS = 15_000;
/**
 * The time in milliseconds for which the events of calls are gathered, so that many calls cost their agent few writes.
 * Events about questions are sent at once.
 */
const GATHERING_MS = 100;
/** The time in milliseconds after which a page connects again. */
const RETRY_MS = 1000;

/**
 * Returns the stream of the events after the one that `Last-Event-ID` or `after` names, as `RUN:SEQ`. A page that
 * cannot be told everything that it missed is sent `reset`, so that it reads the state again.
 */
export function eventStream(hub: StreamedFeed, request: Request, after: string | null): Response {
  const encoder = new TextEncoder();
  const missed = eventsMissed(hub, request.headers.get("last-event-id") ?? after ?? "");
  let stop = (): void => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): void => controller.enqueue(encoder.encode(text));
        let isEnded = false;
        const end = (): void => {
          if (isEnded) return;
          isEnded = true;
          stop();
          controller.close();
        };
        const endAfterAll = (): void => {
          flush();
          end();
        };
        send(`retry: ${RETRY_MS}\n: connected\n\n`);
        if (missed === undefined) {
          send('data: {"type":"reset"}\n\n');
          return controller.close();
        }
        if (missed.length > 0) send(messagesOf(hub.run, missed));
        let gathered: ReviewEvent[] = [];
        let timer: ReturnType<typeof setTimeout> | undefined;
        const flush = (): void => {
          clearTimeout(timer);
          timer = undefined;
          if (gathered.length === 0) return;
          if ((controller.desiredSize ?? 0) > 0) send(messagesOf(hub.run, gathered));
          else end();
          gathered = [];
        };
        const stopWatching = hub.watch((event) => {
          gathered.push(event);
          if (event.type !== "call.begin" && event.type !== "call.end") flush();
          else timer ??= setTimeout(flush, GATHERING_MS);
        });
        const comments = setInterval(() => send(":\n\n"), COMMENT_INTERVAL_MS);
        (comments as { unref?(): void }).unref?.();
        stop = () => {
          stopWatching();
          clearTimeout(timer);
          clearInterval(comments);
          request.signal.removeEventListener("abort", stop);
          hub.closed.removeEventListener("abort", endAfterAll);
        };
        request.signal.addEventListener("abort", stop, { once: true });
        hub.closed.addEventListener("abort", endAfterAll, { once: true });
        if (hub.closed.aborted) end();
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Returns the events that a page has missed; undefined for another run, or when some are not kept any more. */
function eventsMissed(hub: StreamedFeed, last: string): readonly ReviewEvent[] | undefined {
  const [, run, seq] = /^([\w-]+):(\d+)$/u.exec(last) ?? [];
  return run === hub.run ? hub.eventsAfter(Number(seq)) : undefined;
}

function messagesOf(run: string, events: readonly ReviewEvent[]): string {
  let text = "";
  for (const event of events) text += `id: ${run}:${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
  return text;
}
