/** Streams the events of a hub as server-sent events, from the last one that a page has seen. */
import { eventMessage, eventStreamResponse } from "../http/event-stream.ts";
import type { ReviewFeed } from "./log.ts";
import type { ReviewEvent } from "./protocol.ts";

/** The feed that is streamed, and the signal that ends its streams. */
type StreamedFeed = Pick<ReviewFeed, "run" | "eventsAfter" | "watch"> & { readonly closed: AbortSignal };

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
  const missed = eventsMissed(hub, request.headers.get("last-event-id") ?? after ?? "");
  const messagesOf = (events: readonly ReviewEvent[]): string =>
    events.map((event) => eventMessage(`${hub.run}:${event.seq}`, event)).join("");
  return eventStreamResponse(request, hub.closed, ({ write, send, end }) => {
    write(`retry: ${RETRY_MS}\n: connected\n\n`);
    if (missed === undefined) {
      write('data: {"type":"reset"}\n\n');
      end();
      return { stop() {} };
    }
    if (missed.length > 0) write(messagesOf(missed));
    let gathered: ReviewEvent[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = (): void => {
      clearTimeout(timer);
      timer = undefined;
      if (gathered.length > 0) send(messagesOf(gathered));
      gathered = [];
    };
    const stopWatching = hub.watch((event) => {
      gathered.push(event);
      if (event.type !== "call.begin" && event.type !== "call.end") flush();
      else timer ??= setTimeout(flush, GATHERING_MS);
    });
    return {
      flush,
      stop() {
        stopWatching();
        clearTimeout(timer);
      },
    };
  });
}

/** Returns the events that a page has missed; undefined for another run, or when some are not kept any more. */
function eventsMissed(hub: StreamedFeed, last: string): readonly ReviewEvent[] | undefined {
  const [, run, seq] = /^([\w-]+):(\d+)$/u.exec(last) ?? [];
  return run === hub.run ? hub.eventsAfter(Number(seq)) : undefined;
}
