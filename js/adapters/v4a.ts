/**
 * Converts the hunks of one file to the `*** Begin Patch` form. Hunks that would add further
 * operations, such as a section for another file, return undefined, because the approved operation
 * named one path.
 */
import { parsePatch } from "../engine/functions.ts";

/** Returns a patch that creates one file; undefined for hunks that contain more. */
export function addPatch(path: string, diff: string): string | undefined {
  return wrap([`*** Add File: ${path}`], "create", diff);
}

/** Returns a patch that changes one file, and may move it; undefined for hunks that contain more. */
export function updatePatch(path: string, diff: string, moveTo?: string): string | undefined {
  const head = [`*** Update File: ${path}`, ...(moveTo === undefined ? [] : [`*** Move to: ${moveTo}`])];
  return wrap(head, moveTo === undefined ? "update" : "rename", diff);
}

function wrap(head: readonly string[], operation: string, diff: string): string | undefined {
  if (head.some((line) => /[\r\n]/u.test(line))) return undefined;
  const patch = ["*** Begin Patch", ...head, diff.replace(/\n$/u, ""), "*** End Patch", ""].join("\n");
  return saysMore(patch, operation) ? undefined : patch;
}

/**
 * Returns true when a patch does more than one thing to one file. An unreadable patch returns
 * false, because applying it reports the error.
 */
function saysMore(patch: string, operation: string): boolean {
  try {
    const { files } = parsePatch(patch);
    return files.length !== 1 || files[0]?.operation !== operation;
  } catch {
    return false;
  }
}
