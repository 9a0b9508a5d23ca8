/**
 * Relative paths when several directories are allowed. A path that does not exist in the first directory is
 * searched for in the others, in their order.
 *
 * Only existing paths can be found in this way. New files are created in the first directory.
 */
import { lookUpInRoots } from "../../pipeline/paths/first-root.ts";

/** The names of path arguments in all presets. */
const PATH_ARGUMENTS: ReadonlySet<string> = new Set([
  "path",
  "file_path",
  "absolute_path",
  "source",
  "source_path",
  "directory",
  "dir_path",
  "a",
  "b",
  "file_a",
  "file_b",
]);

/**
 * Returns the arguments with absolute paths in place of relative paths that exist only in a later directory.
 * @param caller the tool that is called, or the workspace
 */
export async function resolveRelative(
  caller: object,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const find = async (path: unknown): Promise<unknown> => {
    if (typeof path !== "string" || path === "" || path.startsWith("/") || path === ".") return path;
    // The search may fail, for example for an invalid path. The call itself then reports the error.
    return (await lookUpInRoots(caller, path).catch(() => undefined)) ?? path;
  };
  const result: Record<string, unknown> = { ...args };
  for (const [name, value] of Object.entries(args)) {
    if (PATH_ARGUMENTS.has(name)) result[name] = await find(value);
    else if (name === "paths" && Array.isArray(value)) result[name] = await Promise.all(value.map(find));
  }
  return result;
}
