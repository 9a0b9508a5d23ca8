/**
 * Relative paths where several directories are allowed: what is not in the first
 * is looked for in the others, in their order.
 *
 * Only paths of things that are there can be found so; whatever is to be made is
 * made in the first directory.
 */
import { joinPath } from "../backends/paths.ts";
import type { Room } from "./host.ts";

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

/** The arguments, with relative paths that only a further directory has made absolute. */
export async function placed(
  { ws, roots }: Room,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  if (roots.length < 2) return args;
  const find = async (path: unknown): Promise<unknown> => {
    if (typeof path !== "string" || path === "" || path.startsWith("/") || path === ".") return path;
    for (const dir of roots) {
      const whole = joinPath(dir, path);
      if (await Promise.resolve(ws.fs.exists(whole)).catch(() => false))
        return dir === roots[0] ? path : whole;
    }
    return path;
  };
  const result: Record<string, unknown> = { ...args };
  for (const [name, value] of Object.entries(args)) {
    if (PATHS.has(name)) result[name] = await find(value);
    else if (name === "paths" && Array.isArray(value)) result[name] = await Promise.all(value.map(find));
  }
  return result;
}
