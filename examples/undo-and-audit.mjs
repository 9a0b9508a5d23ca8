// A record of every call, and changes that are taken back: the audit log names the agent, the files and
// the hashes before and after; the history has the contents.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";
import { auditFile } from "filewright/hooks";

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
const root = join(dir, "project");
mkdirSync(root);
writeFileSync(join(root, "config.ts"), "export const retries = 3;\n");

// The log and the state lie outside the root: no tool can reach them.
const log = join(dir, "audit.jsonl");
const ws = await openWorkspace({
  root,
  stateDir: join(dir, "state"),
  agent: "helper",
  observers: [await auditFile(log, { reads: false })],
});

await ws.call("edit_file", { path: "config.ts", old_text: "retries = 3", new_text: "retries = 5" });
await ws.call("batch", {
  operations: [
    { tool: "write_file", args: { path: "notes.md", content: "draft\n" } },
    { tool: "move", args: { source: "config.ts", destination: "src/config.ts" } },
  ],
});
await ws.call("write_file", { path: "../outside.txt", content: "x" }); // refused, and logged

// Host code sees the changes of all agents, the newest first.
const [batch, edit] = await ws.history();
for (const { tool, agent, paths } of [batch, edit]) console.log(`${tool} by ${agent}: ${paths.join(", ")}`);

try {
  await ws.undo(edit.callId); // a later change moved the file
} catch (error) {
  console.log(`too early: ${error.code}`);
}
await ws.undo(batch.callId);
await ws.undo(edit.callId);
console.log(`after both: ${readFileSync(join(root, "config.ts"), "utf8").trim()}`);

await ws.close(); // closes the log
for (const line of readFileSync(log, "utf8").trim().split("\n")) {
  const { tool, ok, code, effects = [] } = JSON.parse(line);
  console.log(`log: ${tool} ${ok ? `changed ${effects.length}` : code}`);
}
rmSync(dir, { recursive: true });
