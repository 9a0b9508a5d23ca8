// Schedules the stages of a test run, and runs programs with their output in files. At most as many
// stages run at once as there are places, because most of them use a single processor.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError, missingToolError, root } from "./run.mjs";

/**
 * `needs` names earlier stages of the list that have to end first, passed or failed; one that is not
 * in the list, because this run leaves it out, is not waited for. `places` is how many processes of it work at once, 1
 * by default. A stage that is `alone` runs with no other, between those before and after it in the list: it measures time
 * or memory.
 * @typedef {{
 *   name: string,
 *   needs?: readonly string[],
 *   places?: number,
 *   alone?: boolean,
 *   body: () => Promise<import("./results.mjs").Results>,
 * }} Stage
 */

const placesOf = ({ places = 1 }) => places;

/** Returns whether a stage may begin beside those that run. */
function hasRoom(stage, running, places) {
  if (running.length === 0) return true;
  if ([stage, ...running].some(({ alone }) => alone)) return false;
  return running.reduce((sum, one) => sum + placesOf(one), placesOf(stage)) <= places;
}

/**
 * Runs all stages, each as early as its `needs`, `alone` and the number of places permit.
 *
 * @param {readonly Stage[]} stages in their order of precedence
 * @param {number} places how many places those have together that run at once
 * @param {(stage: Stage) => Promise<void>} runStage has to run `body`, and must not reject
 */
export async function runStages(stages, places, runStage) {
  const waiting = new Set(stages);
  const unfinished = new Set(stages.map(({ name }) => name));
  const running = new Map();
  const begin = (stage) => {
    waiting.delete(stage);
    const end = () => {
      running.delete(stage);
      unfinished.delete(stage.name);
    };
    running.set(stage, runStage(stage).then(end));
  };
  while (unfinished.size > 0) {
    for (const stage of waiting) {
      // Others overtake a stage that waits for its needs, but none overtakes one that will be alone.
      if (!stage.alone && stage.needs?.some((name) => unfinished.has(name))) continue;
      if (!hasRoom(stage, [...running.keys()], places)) break;
      begin(stage);
    }
    if (running.size === 0) throw new BuildError(`stages wait for each other: ${[...unfinished].join(", ")}`);
    await Promise.race(running.values());
  }
}

/**
 * Runs a program in the checkout without blocking this process, with its output in a file.
 *
 * @param {string} command a name on PATH or a path
 * @param {readonly string[]} args
 * @param {{ log: string, env?: Record<string, string | undefined> }} options `log` is relative to the checkout
 * @returns {Promise<{ status: number, output: string }>}
 */
export async function runLogged(command, args, { log, env }) {
  const file = join(root, log);
  mkdirSync(dirname(file), { recursive: true });
  const into = openSync(file, "w");
  try {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", into, into],
      shell: process.platform === "win32",
    });
    const [status] = await once(child, "exit");
    return { status: status ?? 1, output: readFileSync(file, "utf8") };
  } catch (error) {
    throw error.code === "ENOENT" ? missingToolError(command) : error;
  } finally {
    closeSync(into);
  }
}

/** The number of clock ticks in a second, in which /proc counts. */
const TICKS_PER_SECOND = 100;
let counted = 0;

/**
 * Returns the seconds of the processor of the child processes that have ended since the last call, with those that they
 * waited for themselves. Called at the end of each stage, which is one process, it counts that stage. 0 outside Linux.
 */
export function newSecondsOfChildren() {
  if (process.platform !== "linux") return 0;
  // proc_pid_stat(5): cutime and cstime are the fields 16 and 17; the second one may contain spaces.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
  const before = counted;
  counted = (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  return counted - before;
}
