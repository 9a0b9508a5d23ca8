// Counts what one call costs besides time: turns of the event loop, system calls, and the functions
// and calls of the engine that it enters.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Skip } from "./skip.mjs";

/**
 * The system calls by which threads wait for each other and memory is managed. Their number depends
 * on the load of the machine and on what V8 optimises. That of all others hardly varies: only a
 * thread that wakes another adds a `write` and a `read`.
 */
const WAITS_AND_MEMORY = new Set([
  ...["futex", "epoll_wait", "epoll_pwait", "sched_yield", "restart_syscall"],
  ...["brk", "madvise", "mmap", "mprotect", "mremap", "munmap"],
]);
/** The warm-up calls of a process, and the calls by which two counted processes differ. */
const [WARM_UP_CALLS, COUNTED_CALLS] = [50, 100];
/** The calls during which turns are counted, which is quicker than counting system calls. */
const TURN_CALLS = 400;
/** The minimum number of runs, also where one run makes many calls. */
const MIN_RUNS = 20;

const runsOf = (count, calls) => Math.max(MIN_RUNS, Math.ceil(count / calls));

/**
 * Returns the command line of a process that makes `counted` runs after its warm-up, and then prints the
 * turns of the event loop per counted run.
 */
function repeatingProcess(side, key, { calls, counted }) {
  const script = join(import.meta.dirname, "repeat-file-call.mjs");
  return [process.execPath, script, side, key, String(runsOf(WARM_UP_CALLS, calls)), String(counted)];
}

/**
 * Returns the turns of the event loop per call of one side of a case: the iterations of the loop of
 * libuv, which Node counts itself (`performance.nodeTiming.uvMetricsInfo.loopCount`), during calls
 * that follow each other. A call that never waits for another thread takes none. Several results
 * that arrive while JavaScript runs are taken in one turn, so a busy machine needs fewer turns than
 * an idle one. The calls run in a process of their own, because what thousands of earlier calls left
 * to be done later would take turns, too.
 *
 * @param {string} side as for `openFileCall`
 * @param {string} key of `FILE_CALLS`
 * @param {number} calls the number of calls in one run
 */
export function countTurns(side, key, calls) {
  const [program, ...args] = repeatingProcess(side, key, { calls, counted: runsOf(TURN_CALLS, calls) });
  const done = spawnSync(program, args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr.slice(0, 500));
  return Number(done.stdout) / calls;
}

/**
 * Returns the number of calls of each system call in a summary of `strace -c`.
 *
 * @param {string} summary
 * @returns {ReadonlyMap<string, number>}
 */
export function parseStraceSummary(summary) {
  // % time, seconds, usecs/call, calls, errors (often empty), name
  const line = /^ *[\d.]+ +[\d.]+ +\d+ +(?<calls>\d+) +(?:\d+ +)?(?<name>\w+)$/gmu;
  const counts = new Map();
  for (const { groups } of summary.matchAll(line))
    if (groups.name !== "total") counts.set(groups.name, Number(groups.calls));
  if (counts.size === 0) throw new Error(`no summary of strace: ${summary.slice(0, 200)}`);
  return counts;
}

/**
 * Returns the system calls per call from the counts of two processes, one of which made `calls`
 * more. What both did, their start and their end, cancels out, but not in the number of waits: that of a
 * start varies by thousands, so `count` leaves out waits and memory. The most frequent ones are first
 * in `byName`.
 *
 * @param {ReadonlyMap<string, number>} fewer
 * @param {ReadonlyMap<string, number>} more
 * @param {number} calls
 * @returns {{ count: number, byName: [string, number][] }}
 */
export function systemCallsPerCall(fewer, more, calls) {
  const names = [...new Set([...fewer.keys(), ...more.keys()])].filter((name) => !WAITS_AND_MEMORY.has(name));
  const byName = names
    .map((name) => [name, ((more.get(name) ?? 0) - (fewer.get(name) ?? 0)) / calls])
    .sort(([, a], [, b]) => b - a);
  return { count: byName.reduce((sum, [, count]) => sum + count, 0), byName };
}

/**
 * Counts the system calls of all threads per call of one side of a case, in two processes under
 * `strace -f -c`, but those of waits and memory.
 *
 * @param {string} side as for `openFileCall`
 * @param {string} key of `FILE_CALLS`
 * @param {{ calls: number, scratch: string }} of the calls of one run, and a folder for summaries
 * @throws Skip if there is no strace that works
 */
export function countSystemCalls(side, key, { calls, scratch }) {
  if (spawnSync("strace", ["-V"]).status !== 0) throw new Skip("strace is not installed");
  const runs = runsOf(COUNTED_CALLS, calls);
  const [fewer, more] = [runs, 2 * runs].map((counted) => {
    const summary = join(scratch, "strace.txt");
    const child = repeatingProcess(side, key, { calls, counted });
    const done = spawnSync("strace", ["-f", "-c", "-S", "calls", "-o", summary, ...child], {
      encoding: "utf8",
    });
    if (/ptrace|PTRACE/u.test(done.stderr)) throw new Skip(`strace: ${done.stderr.split("\n")[0]}`);
    if (done.status !== 0) throw new Error(done.stderr.slice(0, 500));
    return parseStraceSummary(readFileSync(summary, "utf8"));
  });
  return systemCallsPerCall(fewer, more, runs * calls);
}

/**
 * Counts the functions that ran, and the files that they are in.
 *
 * @param {readonly { url: string, functions: readonly { functionName: string,
 *   ranges: readonly { startOffset: number, count: number }[] }[] }[]} coverage of
 *   `Profiler.takePreciseCoverage`
 * @param {string} folder the URL of the folder whose files are counted
 */
export function countEntered(coverage, folder) {
  const counts = coverage
    .filter(({ url }) => url.startsWith(folder))
    .map(({ functions }) => functions.filter(isEnteredFunction).length)
    .filter((count) => count > 0);
  return { functions: counts.reduce((sum, count) => sum + count, 0), files: counts.length };
}

/** Returns true for a function that ran. The code of the module itself is not one. */
function isEnteredFunction({ functionName, ranges: [{ startOffset, count }] }) {
  return count > 0 && (functionName !== "" || startOffset > 0);
}

/**
 * Returns what warm calls enter, by their tools, as `entered-functions.mjs` counts it in a process
 * of its own: counting makes V8 discard optimised code.
 */
export function countEnteredFunctions() {
  const script = join(import.meta.dirname, "entered-functions.mjs");
  const done = spawnSync(process.execPath, [script], { encoding: "utf8" });
  if (done.status !== 0) throw new Error(done.stderr.slice(0, 500));
  return JSON.parse(done.stdout);
}
