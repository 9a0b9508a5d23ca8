/**
 * Relative paths where several directories are allowed: what is not in the first
 * is looked for in the others, in their order.
 *
 * Only paths of things that are there can be found so; whatever is to be made is
 * made in the first directory.
 */
import { pathInRoots } from "../workspace/first-root.ts";

/** Arguments that are paths, in every preset. */
const PATHS: ReadonlySet<string> = new Set([
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
 * The arguments, with relative paths that only a further directory has made absolute.
 * `caller`: the tool that is called, or the workspace for a look.
 */
export async function placed(
  caller: object,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const find = async (path: unknown): Promise<unknown> => {
    if (typeof path !== "string" || path === "" || path.startsWith("/") || path === ".") return path;
    // A path that cannot be looked for is refused by the call itself.
    return (await pathInRoots(caller, path).catch(() => undefined)) ?? path;
  };
  const result: Record<string, unknown> = { ...args };
  for (const [name, value] of Object.entries(args)) {
    if (PATHS.has(name)) result[name] = await find(value);
    else if (name === "paths" && Array.isArray(value)) result[name] = await Promise.all(value.map(find));
  }
  return result;
}
