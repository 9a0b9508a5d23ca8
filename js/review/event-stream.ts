/** Streams the events of a hub as server-sent events, from the last one that a page has seen. */
import type { ReviewFeed } from "./log.ts";
import type { ReviewEvent } from "./protocol.ts";

/** The feed that is streamed, and the signal that ends its streams. */
type StreamedFeed = Pick<ReviewFeed, "run" | "eventsAfter" | "watch"> & { readonly closed: AbortSignal };

/** The number of bytes that a page may leave unread; with more, its stream ends, and it connects again. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** The interval in milliseconds of comments, by which both sides notice a connection that is gone. */
const COMMENT_INTERVAL_MS = 15_000;
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
        const end = (): void => {
          stop();
          controller.close();
        };
        send(`retry: ${RETRY_MS}\n: connected\n\n`);
        if (missed === undefined) {
          send('data: {"type":"reset"}\n\n');
          return controller.close();
        }
        for (const event of missed) send(messageOf(hub.run, event));
        const stopWatching = hub.watch((event) => {
          if ((controller.desiredSize ?? 0) > 0) send(messageOf(hub.run, event));
          else end();
        });
        const comments = setInterval(() => send(":\n\n"), COMMENT_INTERVAL_MS);
        (comments as { unref?(): void }).unref?.();
        stop = () => {
          stopWatching();
          clearInterval(comments);
          request.signal.removeEventListener("abort", stop);
          hub.closed.removeEventListener("abort", end);
        };
        request.signal.addEventListener("abort", stop, { once: true });
        hub.closed.addEventListener("abort", end, { once: true });
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

function messageOf(run: string, event: ReviewEvent): string {
  return `id: ${run}:${event.seq}\ndata: ${JSON.stringify(event)}\n\n`;
}
