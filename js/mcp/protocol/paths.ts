/**
 * Paths of the protocol: `file:` URIs, and relative paths when several directories are allowed. Bytes of
 * names that are not UTF-8 keep their escaped form in a URI, `\xHH`.
 */
import { joinPath } from "../../backends/paths.ts";
import { lookUpInRoots } from "../../pipeline/paths/first-root.ts";

/** Returns the URI of a path. A relative path is resolved against `cwd`. */
export function uriOf(path: string, cwd: string): string {
  const encoded = joinPath(cwd, path)
    .split("/")
    .map((name) => encodeURIComponent(name))
    .join("/");
  return `file://${encoded}`;
}

/** Returns the absolute path of a `file:` URI; undefined for other schemes and other hosts. */
export function pathOfUri(uri: string): string | undefined {
  const [, host, path] = /^file:\/\/([^/?#]*)(\/[^?#]*)$/u.exec(uri) ?? [];
  if (path === undefined || (host !== "" && host !== "localhost")) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

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
 * Returns the arguments with absolute paths in place of relative paths that exist only in a later directory:
 * the directories are searched in their order. Only existing paths can be found in this way; new files are
 * created in the first directory.
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
