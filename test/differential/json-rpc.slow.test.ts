/** All recorded messages over all transports. With `FILEWRIGHT_RECORD=1` their answers are recorded again. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { messages } from "./json-rpc.ts";
import { type Answers, digestOf, readRecording, RECORDING, TRANSPORTS } from "./record.ts";
import { essence, OPEN } from "./transports.ts";

test("20,000 messages get the answers whose digests are recorded", async () => {
  const texts = messages();
  const answers: Record<string, string[]> = {};
  for (const transport of TRANSPORTS) {
    await using server = await OPEN[transport]();
    const all: string[] = [];
    for (const text of texts) all.push((await server.ask(text)).map(essence).join(" & "));
    answers[transport] = all;
  }
  const { header, disagreements, rows } = readRecording();
  const now = Object.fromEntries(
    TRANSPORTS.map((transport) => [transport, digestOf(answers[transport] ?? [])]),
  ) as unknown as Answers;
  if (process.env["FILEWRIGHT_RECORD"] === "1") {
    const at = (row: number): object =>
      Object.fromEntries(TRANSPORTS.map((transport) => [transport, answers[transport]?.[row]]));
    const lines = [
      { ...header, now },
      ...disagreements.map((one) => ({ ...one, now: at(one.rows[0] as number), rows: one.rows })),
      ...rows.map((one) => ({ ...one, now: at(one.row) })),
    ];
    writeFileSync(RECORDING, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  }
  expect(now).toEqual(header.now);
}, 300_000);
