// Opens and closes workspaces one after another, and prints what the process holds: one JSON line
// after the warm-up and one at the end. Run by close.slow.test.ts in a process of its own:
//
//   node test/workspace/open-close.mjs DIRECTORY COUNT
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";

/** Rounds after which the heap of the engine has its usual size. */
const WARM_UP = 200;

const [, , base, count] = process.argv;
const [root, stateDir] = [join(base, "tree"), join(base, "state")];
for (let directory = 0; directory < 20; directory++) {
  mkdirSync(join(root, `d${directory}`), { recursive: true });
  for (let file = 0; file < 20; file++) {
    writeFileSync(join(root, `d${directory}`, `f${file}.txt`), `hello ${directory} ${file}\n`.repeat(50));
  }
}

const facts = () => ({
  descriptors: readdirSync("/proc/self/fd").length,
  threads: readdirSync("/proc/self/task").length,
  rss: process.memoryUsage.rss(),
});

for (let round = 1; round <= Number(count); round++) {
  const ws = await openWorkspace({ root, stateDir });
  const results = [
    await ws.call("read_file", { path: "d1/f1.txt" }),
    await ws.call("grep", { pattern: "hello 3" }),
    await ws.call("write_file", { path: "new.txt", content: `${round}\n` }),
  ];
  await ws.close();
  const failed = results.find((result) => !result.ok);
  if (failed !== undefined) throw new Error(`round ${round}: ${failed.text}`);
  if (round === WARM_UP) console.log(JSON.stringify(facts()));
}
console.log(JSON.stringify(facts()));
