// Measures edits against what agents use: the edit of the MCP reference server, `indexOf` and
// replace, and jsdiff's patch with a fuzz factor if the old text has a typing error. Then, without
// a peer, the edits that take longest.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyPatch } from "diff";
import { compareShortCalls, compareLongRuns, assertSameResult } from "../lib/measure.mjs";
import * as worstEdits from "../lib/worst-edits.mjs";

export const title = "edit: one replacement, the diff with it";

const IDENTIFIER_WORDS =
  "config value result handler request buffer index total option parser stream context".split(" ");

/** Returns lines that look like program text, nearly all different. */
function programLines(count) {
  let state = 42;
  const below = (most) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 16) % most;
  };
  const word = () => IDENTIFIER_WORDS[below(IDENTIFIER_WORDS.length)];
  const kinds = [
    (i) => `function ${word()}${word()}${i}(${word()}) {`,
    () => `    // the ${word()} of ${word()} is kept for ${word()}`,
    () => `    if (${word()}.${word()} !== ${word()}) {`,
    () => `        return ${word()}.${word()}(${word()}, ${below(1_000)});`,
    () => "    }",
    (i) => `    const ${word()}${i} = ${word()}.${word()}(${below(100)});`,
    (i) => `    ${word()}.${word()}[${below(50)}] = ${word()} + ${i};`,
    () => "}",
    () => "",
  ];
  return Array.from({ length: count }, (_, i) => kinds[i % kinds.length](i));
}

/**
 * Returns an edit of ten lines from `at` on. `sent` changes the lines that are sent as the old
 * text.
 */
function makeEdit(lines, at, sent = (block) => block) {
  const block = lines.slice(at, at + 10);
  const old = sent([...block]);
  const next = [...old];
  next[5] = `${next[5]} // changed`;
  const made = [...block];
  made[5] = `${made[5]} // changed`;
  return {
    text: `${lines.join("\n")}\n`,
    oldText: old.join("\n"),
    newText: next.join("\n"),
    result: `${[...lines.slice(0, at), ...made, ...lines.slice(at + 10)].join("\n")}\n`,
    patch: [
      `@@ -${at + 1},10 +${at + 1},10 @@`,
      ...old.flatMap((line, i) => (i === 5 ? [`-${line}`, `+${next[5]}`] : [` ${line}`])),
      "",
    ].join("\n"),
  };
}

const withTypo = (block) => block.with(0, block[0].replace("function ", "funciton "));
const toAbsentLines = (block) => block.map((_, i) => `    config.valve[${i}] = handle_r + ${i}99;`);

export async function* rows({ load }) {
  const { planEditsBytes } = await load("engine/index.node.js");
  const plan = (bytes, { oldText, newText }) =>
    planEditsBytes(bytes, [{ oldText, newText }], { match: "fuzzy", path: "f.ts" });
  const folder = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  try {
    for (const count of [1_000, 100_000]) {
      const lines = programLines(count);
      const at = Math.floor((count * 0.7) / 9) * 9;
      const name = `${count.toLocaleString("en")} lines`;
      yield* exactMatchRows(name, makeEdit(lines, at), plan, join(folder, `${count}.ts`));
      yield* misspeltMatchRows(name, makeEdit(lines, at, withTypo), plan);
      yield* refusedEditRows(name, makeEdit(lines, at, toAbsentLines), plan);
    }
    yield typoRow(programLines(1_000), plan);
    for (const name of worstEdits.worstEditNames) yield worstEditRow(name);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Measures an edit whose old text occurs in the file as it is sent. */
async function* exactMatchRows(name, one, plan, file) {
  const bytes = Buffer.from(one.text);
  const ours = () => Buffer.from(plan(bytes, one).bytes);
  assertSameResult("edited texts", ours().toString() === one.result, true);
  const replace = () => {
    const at = one.text.indexOf(one.oldText);
    if (at < 0 || one.text.indexOf(one.oldText, at + 1) >= 0) throw new Error("not there once");
    // Converts the result to bytes, as an edit tool does.
    return Buffer.from(one.text.slice(0, at) + one.newText + one.text.slice(at + one.oldText.length));
  };
  assertSameResult("replaced texts", replace().toString() === one.result, true);
  yield {
    name: `${name}, exact`,
    peer: "indexOf, no diff",
    ...(await compareShortCalls(() => plan(bytes, one), replace)),
  };
  const { applyFileEdits } = await import("@modelcontextprotocol/server-filesystem/dist/lib.js").catch(
    () => ({}),
  );
  if (applyFileEdits === undefined)
    return yield { name: `${name}, exact, from the file`, skipped: "the MCP server has no applyFileEdits" };
  writeFileSync(file, one.text);
  yield {
    name: `${name}, exact, from the file`,
    peer: "MCP server's edit_file, dry run",
    goal: 2,
    ...(await compareLongRuns(
      async () => plan(await readFile(file), one),
      () => applyFileEdits(file, [one], true),
      { rounds: 3 },
    )),
  };
}

/** Measures an edit whose old text has a typing error. */
async function* misspeltMatchRows(name, one, plan) {
  const bytes = Buffer.from(one.text);
  const theirs = () => applyPatch(one.text, one.patch, { fuzzFactor: 1 });
  assertSameResult("mended texts", Buffer.from(plan(bytes, one).bytes).toString() === one.result, true);
  assertSameResult("patched lines", theirs() === one.result, true);
  yield {
    name: `${name}, a slip in a line`,
    peer: "jsdiff's applyPatch, told the line",
    ...(await compareShortCalls(() => plan(bytes, one), theirs)),
  };
}

/** Measures the refusal of an edit whose old text is not in the file. */
async function* refusedEditRows(name, one, plan) {
  const bytes = Buffer.from(one.text);
  const theirs = () => applyPatch(one.text, one.patch, { fuzzFactor: 2 });
  assertSameResult("refusals", [plan(bytes, one).ok, theirs()], [false, false]);
  yield {
    name: `${name}, not there, with a hint`,
    peer: "jsdiff's applyPatch, without",
    ...(await compareShortCalls(() => plan(bytes, one), theirs)),
  };
}

/**
 * Measures edits with a typing error at every place of a file: the median time, and the time that
 * 99 of 100 stay below.
 */
function typoRow(lines, plan) {
  const times = [];
  for (let round = 0; round < 3; round++) {
    for (let at = 0; at + 10 < lines.length; at += 9) {
      const one = makeEdit(lines, at, withTypo);
      const bytes = Buffer.from(one.text);
      const started = performance.now();
      plan(bytes, one);
      times.push(performance.now() - started);
    }
  }
  times.sort((a, b) => a - b);
  const share = (part) => times[Math.floor((times.length - 1) * part)];
  return {
    name: "1,000 lines, a slip anywhere",
    ours_ms: share(0.5),
    note: `99 of 100 in ${share(0.99).toFixed(2)} ms`,
  };
}

/** The maximum time of any edit, in milliseconds. */
const MAX_EDIT_MS = 1_000;
/** The maximum number of bytes by which any edit may enlarge the process. */
const MAX_GROWN_BYTES = 256e6;

/** Returns the row of one of the edits that take longest. */
function worstEditRow(name) {
  const { ms, grown_bytes, outcome } = worstEdits.runWorstEdit(name);
  const grown = `grew ${(grown_bytes / 1e6).toFixed(1)} MB${grown_bytes < MAX_GROWN_BYTES ? "" : " (too much)"}`;
  const met = ms < MAX_EDIT_MS && grown_bytes < MAX_GROWN_BYTES;
  return {
    name: `worst: ${name}`,
    ours_ms: ms,
    grown_bytes,
    limit_ms: MAX_EDIT_MS,
    met,
    note: `${outcome}; ${grown}`,
  };
}
