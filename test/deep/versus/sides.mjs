// The two processes that play the sessions, and the comparison of what they answer.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

const PROGRAM = join(import.meta.dirname, "side.mjs");

/** Nothing of the person who runs the comparison has an effect on it. */
const environmentOf = (home) => ({
  PATH: process.env["PATH"],
  TZ: "UTC",
  LANG: "C.UTF-8",
  HOME: home,
  XDG_STATE_HOME: join(home, "state"),
  XDG_CONFIG_HOME: join(home, "config"),
});

/**
 * Starts a process that plays sessions through a package.
 *
 * @param {string} home a directory from which `filewright` resolves
 * @param {string} scratch a new directory of this side
 */
export function startSide(home, scratch) {
  const own = join(scratch, "home");
  mkdirSync(own, { recursive: true });
  const child = spawn(process.execPath, [PROGRAM, home, scratch], {
    env: environmentOf(own),
    stdio: ["pipe", "pipe", "pipe"],
  });
  const waiting = [];
  let said = "";
  child.stderr.on("data", (data) => {
    said = (said + data).slice(-4000);
  });
  createInterface({ input: child.stdout }).on("line", (line) => waiting.shift()?.resolve(JSON.parse(line)));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  ended.then((status) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`a side ended with ${status}: ${said}`));
  });
  return {
    /** Sends one message and returns the answer; answers come in the order of the messages. */
    ask: (message) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${JSON.stringify(message)}\n`);
      }),
    async stop() {
      child.stdin.end();
      await ended;
    },
  };
}

/** @returns {{ where: string, base: unknown, tree: unknown } | undefined} the first difference of two values */
export function firstDifference(base, tree, where = "") {
  if (isDeepStrictEqual(base, tree)) return undefined;
  const isObject = (value) => typeof value === "object" && value !== null;
  if (!isObject(base) || !isObject(tree) || Array.isArray(base) !== Array.isArray(tree))
    return { where, base, tree };
  for (const key of new Set([...Object.keys(base), ...Object.keys(tree)])) {
    const found = firstDifference(base[key], tree[key], where === "" ? key : `${where}.${key}`);
    if (found !== undefined) return found;
  }
  return { where, base, tree };
}

/** Returns where two sides first answered a session differently. */
export function differenceOf(base, tree) {
  const opening = firstDifference(
    { opened: base.opened, broken: base.broken },
    { opened: tree.opened, broken: tree.broken },
  );
  if (opening !== undefined) return { step: -1, ...opening };
  for (const [step, answer] of (base.steps ?? []).entries()) {
    const found = firstDifference(answer, tree.steps[step]);
    if (found !== undefined) return { step, ...found };
  }
  return undefined;
}
