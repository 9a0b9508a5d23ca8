// Measures the disk without the native addon (`NodeBackend`, the WebAssembly engine): searches against a loop that only
// opens, reads and closes the same files, pages against `fs.promises.readFile`, and the longest time for which a
// search blocks the event loop.
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertSameResult, compareLongRuns, compareShortCalls } from "../lib/measure.mjs";
import { makeLinuxTree, makeSmallTree } from "../lib/corpora.mjs";
import { Skip } from "../lib/skip.mjs";

export const title = "node-disk: the disk without the addon, against node:fs";

/** The goals: a search takes at most 6 times what opening, reading and closing takes, a page at most twice. */
const [GOAL_SEARCH_RATIO, GOAL_PAGE_RATIO] = [1 / 6, 1 / 2];
/** The maximum time in milliseconds for which a search may block the event loop. */
const MAX_STALL_MS = 50;
const ROUNDS = 9;

const namedQueries = (full) => [
  ["a rare literal", full ? "pm_runtime_get_if_in_use" : "tryGetModuleNameFromFile", { regex: false }],
  ["a literal that is nowhere", "zqxj_absent_everywhere", { regex: false }],
  ["an identifier as a word", full ? "ext4_inode_info" : "createProgram", { word: true, regex: false }],
  [
    "a regex with a literal",
    full ? "static\\s+int\\s+\\w+_probe\\(struct usb_" : "function\\s+is\\w+Declaration\\(",
  ],
  ["letters of either case", full ? "PM_Resume" : "TYPESCRIPT", { case: "insensitive", regex: false }],
];

export async function* rows({ load, full }) {
  const { NodeBackend, SandboxPolicy } = await load("index.node.js");
  const { findBackend, grepBackend } = await load("backends/search/search.js");
  const restore = await useWasmEngine(load);
  const tree = process.env.FILEWRIGHT_BENCH_TREE ?? (full ? makeLinuxTree() : makeSmallTree());
  const backend = new NodeBackend({ policy: SandboxPolicy.readOnly(tree) });
  try {
    const { paths } = await findBackend(backend, tree, { pattern: "**" });
    const files = paths.map((path) => join(tree, path));
    const readAll = () => files.reduce((bytes, path) => bytes + readWhole(path), 0);
    for (const [name, pattern, options] of namedQueries(full)) {
      const search = () => grepBackend(backend, tree, { pattern, ...options });
      const found = await search();
      assertSameResult("files", found.filesSearched + found.skippedBinary, files.length);
      yield {
        name: `${name} in ${files.length.toLocaleString("en")} files (${found.totalMatches})`,
        peer: "open, read, close",
        goal: GOAL_SEARCH_RATIO,
        ...(await compareLongRuns(search, readAll, { rounds: ROUNDS })),
      };
    }
    yield await stallRow("longest block of the event loop by a search", () =>
      grepBackend(backend, tree, { pattern: "zqxj_absent_everywhere", regex: false }),
    );
    yield await stallRow("longest block of the event loop by `find`", () =>
      findBackend(backend, tree, { pattern: "**" }),
    );
    yield await pageRow(NodeBackend);
  } finally {
    backend.close();
    restore();
  }
}

/** Makes the library use the WebAssembly engine until the returned function is called. */
async function useWasmEngine(load) {
  const { engine, setEngine } = await load("engine/current.js");
  const { makeEngine } = await load("engine/engine.js");
  const { loadWasm } = await load("engine/load.node.js");
  const wasm = loadWasm();
  if ("reason" in wasm) throw new Skip(wasm.reason);
  const before = engine();
  setEngine(makeEngine(wasm.binding, { kind: "wasm" }));
  return () => setEngine(before);
}

/** Reads a file without a check. Returns the number of its bytes. */
function readWhole(path) {
  const fd = openSync(path, "r");
  try {
    return readFileSync(fd).length;
  } finally {
    closeSync(fd);
  }
}

/** Measures the longest time between two turns of a timer of one millisecond: the median of some runs. */
async function stallRow(name, run) {
  const longest = [];
  for (let round = 0; round < 5; round++) {
    let last = performance.now();
    let most = 0;
    const timer = setInterval(() => {
      const now = performance.now();
      most = Math.max(most, now - last);
      last = now;
    }, 1);
    await run();
    clearInterval(timer);
    longest.push(most);
  }
  const middle = longest.sort((a, b) => a - b)[2];
  return { name, met: middle < MAX_STALL_MS, note: `${middle.toFixed(0)} ms` };
}

async function pageRow(NodeBackend) {
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const backend = new NodeBackend();
  try {
    const path = join(folder, "page.txt");
    writeFileSync(path, "0123456789abcdef 0123456789abcdef 0123456789abcdef 0123456789ab\n".repeat(64));
    return {
      name: "a page of 4 KiB",
      peer: "fs.promises.readFile",
      goal: GOAL_PAGE_RATIO,
      ...(await compareShortCalls(
        () => backend.readLines(path),
        () => readFile(path),
        { rounds: ROUNDS },
      )),
    };
  } finally {
    backend.close();
    rmSync(folder, { recursive: true });
  }
}
