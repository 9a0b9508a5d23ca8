/**
 * Where the two ends of a move or a copy are in relation to each other. A directory can have two paths, as bind mounts and shared
 * folders of containers give it, so where the backend knows entries by an id these are compared, too.
 */
import type { Files } from "../files.ts";
import type { FsStat } from "../backend.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { isWithin, nameOf, parentOf } from "../paths.ts";
import { lstatOrNull } from "./fallback.ts";

/** One end of a move or a copy: the real path of the entry, and what is there. */
export interface TransferEnd {
  readonly path: string;
  readonly stat: FsStat | null;
}

/**
 * Returns `same` if both ends are one entry, `respelled` if only the spelling of the name differs, which a move changes,
 * `inside` if the target lies in the source, and `apart` otherwise.
 */
export async function relationOf(
  backend: Files,
  source: TransferEnd & { readonly stat: FsStat },
  target: TransferEnd,
): Promise<"same" | "respelled" | "inside" | "apart"> {
  if (source.path === target.path) return "same";
  const { fileId, isDir } = source.stat;
  if (isDir && isWithin(target.path, source.path)) return "inside";
  if (fileId === undefined) return "apart";
  if (target.stat?.fileId === fileId)
    return nameOf(source.path) === nameOf(target.path) ? "same" : "respelled";
  return isDir && (await isAnyAbove(backend, target.path, fileId)) ? "inside" : "apart";
}

/** Returns true if a directory above the path, up to the root, has the id. */
async function isAnyAbove(backend: Files, path: string, fileId: string): Promise<boolean> {
  for (let at = path; at !== parentOf(at); ) {
    at = parentOf(at);
    try {
      if ((await lstatOrNull(backend, at))?.fileId === fileId) return true;
    } catch (error) {
      // Above the roots of a confined backend there is nothing that it could move.
      if (error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") return false;
      throw error;
    }
  }
  return false;
}
