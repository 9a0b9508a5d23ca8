/** Streams of events: what ends a line of a name or a content ends no line of the stream. */
import { expect, test } from "vitest";
import { sentEvents } from "../../js/review/sent-events.ts";

const NAMES = [
  "a\u2028b",
  "a\u2029b",
  "a\u0085b",
  "a\rb",
  "a\nb",
  "data: b",
  "\n\ndata: {}\n\n",
  "id: 9\u2028id: 8",
];

test.each(NAMES)("an event about %j arrives whole", async (name) => {
  const event = `id: 1\ndata: ${JSON.stringify({ name })}\n\n`;
  const bytes = new TextEncoder().encode(event);
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += 5) controller.enqueue(bytes.slice(at, at + 5));
      controller.close();
    },
  });
  const found: unknown[] = [];
  for await (const one of sentEvents(body, new AbortController().signal)) found.push(one);
  expect(found).toEqual([{ id: "1", data: { name } }]);
});
