// Opens many workspaces at once and uses each, in a process with few descriptors. Prints one line of
// JSON: what the process holds open, and the calls that failed. Run by open-many.test.ts:
//
//   node test/workspace/open-many.mjs DIRECTORY HELD COUNT own|same at-once|one-by-one
//
// HELD is the number of descriptors that an open workspace may keep.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../dist/cli/library.js";

const [, , base, held, count, states, order] = process.argv;
const places = Array.from({ length: Number(count) }, (_, index) => {
  const root = join(base, `root${index}`);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  return { root, stateDir: join(base, states === "own" ? `state${index}` : "state") };
});
/** The number of open descriptors, less that by which the directory is read. */
const descriptors = () => readdirSync("/proc/self/fd").length - 1;
/** The same once no lock waits for another change, and each thread that ends has ended. */
const idle = async (most, attempts = 100) => {
  for (let attempt = 0; attempt < attempts && descriptors() > most; attempt++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return descriptors();
};
const failed = [];
const each = async (run) => {
  const use = async (item, index) => {
    const { ok, text } = (await run(item, index)) ?? { ok: true };
    if (!ok) failed.push(text);
  };
  if (order === "at-once") await Promise.all(places.map(use));
  else for (const [index, item] of places.entries()) await use(item, index);
};

// A first workspace, because modules and threads that are loaded once have descriptors as well.
const first = await openWorkspace(places[0]);
await first.call("write_file", { path: "first.txt", content: "1\n" });
await first.call("grep", { pattern: "one" });
await first.close();
const start = await idle(0, 25);
/** One more for all together: the root of the file system. */
const most = start + (Number(count) + 1) * Number(held);

const open = [];
await each(async (place, index) => {
  open[index] = await openWorkspace(place);
});
const opened = await idle(most);
await each((_, index) => open[index].call("read_file", { path: "a.txt" }));
const read = await idle(most);
await each((_, index) => open[index].call("write_file", { path: "b.txt", content: `${index}\n` }));
const written = await idle(most);
await each((_, index) => open[index].call("edit_file", { path: "a.txt", old_text: "one", new_text: "1" }));
await each((_, index) => open[index].call("grep", { pattern: "two" }));
await each(async (_, index) => {
  const [change] = await open[index].history();
  if (change === undefined) return { ok: false, text: "no change to undo" };
  await open[index].undo(change.callId);
});
const used = await idle(most);
await each((_, index) => open[index].close());
console.log(JSON.stringify({ start, most, opened, read, written, used, closed: await idle(start), failed }));
