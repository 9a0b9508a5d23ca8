// Random sessions of one agent: calls whose answers have to be the same whichever replica answers each of them.
import { seededRandom } from "../../scripts/lib/deep-kind.mjs";

const DIRS = ["", "src/", "src/deep/", "docs/"];
const NAMES = ["a.txt", "b.txt", "c.md", "d.ts"];
const CALLS_PER_SESSION = 14;

/** The files with which a session begins. */
export const SESSION_FILES = Object.fromEntries(
  DIRS.flatMap((dir) =>
    NAMES.slice(0, 3).map((name) => [
      `${dir}${name}`,
      Array.from({ length: 12 }, (_, line) => `${name} line ${line} of ${dir || "top"}\n`).join(""),
    ]),
  ),
);

/**
 * One call of a session. `next` takes the cursor of the answer before it.
 * @typedef {{ tool: string, args: Record<string, unknown>, next?: true }} SessionCall
 */

/** @param {number} seed @returns {readonly SessionCall[]} */
export function randomSession(seed) {
  const random = seededRandom(seed);
  const path = () => random.pick(DIRS) + random.pick(NAMES);
  const dir = () => random.pick(DIRS.slice(1)).slice(0, -1);
  const line = () => random.below(12);
  const paged = (tool, args) => [
    { tool, args },
    { tool, args, next: true },
    { tool, args, next: true },
  ];
  const kinds = [
    () => [{ tool: "read_file", args: { path: path() } }],
    () => [{ tool: "read_file", args: { path: path(), start_line: 1 + random.below(6), max_lines: 4 } }],
    () => {
      const at = path();
      return [
        { tool: "read_file", args: { path: at, max_lines: 6 } },
        { tool: "read_file", args: { path: at, start_line: 7 } },
        { tool: "write_file", args: { path: at, content: `whole ${line()}\n`, overwrite: true } },
      ];
    },
    () => [{ tool: "write_file", args: { path: path(), content: `new ${line()}\n`, overwrite: true } }],
    () => {
      const at = path();
      const old_text = `line ${line()} of`;
      return [
        ...(random.chance(0.6) ? [{ tool: "read_file", args: { path: at } }] : []),
        { tool: "edit_file", args: { path: at, old_text, new_text: `LINE ${line()} of` } },
      ];
    },
    () => [{ tool: "read_many_files", args: { paths: [path(), path()] } }],
    () => [{ tool: "stat", args: { path: path() } }],
    () => [{ tool: "copy", args: { source: path(), destination: path(), overwrite: random.chance(0.5) } }],
    () => [{ tool: "move", args: { source: path(), destination: path(), overwrite: random.chance(0.5) } }],
    () => [{ tool: "move", args: { source: dir(), destination: `moved-${random.below(3)}` } }],
    () => [{ tool: "delete", args: { path: path() } }],
    () => [{ tool: "delete", args: { path: dir(), recursive: true } }],
    () => [{ tool: "mkdir", args: { path: `new-${random.below(3)}` } }],
    () => paged("list_directory", { path: ".", depth: 3, limit: 3 }),
    () => paged("glob", { pattern: "**/*", limit: 4 }),
    () => paged("grep", { pattern: "line [0-3] ", max_results: 5 }),
    () => [{ tool: "access_info", args: {} }],
    () => [{ tool: "undo", args: {} }],
  ];
  const calls = [];
  while (calls.length < CALLS_PER_SESSION) calls.push(...random.pick(kinds)());
  return calls;
}

/**
 * Runs a session, each call at the workspace that `pick` names, and returns the answers without what differs from run
 * to run.
 * @param {readonly SessionCall[]} calls
 * @param {(index: number) => { call(tool: string, args: object, options: object): Promise<any> }} pick
 * @returns {Promise<readonly string[]>}
 */
export async function runSession(calls, pick) {
  const answers = [];
  let cursor;
  for (const [index, { tool, args, next }] of calls.entries()) {
    if (next === true && cursor === undefined) continue;
    const whole = next === true ? { ...args, cursor } : args;
    const { ok, text, data, error } = await pick(index).call(tool, whole, { agent: "agent" });
    cursor = data?.next_cursor;
    answers.push(`${tool} ${JSON.stringify(args)}: ${ok ? "ok" : error.code} ${withoutTimes(text)}`);
  }
  return answers;
}

function withoutTimes(text) {
  return text
    .replaceAll(/\b[0-9a-z]{6,20}-[0-9a-z]{4,40}\b/gu, "CALL")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/gu, "TIME")
    .replaceAll(/cursor=\S+/gu, "CURSOR");
}
