// Measures whole calls of a workspace on files of 4 KiB against the same work by `node:fs`: time, turns
// of the event loop and system calls; then what a warm call enters. A row says how many times the
// time of `node:fs` a call takes, because that is the figure to make smaller.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countEnteredFunctions, countSystemCalls, countTurns } from "../lib/call-counts.mjs";
import { FILE_CALLS, openFileCall } from "../lib/file-calls.mjs";
import { assertSameResult, compareShortCalls } from "../lib/measure.mjs";
import { Skip } from "../lib/skip.mjs";

export const title = "calls: reads, replaced files and edits of 4 KiB, against the same work by node:fs";

const SIDES = ["ours", "node"];
/** The rounds of a case, and the milliseconds for which each side is called in a round. */
const [ROUNDS, MILLISECONDS] = [21, 100];
/** The calls of each side before the first round, after which V8 has optimised what it will. */
const WARM_UP_CALLS = 500;
/** The system calls that a row names. */
const NAMED_SYSTEM_CALLS = 8;

export async function* rows() {
  for (const key of Object.keys(FILE_CALLS)) {
    const { name, calls } = FILE_CALLS[key];
    yield await measureFileCall(key);
    const turns = SIDES.map((side) => countTurns(side, key, calls));
    yield countRow(`${name}: turns`, "turns", turns);
    yield systemCallRow(key);
  }
  for (const [tool, { functions, files, engine }] of Object.entries(countEnteredFunctions())) {
    const calls = Object.entries(engine).map(([name, count]) => (count === 1 ? name : `${count} ${name}`));
    const note = `${functions} functions in ${files} files; of the engine: ${calls.join(", ")}`;
    yield { name: `a warm ${tool} enters`, functions, files, engine, note };
  }
}

/**
 * Measures a case: checks that both sides give the same answer and leave the same files, and then
 * times them in alternating rounds.
 *
 * @param {string} key of `FILE_CALLS`
 */
export async function measureFileCall(key) {
  const { name, peer, calls } = FILE_CALLS[key];
  const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  const [ours, node] = [await openFileCall("ours", key, scratch), await openFileCall("node", key, scratch)];
  try {
    assertSameResult("answers", await ours.run(), await node.run());
    assertSameResult("files", ours.contents(), node.contents());
    for (let count = 0; count < WARM_UP_CALLS; count += calls) {
      await ours.run();
      await node.run();
    }
    const times = await compareShortCalls(ours.run, node.run, { rounds: ROUNDS, milliseconds: MILLISECONDS });
    return { name, peer, ...times, note: timesNote(times) };
  } finally {
    await Promise.all([ours.close(), node.close()]);
    rmSync(scratch, { recursive: true });
  }
}

/** Returns how many times the time of the peer a call takes, and the interval of this figure. */
function timesNote({ faster, faster_interval: [low, high] }) {
  const [times, from, to] = [faster, high, low].map((ratio) => (1 / ratio).toFixed(2));
  return `${times} times its time, 95 %: ${from} to ${to}`;
}

/** Counts the system calls of both sides, and names the most frequent ones of ours. */
function systemCallRow(key) {
  const { name, calls } = FILE_CALLS[key];
  const row = `${name}: system calls`;
  const scratch = mkdtempSync(join(tmpdir(), "filewright-bench-"));
  try {
    const [ours, node] = SIDES.map((side) => countSystemCalls(side, key, { calls, scratch }));
    const named = ours.byName
      .slice(0, NAMED_SYSTEM_CALLS)
      .map(([each, count]) => `${each} ${count.toFixed(1)}`);
    const counts = [ours, node].map(({ count }) => count);
    return countRow(row, "system_calls", counts, `without waits and memory: ${named.join(", ")}`);
  } catch (error) {
    if (!(error instanceof Skip)) throw error;
    return { name: row, skipped: error.message };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Returns a row of a number per call of both sides, which is named `field` in the file of results. */
function countRow(name, field, [ours, peer], more) {
  const [a, b] = [ours, peer].map((count) => count.toFixed(count < 1 ? 2 : 1));
  const note = `${a} a call against ${b}${more === undefined ? "" : `; ${more}`}`;
  return { name, [field]: { ours, peer }, note };
}
