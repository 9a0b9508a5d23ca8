// Prints the table of results, and writes them to a JSON file.
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, platform, release, totalmem } from "node:os";

const formatMs = (ms) => {
  if (ms === undefined) return "";
  return `${ms >= 100 ? ms.toFixed(0) : ms >= 1 ? ms.toFixed(1) : ms.toFixed(3)} ms`;
};
const formatFactor = (x) => (x === undefined ? "" : x >= 100 ? `${x.toFixed(0)}x` : `${x.toFixed(2)}x`);

/** Prints one row: a measured result, `{ skipped: reason }` or `{ failed: message }`. */
export function printRow(row) {
  const { name, peer, ours_ms, peer_ms, faster, note, skipped, failed } = row;
  if (skipped || failed)
    return console.log(`  ${name.padEnd(44)} ${failed ? "FAILED" : "skipped"}: ${failed ?? skipped}`);
  if (row.ours_count !== undefined) return printCounts(row);
  if (row.ours_score !== undefined) return printScores(row);
  const times = `${formatMs(ours_ms).padStart(11)}  ${formatMs(peer_ms).padStart(11)}  ${formatFactor(faster).padStart(9)}`;
  console.log(
    `  ${name.padEnd(44)} ${times}  ${formatGoal(row).padEnd(9)} ${peer ?? ""}${note ? `  (${note})` : ""}`.trimEnd(),
  );
}

/** Prints a row of tokens or calls: those of both sides, our share of the peer's, and the share or number allowed. */
function printCounts({ name, peer, unit = "tok", ours_count, peer_count, most, most_count }) {
  const share = ours_count / peer_count;
  const count = (number) => `${number.toLocaleString("en")} ${unit}`;
  const [figure, limit] = most_count === undefined ? [share, most] : [ours_count, most_count];
  const goal = limit === undefined ? "" : `${figure <= limit ? "≤" : ">"} ${limit.toLocaleString("en")}`;
  const counts = `${count(ours_count).padStart(11)}  ${count(peer_count).padStart(11)}  ${share.toFixed(2).padStart(9)}`;
  console.log(`  ${name.padEnd(44)} ${counts}  ${goal.padEnd(9)} ${peer}`.trimEnd());
}

/** Prints a row of qualities from 0 to 1: those of both sides and how many times ours is the peer's. */
function printScores({ name, peer, ours_score, peer_score, note }) {
  const score = (quality) => quality.toFixed(3).padStart(11);
  const times = formatFactor(ours_score / peer_score).padStart(9);
  console.log(
    `  ${name.padEnd(44)} ${score(ours_score)}  ${score(peer_score)}  ${times}            ${peer}  (${note})`,
  );
}

/**
 * Returns the goal or the limit of a row with a sign that says whether the result meets it; empty
 * without either.
 */
function formatGoal({ faster, goal, limit_ms, met }) {
  if (goal !== undefined && faster !== undefined)
    return `${faster >= goal ? "≥" : "<"} ${formatFactor(goal)}`;
  return limit_ms === undefined ? "" : `${met ? "<" : "≥"} ${formatMs(limit_ms)}`;
}

export const printTableHead = (title) =>
  console.log(`\n${title}\n  ${" ".repeat(44)}     ours         peer     faster  goal      peer`);

/** Writes the rows to `bench/results/<date>.json`, and returns the path. */
export function writeResults(folder, rows, settings) {
  mkdirSync(folder, { recursive: true });
  const now = new Date().toISOString();
  const file = `${folder}/${now.slice(0, 19).replaceAll(":", "")}.json`;
  const machine = {
    cpu: cpus()[0]?.model,
    cores: cpus().length,
    memory_bytes: totalmem(),
    system: `${platform()} ${release()}`,
    node: process.version,
  };
  writeFileSync(file, `${JSON.stringify({ date: now, machine, settings, rows }, null, 2)}\n`);
  return file;
}
