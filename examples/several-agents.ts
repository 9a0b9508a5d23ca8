// Several agents on one workspace, in TypeScript: each has its own access and budget, and has to read what
// another one changed before it changes the same file.
// Run it with Node 22.18 or later: node examples/several-agents.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FilewrightError, type ToolResult, toolsFor, openWorkspace } from "filewright";
import type { AgentWorkspace } from "filewright/workspace";

const root: string = mkdtempSync(join(tmpdir(), "filewright-example-"));
mkdirSync(join(root, "src"));
for (const name of ["a", "b", "c"])
  writeFileSync(join(root, `src/${name}.ts`), "export const retries = 3;\n");

const ws = await openWorkspace({ root, guard: "refuse" });
const writer: AgentWorkspace = await ws.agent("writer", { access: { write: ["src"] } });
const fixer: AgentWorkspace = await ws.agent("fixer");
const reviewer: AgentWorkspace = await ws.agent("reviewer", {
  access: { readOnly: true },
  budget: { calls: 2 },
});

/** Returns the outcome of a call in a few words. */
function outcome(result: ToolResult): string {
  return result.ok ? "done" : `${result.error.code} ${String(result.error.details?.["reason"] ?? "")}`.trim();
}

// A model of each agent gets a list that fits its rights.
console.log(
  `reviewer's tools: ${toolsFor(reviewer, "claude")
    .map(({ name }) => name)
    .join(" ")}`,
);

// Both read, one changes: the other has to read again before it changes the same file.
await Promise.all([writer, fixer].map((agent) => agent.readFile({ path: "src/a.ts" })));
const first = await writer.call("edit_file", {
  path: "src/a.ts",
  old_text: "retries = 3",
  new_text: "retries = 4",
});
const late = { path: "src/a.ts", content: "export const retries = 9;\n" };
console.log(`writer: ${outcome(first)}, fixer: ${outcome(await fixer.call("write_file", late))}`);
await fixer.readFile({ path: "src/a.ts" });
console.log(`fixer after reading: ${outcome(await fixer.call("write_file", late))}`);

// Typed methods return data and throw errors with a code.
const { matches } = await reviewer.grep({ pattern: "retries = (\\d)" });
console.log(`reviewer finds: ${matches.map(({ path, text }) => `${path} ${text.trim()}`).join("; ")}`);
try {
  await reviewer.readFile({ path: "src/b.ts" });
  await reviewer.readFile({ path: "src/c.ts" });
} catch (error) {
  if (!(error instanceof FilewrightError)) throw error;
  console.log(`reviewer: ${error.code} after ${(await reviewer.spent())?.calls} calls`);
}

const changes = await ws.history();
console.log(`changes by: ${changes.map(({ agent }) => agent).join(", ")}`);
await ws.close();
rmSync(root, { recursive: true });
