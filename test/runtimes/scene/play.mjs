// What every runtime and bundler is asked to do: open a workspace in memory,
// write, edit, search, compare. The answers are compared with Node's native ones.
import { MemoryBackend, openWorkspace } from "filewright";
import { createTwoFilesPatch, diffWords } from "filewright/diff";
import { merge3, planEdits } from "filewright/edit";

const calls = [
  ["write_file", { path: "src/made.ts", content: "export const made = 1;\nexport const näh = '日本';\n" }],
  ["edit_file", { path: "src/a.ts", edits: [{ old_text: "const a = 1", new_text: "const a = 2" }] }],
  ["edit_file", { path: "src/a.ts", edits: [{ old_text: "const missing = 1", new_text: "" }] }],
  ["read_file", { path: "src/a.ts" }],
  ["grep", { pattern: "n.h|const \\w+", path: "." }],
  ["grep", { pattern: "(", path: "." }],
  ["glob", { pattern: "**/*.ts" }],
  ["diff", { path_a: "src/a.ts", path_b: "src/made.ts" }],
  ["list_directory", { path: "src" }],
  ["apply_patch", { patch: "--- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n" }],
];

/** Plays the scene after `ready()`. */
export async function play() {
  const seed = { "/w/src/a.ts": "const a = 1;\r\nconst b = 2;\r\n", "/w/old.txt": "one\ntwo\n" };
  const backend = new MemoryBackend(seed, { now: () => 1_700_000_000_000 });
  const workspace = await openWorkspace({ backend, root: "/w" });
  const answers = [];
  for (const [tool, args] of calls) {
    const { ok, text, error } = await workspace.call(tool, args);
    answers.push({ tool, ok, text, code: error?.code });
  }
  await workspace.close();
  answers.push(createTwoFilesPatch("a", "b", "one\ntwo\n", "one\n2\n"));
  answers.push(diffWords("one two 日本", "one 2 日本"));
  answers.push(planEdits("caf\u00e9\n", [{ oldText: "cafe\u0301", newText: "tea" }]));
  answers.push(merge3("a\nb\n", "a\nc\n", "a\nd\n").text);
  return JSON.stringify(answers);
}
