/** The tasks for readers of a tool list, and the files that they are about. */
import { readFileSync } from "node:fs";

const { root, seed, lists } = JSON.parse(readFileSync(new URL("tasks.json", import.meta.url), "utf8"));

const log = Array.from({ length: 300 }, (_, n) => `line ${n + 1}\n`).join("");

/**
 * The directory that the files are in.
 * @type {string}
 */
export const ROOT = root;

/**
 * The text of each file, by its path below the root.
 * @type {Readonly<Record<string, string>>}
 */
export const FILES = { ...seed, "log.txt": log };

/**
 * One call of a tool.
 * @typedef {{ readonly tool: string, readonly args: Readonly<Record<string, unknown>> }} Call
 */

/**
 * One task, the calls that do it, and what was called before it.
 * @typedef {{ readonly task: string, readonly calls: readonly Call[], readonly before?: readonly Call[] }} Task
 */

/**
 * The tasks of each list.
 * @type {Readonly<Record<string, readonly Task[]>>}
 */
export const LISTS = lists;

/** The files as a backend in memory takes them. */
export function filesAtRoot() {
  return Object.fromEntries(Object.entries(FILES).map(([path, text]) => [`${ROOT}/${path}`, text]));
}
