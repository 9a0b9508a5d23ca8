/**
 * The hunks of one file, put into the `*** Begin Patch` form. What would make the
 * patch say more than its operation, such as a section for another file, gives
 * nothing: whoever approved the operation saw one path.
 */
import { parsePatch } from "../engine/functions.ts";

/** A patch that makes one file; undefined where the hunks hold more. */
export function addPatch(path: string, diff: string): string | undefined {
  return wrap([`*** Add File: ${path}`], "create", diff);
}

/** A patch that changes one file, and may move it; undefined where the hunks hold more. */
export function updatePatch(path: string, diff: string, moveTo?: string): string | undefined {
  const head = [`*** Update File: ${path}`, ...(moveTo === undefined ? [] : [`*** Move to: ${moveTo}`])];
  return wrap(head, moveTo === undefined ? "update" : "rename", diff);
}

function wrap(head: readonly string[], operation: string, diff: string): string | undefined {
  if (head.some((line) => /[\r\n]/u.test(line))) return undefined;
  const patch = ["*** Begin Patch", ...head, diff.replace(/\n$/u, ""), "*** End Patch", ""].join("\n");
  return saysMore(patch, operation) ? undefined : patch;
}

/** Whether a patch does more than one thing to one file. Of one that cannot be read, whoever applies it tells why. */
function saysMore(patch: string, operation: string): boolean {
  try {
    const { files } = parsePatch(patch);
    return files.length !== 1 || files[0]?.operation !== operation;
  } catch {
    return false;
  }
}
