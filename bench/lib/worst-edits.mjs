// The edits that take the matcher longest. Run as a program, makes one of them and prints its time
// in milliseconds, the bytes by which the process grew, and the outcome.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { argv, execPath, pid } from "node:process";
import { fileURLToPath } from "node:url";
import { processMemory } from "./process.mjs";

const EQUAL_LINE = "    value.handler = request;\n";
const similarLines = (from, to, word) =>
  Array.from(
    { length: to - from },
    (_, i) => `    value.handler[${String(from + i).padStart(6, "0")}] = request.${word}(abcdef);\n`,
  ).join("");

/** For each edit, a function that returns the text of the file and the old text that is sent. */
const WORST_EDITS = {
  "100,000 equal lines, 2,000 of them sent": () => [
    EQUAL_LINE.repeat(100_000),
    `${EQUAL_LINE.repeat(2_000)}zz`,
  ],
  "100,000 lines nearly equal, 3,000 sent": () => [
    similarLines(0, 100_000, "option"),
    similarLines(0, 3_000, "optoin"),
  ],
  "a line of 100 MB": () => ["abcdefg ".repeat(13_000_000), "abcdefg abcdefg  abcdefg"],
  "lines of 3 KB": () => [similarLines(0, 20_000, "ab".repeat(1_500)), `${"ab".repeat(1_499)}x(abc`],
  "500 elisions": () => [EQUAL_LINE.repeat(100_000), `${EQUAL_LINE}...\n`.repeat(500)],
};

export const worstEditNames = Object.keys(WORST_EDITS);

/** Makes one of the edits in a new process. Returns `{ ms, grown_bytes, outcome }`. */
export function runWorstEdit(name) {
  const said = spawnSync(execPath, [fileURLToPath(import.meta.url), name], { encoding: "utf8" });
  if (said.status !== 0) throw new Error(said.stderr.slice(0, 500));
  return JSON.parse(said.stdout);
}

/** Resets the kernel's record of the peak memory, so that making the text does not count. */
function resetPeakMemory() {
  writeFileSync("/proc/self/clear_refs", "5");
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { planEditsBytes } = await import("../../dist/engine/index.node.js");
  const plan = (bytes, oldText) =>
    planEditsBytes(bytes, [{ oldText, newText: "x" }], { match: "fuzzy", path: "f.ts" });
  plan(Buffer.from("one\ntwo\n"), "tow");
  const [text, oldText] = WORST_EDITS[argv[2]]();
  const bytes = Buffer.from(text);
  // The memory so far is that of the text and its bytes; more is the matcher's.
  const before = processMemory(pid).resident;
  resetPeakMemory();
  const started = performance.now();
  const answer = plan(bytes, oldText);
  const ms = performance.now() - started;
  const grown_bytes = (processMemory(pid).peak - before) * 1024 * 1024;
  const outcome = answer.ok ? "made" : `${answer.error.code} ${answer.error.details?.reason ?? ""}`.trim();
  console.log(JSON.stringify({ ms, grown_bytes, outcome }));
}
