/**
 * Converts between paths and `file:` URIs, and resolves relative paths when several directories are allowed.
 * In a URI the bytes of a name that is not UTF-8 have their escaped form `\xHH`.
 */
import { joinPath } from "../../backends/paths.ts";
import { lookUpInRoots } from "../../pipeline/paths/first-root.ts";

/** Returns the URI of a path. A relative path is resolved against `cwd`. */
export function fileUriOf(path: string, cwd: string): string {
  const encoded = joinPath(cwd, path)
    .split("/")
    .map((name) => encodeURIComponent(name))
    .join("/");
  return `file://${encoded}`;
}

/** Returns the absolute path of a `file:` URI; undefined for a URI with another scheme, or of another host. */
export function pathOfUri(uri: string): string | undefined {
  const [, host, path] = /^file:\/\/([^/?#]*)(\/[^?#]*)$/u.exec(uri) ?? [];
  if (path === undefined || (host !== "" && host !== "localhost")) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

/** The names that arguments with paths have in all presets. */
const PATH_ARGUMENT_NAMES: ReadonlySet<string> = new Set([
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
 * Returns the arguments in which relative paths are made absolute if they exist only in a later directory.
 * The directories are searched in their order. Paths that do not exist are not changed, so new files are
 * created in the first directory.
 * @param caller the tool that is called, or the workspace
 */
export async function resolveRelative(
  caller: object,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> {
  const find = async (path: unknown): Promise<unknown> => {
    if (typeof path !== "string" || path === "" || path.startsWith("/") || path === ".") return path;
    // The search may fail, for example for an invalid path. The call itself will report that error.
    return (await lookUpInRoots(caller, path).catch(() => undefined)) ?? path;
  };
  const result: Record<string, unknown> = { ...args };
  for (const [name, value] of Object.entries(args)) {
    if (PATH_ARGUMENT_NAMES.has(name)) result[name] = await find(value);
    else if (name === "paths" && Array.isArray(value)) result[name] = await Promise.all(value.map(find));
  }
  return result;
}
