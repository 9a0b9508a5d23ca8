// Schedules the stages of a test run, and runs programs with their output in files. At most as many
// stages run at once as there are processors, because most of them use a single one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError, missingToolError, root } from "./run.mjs";

/**
 * `needs` names earlier stages of the list that have to end first, passed or failed; one that is not
 * in the list, because this run leaves it out, is not waited for. A stage that is
 * `alone` runs with no other, between those before and after it in the list: it measures time or
 * memory, or keeps every processor busy itself.
 * @typedef {{
 *   name: string,
 *   needs?: readonly string[],
 *   alone?: boolean,
 *   body: () => Promise<import("./results.mjs").Results>,
 * }} Stage
 */

/**
 * Runs all stages, each as early as its `needs`, `alone` and the number of processors permit.
 *
 * @param {readonly Stage[]} stages in their order of precedence
 * @param {number} processors how many may run at once
 * @param {(stage: Stage) => Promise<void>} runStage has to run `body`, and must not reject
 */
export async function runStages(stages, processors, runStage) {
  const waiting = [...stages];
  const unfinished = new Set(stages.map(({ name }) => name));
  const running = new Set();
  let isAlone = false;
  const begin = (stage) => {
    waiting.splice(waiting.indexOf(stage), 1);
    isAlone = stage.alone === true;
    const ended = runStage(stage).then(() => {
      running.delete(ended);
      unfinished.delete(stage.name);
    });
    running.add(ended);
  };
  while (unfinished.size > 0) {
    for (const stage of [...waiting]) {
      if (running.size > 0 && (isAlone || stage.alone || running.size >= processors)) break;
      if (!(stage.needs ?? []).some((name) => unfinished.has(name))) begin(stage);
    }
    if (running.size === 0) throw new BuildError(`stages wait for each other: ${[...unfinished].join(", ")}`);
    await Promise.race(running);
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
