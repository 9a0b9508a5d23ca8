// Measures the rows of the table "Measured" in the README: whole calls through the entries of the
// package that users import. Each row can be measured alone: `npm run bench -- --only readme --row
// KEY`.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createTwoFilesPatch as theirPatch } from "diff";
import { gigabyteTextFile, makeSmallTree } from "../lib/corpora.mjs";
import { compareShortCalls, median, compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import { runRipgrep } from "../lib/ripgrep.mjs";
import { Skip } from "../lib/skip.mjs";
import { textAndEditedText } from "../lib/texts.mjs";
import { measureFileCall } from "./calls.mjs";
import { bothServers, largeFileEditRows, smallCallRows, serverStartRows } from "./mcp.mjs";

export const title = "readme: the rows of the README, whole calls as users make them";

/**
 * Names of functions in the tree, each in fewer lines than one answer holds. Each side searches for
 * each once.
 */
const SEARCHED_NAMES = [
  "createProgram",
  "isAsyncIterable",
  "emitHelper",
  "subMonths",
  "tryGetModuleNameFromFile",
  "createSourceFile",
  "bindCallback",
  "addWeeks",
  "moduleSpecifierResolutionLimit",
];

const MEASURE_BY_ROW_KEY = {
  "search-index": compareIndexedSearch,
  "search-files": compareUnindexedSearch,
  glob: compareNameSearch,
  reads: () => measureFileCall("read-50"),
  "replace-file": () => measureFileCall("write-unrecorded"),
  "page-deep": compareDeepPage,
  "diff-small": (context) => compareDiffs(context, "diff", 100, 3),
  "diff-large": (context) => compareDiffs(context, "diff", 5_000, 1_000),
  "diff-wasm": (context) => compareDiffs(context, "wasm", 1_000, 5),
  "mcp-start": (context) => rowOfServerBenchmark(context, serverStartRows, "start to initialized"),
  "mcp-edit": (context) => rowOfServerBenchmark(context, smallCallRows, "edit_file, one of 2,000 lines"),
  "mcp-edit-large": (context) => rowOfServerBenchmark(context, largeFileEditRows, "edit_file, one line of"),
};

/** The keys of the rows, for `--row` and for `--help`. */
export const rowKeys = Object.keys(MEASURE_BY_ROW_KEY);

export async function* rows(context) {
  for (const [key, measure] of Object.entries(MEASURE_BY_ROW_KEY)) {
    if (context.row !== undefined && context.row !== key) continue;
    try {
      const row = await measure(context);
      yield { ...row, name: `${key}: ${row.name}` };
    } catch (error) {
      if (!(error instanceof Skip)) throw error;
      yield { name: key, skipped: error.message };
    }
  }
}

/**
 * The time in milliseconds that a search waits for the index of the tree to be built, which an
 * earlier search has started.
 */
const MAX_INDEX_WAIT_MS = 10_000;

/**
 * Returns a workspace over the tree and a function that searches it. The function fails if the
 * answer does not hold all matches.
 */
async function openSearchedTree(load, tree, options = {}) {
  const { openWorkspace } = await load("index.node.js");
  const ws = await openWorkspace({ root: tree, readOnly: true, ...options });
  const grep = async (args) => {
    const found = await ws.call("grep", { max_results: 2_000, max_line_chars: 2_000, ...args });
    if (!found.ok || found.data.truncated) throw new Error(`not all of it: ${found.text.slice(0, 200)}`);
    return found;
  };
  return { ws, grep };
}

/**
 * Searches until the workspace has started to build an index by itself, and waits until it is
 * built.
 */
async function waitForIndex(grep) {
  for (let count = 0; count < 100; count++) {
    const { data } = await grep({ pattern: `zqxj_absent_${count}`, regex: false });
    if (data.fresh === "watch") return new Promise((done) => setTimeout(done, MAX_INDEX_WAIT_MS));
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Skip("no index was made");
}

const ripgrepRunner = (tree, flags, pattern) => () =>
  runRipgrep(tree, ["--no-heading", "--with-filename", "--line-number", ...flags, "-e", pattern, "."]);
const lineCount = (output) => output.split("\n").filter(Boolean).length;

async function compareIndexedSearch({ load }) {
  const tree = makeSmallTree();
  const { ws, grep } = await openSearchedTree(load, tree);
  try {
    await waitForIndex(grep);
    const [ours, peers] = [[...SEARCHED_NAMES], [...SEARCHED_NAMES]];
    const found = [];
    const timed = await compareLongRuns(
      async () => found.push((await grep({ pattern: ours.pop(), word: true, regex: false })).data),
      async () =>
        found.push(lineCount(await ripgrepRunner(tree, ["--word-regexp", "--fixed-strings"], peers.pop())())),
      { rounds: SEARCHED_NAMES.length, warm: false },
    );
    // Both sides run alternately, so that their results can be compared in pairs.
    const lines = found.map((one) => (typeof one === "number" ? one : one.total_matches));
    for (let at = 0; at < lines.length; at += 2) assertSameResult("lines", lines[at], lines[at + 1]);
    return { name: `${SEARCHED_NAMES.length} words, each asked once`, peer: "ripgrep 15 process", ...timed };
  } finally {
    await ws.close();
  }
}

async function compareUnindexedSearch({ load }) {
  const tree = makeSmallTree();
  const { ws, grep } = await openSearchedTree(load, tree, { index: "off" });
  const pattern = "function\\s+is\\w+Declaration\\(";
  try {
    const peer = ripgrepRunner(tree, [], pattern);
    assertSameResult("lines", (await grep({ pattern })).data.total_matches, lineCount(await peer()));
    return {
      name: "a regular expression, no index",
      peer: "ripgrep 15 process",
      ...(await compareLongRuns(() => grep({ pattern }), peer, { rounds: 9 })),
    };
  } finally {
    await ws.close();
  }
}

async function compareNameSearch({ load }) {
  const tree = makeSmallTree();
  const { ws, grep } = await openSearchedTree(load, tree);
  const pattern = "rxjs/src/**/*.ts";
  try {
    await waitForIndex(grep);
    const ours = async () => {
      const found = await ws.call("glob", { pattern, limit: 2_000 });
      if (!found.ok || found.data.truncated) throw new Error(found.text.slice(0, 200));
      return found.data.matches;
    };
    const peer = () => runRipgrep(tree, ["--files", `--glob=/${pattern}`]);
    assertSameResult("names", (await ours()).length, lineCount(await peer()));
    return { name: pattern, peer: "ripgrep --files", ...(await compareLongRuns(ours, peer, { rounds: 9 })) };
  } finally {
    await ws.close();
  }
}

async function compareDeepPage({ root }) {
  const path = gigabyteTextFile();
  const page = JSON.stringify({ start_line: 9_000_000 });
  const measure = (who) => {
    const script = join(root, "bench/lib/page-child.mjs");
    const child = spawnSync(process.execPath, [script, who, path, page], { encoding: "utf8" });
    if (child.status !== 0) throw new Error(child.stderr.slice(0, 500));
    return JSON.parse(child.stdout).ms;
  };
  const samples = [1, 2, 3].map(() => ({ ours: measure("ours"), peer: measure("buffer") }));
  return {
    name: "200 lines at line 9,000,000 of 1 GB, first page",
    peer: "a loop over Buffers",
    ours_ms: median(samples.map(({ ours }) => ours)),
    peer_ms: median(samples.map(({ peer }) => peer)),
    faster: median(samples.map(({ ours, peer }) => peer / ours)),
  };
}

async function compareDiffs({ load }, entry, lines, edits) {
  const ours =
    entry === "diff"
      ? (await load("diff/index.node.js")).createTwoFilesPatch
      : await compareWasmDiff(await load("engine/wasm-entry.node.js"));
  const texts = textAndEditedText(lines, edits);
  const make = (patch) => () => patch("a/f", "b/f", ...texts, undefined, undefined, { context: 3 });
  const measure = edits > 100 ? compareLongRuns : compareShortCalls;
  if (entry === "diff") assertSameResult("patches", make(ours)(), make(theirPatch)());
  return {
    name: `${lines.toLocaleString("en")} lines, ${edits.toLocaleString("en")} edits, strings`,
    peer: "jsdiff 9 createTwoFilesPatch",
    ...(await measure(make(ours), make(theirPatch))),
  };
}

async function compareWasmDiff(wasm) {
  try {
    await wasm.ready();
  } catch {
    throw new Skip("the module is not built (npm run build:wasm)");
  }
  return (_from, _to, before, after) => wasm.diff(before, after).text;
}

/** Returns one of the rows of `mcp.mjs`, which compare two servers over pipes. */
async function rowOfServerBenchmark({ root }, measure, name) {
  const { ours, theirs, scratch, end } = bothServers(root);
  try {
    const result = measure(ours, theirs, scratch);
    if (result instanceof Promise) return await result;
    for await (const row of result) if (row.name.startsWith(name)) return row;
    throw new Error(`no row ${name}`);
  } finally {
    end();
  }
}
