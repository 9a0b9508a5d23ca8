/** Streams server-sent events until the client disconnects, reads too slowly, or the source of the events is closed. */

/** The number of bytes that a client may leave unread; with more, its stream ends, and it connects again. */
const MAX_UNREAD_BYTES = 4 * 1024 * 1024;
/** The interval in milliseconds between comments, which show both sides whether the connection still works. */
const COMMENT_INTERVAL_MS = 15_000;

/** The side of a stream to which a server writes. */
export interface EventWriter {
  /** Writes text, whatever the client has left unread. Throws after the end, so it is for the beginning of a stream. */
  write(text: string): void;
  /** Writes text; ends the stream instead where the client has left too much unread. */
  send(text: string): void;
  /** Ends the stream. */
  end(): void;
}

/** The source of the events of a stream that is open. */
export interface StreamSource {
  /** Sends the events that the source has gathered, before the stream ends because the source is closed. */
  flush?(): void;
  /** Called when the stream has ended. */
  stop(): void;
}

/** Returns the text of an event. */
export function eventMessage(id: string, event: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(event)}\n\n`;
}

/**
 * Returns a response that streams events. `open` is called at once, writes the first events, and subscribes to the
 * later ones. When `closed` is aborted, the source is flushed and the stream ends.
 */
export function eventStreamResponse(
  { signal }: Request,
  closed: AbortSignal,
  open: (writer: EventWriter) => StreamSource,
): Response {
  const encoder = new TextEncoder();
  let stop = (): void => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let isEnded = false;
        const write = (text: string): void => controller.enqueue(encoder.encode(text));
        const end = (): void => {
          if (isEnded) return;
          isEnded = true;
          stop();
          controller.close();
        };
        const send = (text: string): void => {
          if (isEnded) return;
          if ((controller.desiredSize ?? 0) > 0) write(text);
          else end();
        };
        let source: StreamSource | undefined;
        const endAfterAll = (): void => {
          source?.flush?.();
          end();
        };
        const comments = setInterval(() => send(":\n\n"), COMMENT_INTERVAL_MS);
        (comments as { unref?(): void }).unref?.();
        stop = () => {
          source?.stop();
          clearInterval(comments);
          signal.removeEventListener("abort", stop);
          closed.removeEventListener("abort", endAfterAll);
        };
        signal.addEventListener("abort", stop, { once: true });
        closed.addEventListener("abort", endAfterAll, { once: true });
        source = open({ write, send, end });
        if (isEnded) source.stop();
        if (signal.aborted || closed.aborted) end();
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-store" },
  });
}
