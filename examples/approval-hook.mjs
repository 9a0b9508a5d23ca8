// Who decides what an agent does: a rule that refuses, a hook that blocks, a
// reviewer who sees the diff, and an undo for what was approved too soon.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openWorkspace } from "filewright";
import { approvalHook } from "filewright/hooks";

const dir = mkdtempSync(join(tmpdir(), "filewright-example-"));
writeFileSync(join(dir, "config.ts"), "export const retries = 3;\n");
writeFileSync(join(dir, "schema.sql"), "create table users (id int);\n");

const ws = await openWorkspace({
  root: dir,
  rules: [{ path: "**/*.sql", decision: "deny" }],
  hooks: [
    approvalHook({
      when: ({ tool_name, args }) => tool_name === "delete" && args.recursive === true,
      ask: () => ({ approved: false, message: "Deleting a whole directory needs a person." }),
    }),
  ],
  // Everything that is left to be asked. A program shows this in its own way; the
  // bytes that are written are those that were shown, or the call is a CONFLICT.
  confirm: ({ title, fileDiff, risk }) => {
    console.log(`${title} (${risk} risk)\n${fileDiff.trimEnd()}`);
    return { outcome: "proceed_once", payload: { by: "reviewer" } };
  },
});

const denied = await ws.call("write_file", { path: "schema.sql", content: "drop table users;\n" });
console.log(`rule: ${denied.error?.code}`);
const blocked = await ws.call("delete", { path: ".", recursive: true });
console.log(`hook: ${blocked.text}`);

const edits = [{ old_text: "retries = 3", new_text: "retries = 5" }];
const edited = await ws.call("edit_file", { path: "config.ts", edits });
console.log(`reviewer: ${edited.ok ? edited.meta.approval?.outcome : edited.text}`);

await ws.undo(edited.meta.call_id ?? "");
console.log(`after the undo: ${readFileSync(join(dir, "config.ts"), "utf8").trim()}`);
await ws.close();
rmSync(dir, { recursive: true });
