// Patches fewer and fewer files by one call each until a call succeeds, in a process with few descriptors. Prints one line
// of JSON: for each number of files the files that are there afterwards and, of a call that failed, its text. Run by
// open-many.test.ts:
//
//   node test/workspace/patch-many.mjs DIRECTORY MOST
import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";

const [, , base, most] = process.argv;
const root = join(base, "root");
const outcomes = [];
let failure = "";
for (let count = Number(most); failure !== undefined && count > 0; count--) {
  mkdirSync(root);
  const ws = await openWorkspace({ root, stateDir: join(base, "state") });
  const added = (name) => `--- /dev/null\n+++ b/${name}\n@@ -0,0 +1 @@\n+x\n`;
  const patch = Array.from({ length: count }, (_, index) => added(`f${index}`)).join("");
  const { ok, text } = await ws.call("apply_patch", { patch });
  await ws.close();
  failure = ok ? undefined : text;
  outcomes.push({ count, there: readdirSync(root).length, failure });
  rmSync(root, { recursive: true });
}
console.log(JSON.stringify(outcomes));
