/** All recorded decisions; the fast tests ask for some of them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answered, decided, decisionCases, headlessCases } from "./decisions.ts";

interface Recording {
  readonly workspace: { readonly count: number; readonly answers: string };
  readonly headless: { readonly now: string };
}

/** Numbers of questions whose answer changed once, with the answer that they all have now. */
interface ChangedRows {
  readonly rows?: readonly number[];
  readonly now: string;
}

const [recording, ...changed] = readFileSync(join(import.meta.dirname, "decisions.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as unknown) as [Recording, ...ChangedRows[]];

function digestOf(answers: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(answers)).digest("hex");
}

test("a workspace decides every case of the table as before", async () => {
  const answers: string[] = [];
  for (const one of decisionCases()) answers.push(await decided(one));
  expect(answers).toHaveLength(recording.workspace.count);
  expect(digestOf(answers)).toBe(recording.workspace.answers);
}, 900_000);

test("rules for unattended answers answer 20,000 questions as recorded", async () => {
  const answers: string[] = [];
  for (const one of headlessCases()) answers.push(await answered(one));
  for (const { rows = [], now } of changed) for (const row of rows) expect(answers[row]).toBe(now);
  expect(digestOf(answers)).toBe(recording.headless.now);
}, 900_000);
