// Measures the WebAssembly module against native code on one thread, and against jsdiff. Texts are
// in memory, and copying them into the module is included. Also measures searches in a workspace of
// ten thousand files in memory against searches that read all of them.
import { createTwoFilesPatch } from "diff";
import { compareShortCalls, median, compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import { measureSearches, MAX_WARM_SEARCH_MS } from "../lib/memory-tree.mjs";
import { Skip } from "../lib/skip.mjs";
import { textAndEditedText, unrelatedTexts } from "../lib/texts.mjs";

export const title = "wasm: the WebAssembly engine against native code (one thread) and jsdiff";

/** The goal for texts. A goal below 1 allows the module to be slower than native code. */
const GOAL_TEXT_RATIO = 1 / 2.5;
/** The goal for searches of a literal text. */
const GOAL_LITERAL_SEARCH_RATIO = 1 / 6;

export async function* rows({ load }) {
  const native = await load("engine/index.node.js");
  const wasm = await load("engine/wasm-entry.node.js");
  try {
    await wasm.ready();
  } catch {
    throw new Skip("the module is not built (npm run build:wasm)");
  }
  const against = async (name, goal, body, measure = compareShortCalls) => {
    assertSameResult(name, body(wasm), body(native));
    if (measure === compareLongRuns) await runUntilOptimised(() => body(wasm));
    return {
      name,
      goal,
      peer: "native",
      ...(await measure(
        () => body(wasm),
        () => body(native),
      )),
    };
  };

  for (const [lines, edits] of [
    [100, 3],
    [1_000, 5],
    [5_000, 10],
  ]) {
    const texts = textAndEditedText(lines, edits);
    const name = `diff, ${lines.toLocaleString("en")} lines, ${edits} edits`;
    yield await against(name, GOAL_TEXT_RATIO, (engine) => engine.diff(...texts).text);
    yield {
      name,
      goal: 3,
      peer: "jsdiff",
      ...(await compareShortCalls(
        () => wasm.diff(...texts).text,
        () => createTwoFilesPatch("a/f", "b/f", ...texts, "", "", { context: 3 }),
      )),
    };
  }
  const rewritten = unrelatedTexts(2_000);
  yield await against(
    "diff, 2,000 lines rewritten",
    GOAL_TEXT_RATIO,
    (engine) => engine.diff(...rewritten).text,
    compareLongRuns,
  );

  const [text] = textAndEditedText(1_000, 1);
  const lines = text.split("\n");
  const old = lines.slice(500, 510).join("\n");
  const edit = (sent, match) => (engine) =>
    engine.planEdits(text, [{ oldText: sent, newText: old.replace("value505", "changed") }], { match }).text;
  yield await against("edit, 1,000 lines, exact", GOAL_TEXT_RATIO, edit(old, "exact"));
  yield await against(
    "edit, 1,000 lines, a slip",
    GOAL_TEXT_RATIO,
    edit(old.replace("compute", "comptue"), "fuzzy"),
  );

  const bytes = new TextEncoder().encode(unrelatedTexts(20_000)[0]);
  const count = (query) => (engine) => engine.grepText(bytes, query).matches.length;
  for (const [name, goal, query] of [
    [
      "grep, a literal that is not there",
      GOAL_LITERAL_SEARCH_RATIO,
      { pattern: "nowhere_to_be_found", regex: false },
    ],
    ["grep, a literal in a few lines", GOAL_LITERAL_SEARCH_RATIO, { pattern: "value777", regex: false }],
    ["grep, a regular expression", GOAL_TEXT_RATIO, { pattern: "value\\d+99 = compute\\(\\d{4}" }],
    ["grep, any case", GOAL_TEXT_RATIO, { pattern: "VALUE1234", case: "insensitive" }],
  ])
    yield await against(
      `${name}, ${(bytes.length / 1e6).toFixed(1)} MB`,
      goal,
      count(query),
      compareLongRuns,
    );

  // A compiled query is cached, so here no query is used twice.
  const asked = new Map();
  yield await against("grep, a new regular expression each time", GOAL_TEXT_RATIO, (engine) => {
    const number = (asked.get(engine) ?? 0) + 1;
    asked.set(engine, number);
    return engine.grepText(bytes, { pattern: `value\\d+99 = compute\\(\\d{4}|nowhere${number}` }).total;
  });

  yield await memorySearchRow(load);
}

/** Runs the searches in this process with the engine that a page would use. */
async function memorySearchRow(load) {
  const { engine, setEngine } = await load("engine/current.js");
  const { makeEngine } = await load("engine/engine.js");
  const { loadWasm } = await load("engine/load.node.js");
  const { MemoryBackend, openWorkspace } = await load("index.node.js");
  const { grepBackend } = await load("backends/search/search.js");
  const before = engine();
  setEngine(makeEngine(loadWasm().binding, { kind: "wasm" }));
  try {
    return warmSearchRow(await measureSearches({ MemoryBackend, openWorkspace, grepBackend }));
  } finally {
    setEngine(before);
  }
}

/** Returns the row of the times that {@link measureSearches} has measured. */
export function warmSearchRow({ ours, peer }) {
  const [ours_ms, peer_ms] = [median(ours), median(peer)];
  return {
    name: "an identifier in 10,000 files of memory, warm",
    peer: "reading all",
    ...{ ours_ms, peer_ms, faster: peer_ms / ours_ms, rounds: ours.length },
    ...{ limit_ms: MAX_WARM_SEARCH_MS, met: ours_ms < MAX_WARM_SEARCH_MS },
  };
}

/** Calls `body` until V8 has optimised the module's code, which it does on another thread. */
async function runUntilOptimised(body) {
  for (let round = 0; round < 30; round++) {
    body();
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
