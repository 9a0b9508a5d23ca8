// The stages of a test run: which begins when, and where its output goes. As many run at once as
// there are processors, because most of them keep one busy and leave the others idle.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { BuildError, missingTool, root } from "./run.mjs";

/**
 * `needs` names stages that have to end first, well or not. A stage that is `alone` begins when all
 * before it have ended, and none after it begins before it has: it measures time or memory, or keeps
 * every processor busy itself.
 * @typedef {{
 *   name: string,
 *   needs?: readonly string[],
 *   alone?: boolean,
 *   body: () => Promise<import("./results.mjs").Results>,
 * }} Stage
 */

/**
 * Runs all stages, each as early as it may.
 *
 * @param {readonly Stage[]} stages in their order of precedence
 * @param {number} processors how many may run at once
 * @param {(stage: Stage) => Promise<void>} runStage must not be rejected
 */
export async function runStages(stages, processors, runStage) {
  const waiting = [...stages];
  const pending = new Set(stages.map(({ name }) => name));
  const running = new Set();
  let isAlone = false;
  const begin = (stage) => {
    waiting.splice(waiting.indexOf(stage), 1);
    isAlone = stage.alone === true;
    const ended = runStage(stage).then(() => {
      running.delete(ended);
      pending.delete(stage.name);
    });
    running.add(ended);
  };
  while (pending.size > 0) {
    for (const stage of [...waiting]) {
      if (running.size > 0 && (isAlone || stage.alone || running.size >= processors)) break;
      if (!(stage.needs ?? []).some((name) => pending.has(name))) begin(stage);
    }
    if (running.size === 0) throw new BuildError(`stages wait for each other: ${[...pending].join(", ")}`);
    await Promise.race(running);
  }
}

/**
 * Runs a program in the checkout beside others, with its output in a file.
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
    throw error.code === "ENOENT" ? missingTool(command) : error;
  } finally {
    closeSync(into);
  }
}
