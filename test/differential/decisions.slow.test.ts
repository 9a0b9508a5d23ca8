/** All decisions of the table. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decided, decisionCases } from "./decisions.ts";

test("a workspace decides every case of the table as before", async () => {
  const answers: string[] = [];
  for (const one of decisionCases()) answers.push(await decided(one));
  const [header] = readFileSync(join(import.meta.dirname, "decisions.jsonl"), "utf8").split("\n");
  const { workspace } = JSON.parse(header ?? "") as { workspace: { count: number; answers: string } };
  expect(answers).toHaveLength(workspace.count);
  expect(createHash("sha256").update(JSON.stringify(answers)).digest("hex")).toBe(workspace.answers);
}, 900_000);
