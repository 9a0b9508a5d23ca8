/** Reads a stream of server-sent events. */

/** An event of a stream. */
export interface SentEvent {
  /** The id after which the next connection continues; undefined where the event has none. */
  readonly id: string | undefined;
  /** The data, as JSON. */
  readonly data: unknown;
}

/** Yields the events of a stream until it ends or `signal` fires. */
export async function* sentEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): AsyncGenerator<SentEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  // The signal of a request does not reliably end its body once the response is there.
  const cancel = (): void => void reader.cancel().catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    /** The parts of an event that has not arrived whole. They are joined only then, so that a long one is copied once. */
    let parts: string[] = [];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const before = parts.at(-1) ?? "";
      parts.push(value);
      if (!(before.slice(-1) + value).includes("\n\n")) continue;
      const blocks = parts.join("").split("\n\n");
      parts = [blocks.pop() ?? ""];
      for (const block of blocks) {
        const data = fieldOf(block, "data");
        if (data !== undefined) yield { id: fieldOf(block, "id"), data: JSON.parse(data) };
      }
    }
  } finally {
    signal.removeEventListener("abort", cancel);
    cancel();
  }
}

/**
 * Returns the value of a field of an event. Only a line feed ends a line of a stream: other separators of lines, such as
 * U+2028, stand in names and contents.
 */
function fieldOf(block: string, name: string): string | undefined {
  const start = `${name}: `;
  return block
    .split("\n")
    .find((line) => line.startsWith(start))
    ?.slice(start.length);
}
