// Opens workspaces until one is refused, in a process with few descriptors, then follows the remedy. Prints one
// line of JSON: the refusal, and what stayed open. Run by open-many.test.ts:
//
//   node test/workspace/open-until.mjs DIRECTORY
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";

const [, , base] = process.argv;
const descriptors = () => readdirSync("/proc/self/fd").length;
const openNext = (number) => {
  const root = join(base, `root${number}`);
  mkdirSync(root);
  return openWorkspace({ root, stateDir: join(base, "state") });
};

// A first one, because modules and threads that are loaded once have descriptors as well.
await (await openNext("first")).close();
const start = descriptors();
const open = [];
let refusal;
while (refusal === undefined)
  await openNext(open.length).then(
    (ws) => open.push(ws),
    (error) => {
      refusal = error;
    },
  );
const { code, message } = refusal;
await open.pop().close();
await open.pop().close();
// A thread lets go of the roots a moment later.
const idle = async (most) => {
  for (let attempt = 0; attempt < 100 && descriptors() > most; attempt++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return descriptors();
};
// The remedy of the refusal works: after two were closed, another can be opened.
const next = await openNext("next");
await next.close();
for (const ws of open) await ws.close();
console.log(JSON.stringify({ code, message, isNextOpened: true, left: (await idle(start)) - start }));
