// On a command line: workers give the same results as the main thread, and a cancelled call ends.
import {
  applyPatchAsync,
  diffAsync,
  FilewrightError,
  grepTextAsync,
  planEditsBytesAsync,
  readPageAsync,
  ready,
} from "filewright/engine";
import { useWorkers } from "filewright/workers";
import { MemoryBackend, openWorkspace } from "filewright";

const text = (salt) =>
  new TextEncoder().encode(
    Array.from({ length: 6000 }, (_, i) => `some line ${(i * 7919 + salt) % 10_007} of text\n`).join(""),
  );
const [before, after] = [text(0), text(5)];
const code = (error) => (error instanceof FilewrightError ? error.code : String(error));

async function play() {
  const backend = new MemoryBackend({ "/a.txt": before, "/b.txt": after, "/c.txt": "line 7\n" });
  const workspace = await openWorkspace({ backend, root: "/" });
  const patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-some line 0 of text\n+other\n";
  const edits = [{ oldText: "some line 7919 of", newText: "a" }];
  const answers = [
    await grepTextAsync(before, { pattern: "line 77\\d of" }),
    await grepTextAsync(before, { pattern: "(" }).catch(code),
    (await diffAsync(before, after)).added,
    (await planEditsBytesAsync(before, edits)).replacements,
    (await applyPatchAsync({ f: before }, patch)).map(({ path }) => path),
    (await readPageAsync(before, { startLine: 4000, maxLines: 2 })).content,
    (await workspace.call("grep", { pattern: "line 7\\d?\\b" })).text,
  ];
  await workspace.close();
  return JSON.stringify(answers);
}

await ready();
const inPlace = await play();
const workers = await useWorkers({ size: 1 });
const inWorkers = await play();
const { count, reason } = workers;

const controller = new AbortController();
const { signal } = controller;
const slow = grepTextAsync(before, { pattern: "(some|line|of|text)[^x]{1,60}zz", signal }).catch(code);
const next = grepTextAsync(before, { pattern: "line 7 " });
controller.abort();
const cancelled = await slow;
const { total } = await next;
workers.close();
const same = inPlace === inWorkers;
const answers = JSON.parse(inPlace);
console.log(JSON.stringify({ same, answers, count, reason, cancelled, total }));
