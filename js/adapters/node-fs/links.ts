/**
 * Resolves links over an object in the shape of Node's `fs`. Imitations differ here: one resolves
 * `..` in a target lexically, another never returns from a loop. So they are never passed a path
 * that contains a link.
 */
import { resolveLinks, type FoundEntry } from "../../backends/fallback/links.ts";
import type { NodeFsPromises, NodeStats } from "./shape.ts";
import { codeOf } from "./errors.ts";

/** How the path of {@link realOf} is resolved. */
export interface RealOptions {
  /** True when a link in the last place is followed. */
  readonly follow: boolean;
  /**
   * Keeps the missing end of a link that names a directory (`gone/`); default: such a path is
   * NOT_FOUND.
   */
  readonly keepMissingDirectory?: boolean;
}

/**
 * Returns the real path of a normalised one. Missing names at its end are kept.
 *
 * @throws FilewrightError LOOP, NOT_DIRECTORY, NOT_FOUND (`..` after a missing name),
 * NAME_TOO_LONG
 */
export async function realOf(host: NodeFsPromises, path: string, options: RealOptions): Promise<string> {
  const { lstat, readlink } = host;
  if (lstat === undefined || readlink === undefined) return path;
  const look = async (at: string): Promise<FoundEntry | null> => {
    const stats = await lstat.call(host, at).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return undefined;
      throw error;
    });
    if (stats === undefined) return null;
    const { isSymbolicLink, isDirectory } = stats as NodeStats;
    if (isSymbolicLink.call(stats)) return { type: "symlink", target: String(await readlink.call(host, at)) };
    return { type: isDirectory.call(stats) ? "dir" : "file" };
  };
  return resolveLinks(path, { ...options, look });
}
