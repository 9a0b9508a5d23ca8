// How long one call holds the event loop at most, and how soon a cancelled call ends.
//
// A case is one large call on the disk or in memory. It is made several times; the table shows the
// smallest of the longest blocks, since other work on the machine only makes a block longer. What a
// block waited for a processor is subtracted where the kernel tells it. Beside the calls, an idle
// loop is measured the same way: what it shows is the noise of the machine.
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The longest that one call may hold the event loop in one go, in milliseconds. */
const MAX_BLOCK_MS = 20;
/** The longest from a cancellation to the end of the call, in milliseconds. */
const MAX_CANCEL_MS = 100;
/** When a call is cancelled, in milliseconds from its beginning. */
const CANCEL_AFTER_MS = 50;
/** Rounds of a call that are measured, and rounds after them in which it is cancelled. */
const REPEATS = 5;
const CANCELLED_ROUNDS = 2;

const lines = (count, line) => Array.from({ length: count }, (_, number) => line(number)).join("");
const tree = (directories, files, name = "tree") =>
  Object.fromEntries(
    Array.from({ length: directories * files }, (_, number) => [
      `${name}/d${String(Math.floor(number / files)).padStart(4, "0")}/file${number % files}.txt`,
      `${number}\n`,
    ]),
  );
const flat = (files, name = "flat") =>
  Object.fromEntries(
    Array.from({ length: files }, (_, number) => [`${name}/file${number}.txt`, `${number}\n`]),
  );
const deep = (levels, name = "deep") => {
  const at = Array.from({ length: levels }, (_, level) => `l${level}`);
  return Object.fromEntries(at.map((_, level) => [`${name}/${at.slice(0, level + 1).join("/")}/f`, "x\n"]));
};
const twoTexts = (count) => ({
  "old.txt": lines(count, (n) => `line ${n} of the text\n`),
  "new.txt": lines(count, (n) => (n % 10 === 3 ? `changed ${n} of the text\n` : `line ${n} of the text\n`)),
});
const patchOf = (files) =>
  lines(
    files,
    (n) => `--- a/flat/file${n}.txt\n+++ b/flat/file${n}.txt\n@@ -1 +1 @@\n-${n}\n+changed ${n}\n`,
  );

/**
 * The rows: the files of the workspace, and the call to measure, or a change whose undo is measured. `fresh`: the call changes the files, so each
 * call gets new ones.
 * @type {Record<string, { files: () => Record<string, string>, tool?: string, args?: () => object, fresh?: boolean, undoes?: (ws: any) => Promise<any> }>}
 */
const CALLS = {
  "grep, 3,000,000 lines, 100,000 wanted": {
    files: () => ({ "many.txt": "a\n".repeat(3_000_000) }),
    tool: "grep",
    args: () => ({ pattern: "a", max_results: 100_000 }),
  },
  "grep, 3,000,000 lines, 1,000,000 wanted": {
    files: () => ({ "many.txt": "a\n".repeat(3_000_000) }),
    tool: "grep",
    args: () => ({ pattern: "a", max_results: 1_000_000 }),
  },
  "grep with context, 1,000,000 lines": {
    files: () => ({ "many.txt": "a\n".repeat(1_000_000) }),
    tool: "grep",
    args: () => ({ pattern: "a", context: 2, max_results: 1_000_000 }),
  },
  "grep across lines, 1,000,000 lines": {
    files: () => ({ "many.txt": "a\nb\n".repeat(500_000) }),
    tool: "grep",
    args: () => ({ pattern: "a\\nb", multiline: true, max_results: 1_000_000 }),
  },
  "grep by definitions, 1,000,000 lines": {
    files: () => ({ "many.txt": "let a\n".repeat(1_000_000) }),
    tool: "grep",
    args: () => ({ pattern: "a", rank: "definitions", max_results: 1_000_000 }),
  },
  "grep of 50,000 files, each with a hit": {
    files: () => tree(500, 100),
    tool: "grep",
    args: () => ({ pattern: "\\d", max_results: 1_000_000 }),
  },
  "grep of 50,000 files, paths": {
    files: () => tree(500, 100),
    tool: "grep",
    args: () => ({ pattern: "\\d", output: "files", max_results: 1_000_000 }),
  },
  "glob of 200,000 names": {
    files: () => tree(2000, 100),
    tool: "glob",
    args: () => ({ pattern: "**", limit: 100_000 }),
  },
  "glob of 100,000 names in one directory, newest first": {
    files: () => flat(100_000),
    tool: "glob",
    args: () => ({ pattern: "*.txt", sort: "mtime", limit: 100_000 }),
  },
  "find_files in 200,000 names": {
    files: () => tree(2000, 100),
    tool: "find_files",
    args: () => ({ query: "d9file7" }),
  },
  "list_directory of 50,000 entries": {
    files: () => flat(50_000),
    tool: "list_directory",
    args: () => ({ path: "flat", limit: 100_000 }),
  },
  "list_directory of a tree of 50,000 entries": {
    files: () => tree(500, 100),
    tool: "list_directory",
    args: () => ({ path: "tree", depth: 32, limit: 100_000 }),
  },
  "read_many_files of 5,000 files": {
    files: () => flat(5000),
    tool: "read_many_files",
    args: () => ({ paths: ["flat/*.txt"], max_files: 10_000 }),
  },
  "read_file of 20 MB": {
    files: () => ({ "large.txt": lines(1_000_000, (n) => `line ${n} of text\n`) }),
    tool: "read_file",
    args: () => ({ path: "large.txt", max_lines: 1_000_000 }),
  },
  "diff of 100,000 lines, unified": {
    files: () => twoTexts(100_000),
    tool: "diff",
    args: () => ({ a: "old.txt", b: "new.txt" }),
  },
  "diff of 100,000 lines, json": {
    files: () => twoTexts(100_000),
    tool: "diff",
    args: () => ({ a: "old.txt", b: "new.txt", format: "json" }),
  },
  "diff of 100,000 lines, html": {
    files: () => twoTexts(100_000),
    tool: "diff",
    args: () => ({ a: "old.txt", b: "new.txt", format: "html" }),
  },
  "batch of 100 edits": {
    files: () => flat(100),
    tool: "batch",
    args: () => ({
      operations: Array.from({ length: 100 }, (_, n) => ({
        tool: "edit_file",
        args: { path: `flat/file${n}.txt`, old_text: `${n}\n`, new_text: `changed ${n}\n` },
      })),
    }),
    fresh: true,
  },
  "delete of 20,000 files in one directory": {
    files: () => flat(20_000),
    tool: "delete",
    args: () => ({ path: "flat", recursive: true }),
    fresh: true,
  },
  "delete of 20,000 files in 200 directories": {
    files: () => tree(200, 100),
    tool: "delete",
    args: () => ({ path: "tree", recursive: true }),
    fresh: true,
  },
  "delete of 800 levels": {
    files: () => deep(800),
    tool: "delete",
    args: () => ({ path: "deep", recursive: true }),
    fresh: true,
  },
  "copy of 20,000 files": {
    files: () => tree(200, 100),
    tool: "copy",
    args: () => ({ source: "tree", destination: "copied" }),
    fresh: true,
  },
  "copy of 20,000 files in one directory": {
    files: () => flat(20_000),
    tool: "copy",
    args: () => ({ source: "flat", destination: "copied" }),
    fresh: true,
  },
  "copy of 800 levels": {
    files: () => deep(800),
    tool: "copy",
    args: () => ({ source: "deep", destination: "copied" }),
    fresh: true,
  },
  "move of 20,000 files": {
    files: () => tree(200, 100),
    tool: "move",
    args: () => ({ source: "tree", destination: "moved" }),
    fresh: true,
  },
  "undo of a delete of 5,000 files": {
    files: () => tree(50, 100),
    undoes: (ws) => ws.call("delete", { path: "tree", recursive: true }),
    fresh: true,
  },
  "undo of a patch of 1,000 files": {
    files: () => flat(1000),
    undoes: (ws) => ws.call("apply_patch", { patch: patchOf(1000) }),
    fresh: true,
  },
  "apply_patch with 1,000 files": {
    files: () => flat(1000),
    tool: "apply_patch",
    args: () => ({ patch: patchOf(1000) }),
    fresh: true,
  },
  "edit_file of 20 MB": {
    files: () => ({ "large.txt": lines(1_000_000, (n) => `line ${n} of the text\n`) }),
    tool: "edit_file",
    args: () => ({ path: "large.txt", old_text: "line 777777 of the text\n", new_text: "another line\n" }),
    fresh: true,
  },
  "write_file of 20 MB": {
    files: () => ({ "large.txt": lines(1_000_000, (n) => `line ${n} of the text\n`) }),
    tool: "write_file",
    args: () => ({ path: "large.txt", content: lines(1_000_000, (n) => `line ${n} of a text\n`) }),
    fresh: true,
  },
};

/** @type {import("../../scripts/lib/deep-kind.mjs").DeepKind} */
export default {
  description:
    "large calls: the longest block of the event loop, and the time from a cancellation to the end",
  count: 2 * Object.keys(CALLS).length,
  // The times are those of the machine, so CI leaves this kind out.
  share: 0,
  run: ({ count, isOver }) => measureAll({ count, isOver }),
};

/** Measures the calls whose row contains `only`, and prints the table. */
export async function measureAll({ count = Infinity, isOver = () => false, only = "", repeats = REPEATS }) {
  const failures = [];
  let cases = 0;
  console.log(`  ${"call".padEnd(58)} place    took ms  block ms  idle ms  cancelled ms`);
  for (const [name, call] of Object.entries(CALLS)) {
    for (const place of ["disk", "memory"]) {
      const row = `${name}, ${place}`;
      if (!row.includes(only)) continue;
      if (cases >= count || isOver()) return { cases, failures };
      cases += 1;
      const { took, block, idle, cancelled, refused } = await measure(call, place, repeats);
      const shown = (number) => (number === undefined ? "-" : number.toFixed(1));
      console.log(
        `  ${name.padEnd(58)} ${place.padEnd(6)} ${shown(took).padStart(9)} ${shown(block).padStart(9)} ` +
          `${shown(idle).padStart(8)} ${shown(cancelled).padStart(13)}${refused === undefined ? "" : `  ${refused}`}`,
      );
      if (refused !== undefined) failures.push(`${row}: ${refused}`);
      if (block > MAX_BLOCK_MS) failures.push(`${row}: the event loop is held for ${block.toFixed(1)} ms`);
      if (cancelled > MAX_CANCEL_MS)
        failures.push(`${row}: a cancelled call ends after ${cancelled.toFixed(1)} ms`);
    }
  }
  return { cases, failures };
}

async function measure(call, place, repeats) {
  const given = call.files();
  let made = await make(given, place);
  const figures = { took: [], block: [], idle: [], cancelled: [] };
  let refused;
  try {
    for (let round = 0; round < repeats + CANCELLED_ROUNDS; round++) {
      if (call.fresh && round > 0) {
        await made.end();
        made = await make(given, place);
      }
      const run = await prepared(call, made.ws);
      collectGarbage();
      await sleep(20);
      if (round < repeats) {
        const started = performance.now();
        const { longest, value } = await watched(() => run());
        figures.took.push(performance.now() - started);
        figures.block.push(longest);
        if (!value.ok) refused = value.text.split("\n", 1)[0];
        figures.idle.push((await watched(() => sleep(Math.min(500, figures.took.at(-1))))).longest);
      } else {
        const cancel = new AbortController();
        let cancelledAt;
        const timer = setTimeout(() => {
          cancelledAt = performance.now();
          cancel.abort();
        }, CANCEL_AFTER_MS);
        await run({ signal: cancel.signal });
        clearTimeout(timer);
        if (cancelledAt !== undefined) figures.cancelled.push(performance.now() - cancelledAt);
      }
    }
  } finally {
    await made.end();
  }
  const least = (numbers) => (numbers.length === 0 ? undefined : Math.min(...numbers));
  const { took, block, idle, cancelled } = figures;
  return { took: least(took), block: least(block), idle: least(idle), cancelled: least(cancelled), refused };
}

/** Returns the call to measure: a tool's, or the undo of a change, which is made now. */
async function prepared({ tool, args, undoes }, ws) {
  if (undoes === undefined) {
    const given = args();
    return (options) => ws.call(tool, given, options);
  }
  const { meta } = await undoes(ws);
  return (options) =>
    ws.undo(meta.call_id, options).then(
      () => ({ ok: true }),
      (error) => ({ ok: false, text: error.message }),
    );
}

/** Opens a workspace with files; `end` closes it and deletes the files. */
async function make(files, place) {
  const { openWorkspace, MemoryBackend } = await import("../../dist/cli/library.js");
  if (place === "memory") {
    const seed = Object.fromEntries(Object.entries(files).map(([path, text]) => [`/tree/${path}`, text]));
    const ws = await openWorkspace({ root: "/tree", backend: new MemoryBackend(seed), guard: "off" });
    return { ws, end: () => ws.close() };
  }
  const base = realpathSync(mkdtempSync(join(tmpdir(), "filewright-event-loop-")));
  const root = join(base, "root");
  const known = new Set();
  for (const [path, text] of Object.entries(files)) {
    const directory = dirname(join(root, path));
    if (!known.has(directory)) mkdirSync(directory, { recursive: true });
    known.add(directory);
    writeFileSync(join(root, path), text);
  }
  const ws = await openWorkspace({ root, stateDir: join(base, "state"), guard: "off" });
  const end = async () => {
    await ws.close();
    rmSync(base, { recursive: true, force: true });
  };
  return { ws, end };
}

/** Runs something, and gives how long it held the event loop at most (ms). */
async function watched(run) {
  let longest = 0;
  let last = clock();
  const look = () => {
    const now = clock();
    longest = Math.max(longest, now - last - 1);
    last = now;
  };
  const timer = setInterval(look, 1);
  const value = await run();
  look();
  clearInterval(timer);
  return { longest, value };
}

/** Where the kernel says how long this thread waited for a processor. */
const schedule = (() => {
  try {
    return openSync(`/proc/self/task/${process.pid}/schedstat`, "r");
  } catch {
    return undefined;
  }
})();
if (schedule !== undefined) process.once("exit", () => closeSync(schedule));
const scheduleText = Buffer.alloc(100);

/** Milliseconds, without those that this thread waited for a processor. */
function clock() {
  const now = performance.now();
  if (schedule === undefined) return now;
  const length = readSync(schedule, scheduleText, 0, scheduleText.length, 0);
  const [, waited] = scheduleText.toString("latin1", 0, length).split(" ");
  return now - Number(waited) / 1e6;
}

const collectGarbage = (() => {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc");
})();
