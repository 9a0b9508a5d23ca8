/**
 * The hunks of one file, put into the `*** Begin Patch` form. What would make the
 * patch say more than its operation, such as a section for another file, gives
 * nothing: whoever approved the operation saw one path.
 */
import { parsePatch } from "../engine/functions.ts";

/** A patch that makes one file; undefined where the hunks hold more. */
export function addPatch(path: string, diff: string): string | undefined {
  return wrap([`*** Add File: ${path}`], [path], diff);
}

/** A patch that changes one file, and may move it; undefined where the hunks hold more. */
export function updatePatch(path: string, diff: string, moveTo?: string): string | undefined {
  const head = [`*** Update File: ${path}`, ...(moveTo === undefined ? [] : [`*** Move to: ${moveTo}`])];
  return wrap(head, [path, ...(moveTo === undefined ? [] : [moveTo])], diff);
}

function wrap(head: readonly string[], paths: readonly string[], diff: string): string | undefined {
  if (paths.some((path) => /[\r\n]/u.test(path))) return undefined;
  const patch = ["*** Begin Patch", ...head, diff.replace(/\n$/u, ""), "*** End Patch", ""].join("\n");
  return touches(patch).every((path) => paths.includes(path)) ? patch : undefined;
}

/** What a patch names. One that cannot be read names nothing: whoever applies it says what is wrong. */
function touches(patch: string): readonly string[] {
  try {
    return parsePatch(patch).paths;
  } catch {
    return [];
  }
}
