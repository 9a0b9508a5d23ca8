/**
 * Converts paths to `file:` URIs and back. Bytes of names that are not UTF-8 keep their escaped form, `\xHH`.
 */
import { joinPath } from "../../backends/paths.ts";

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
