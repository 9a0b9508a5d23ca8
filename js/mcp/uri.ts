/** Paths as `file:` URIs, and back. Odd bytes of names keep their written form, `\xHH`. */
import { joinPath } from "../backends/paths.ts";

/** The URI of a path; a relative one begins at `cwd`. */
export function uriOf(path: string, cwd: string): string {
  const encoded = joinPath(cwd, path)
    .split("/")
    .map((name) => encodeURIComponent(name))
    .join("/");
  return `file://${encoded}`;
}

/** The absolute path of a `file:` URI; undefined for any other, and for those of other machines. */
export function pathOfUri(uri: string): string | undefined {
  const [, host, path] = /^file:\/\/([^/?#]*)(\/[^?#]*)$/u.exec(uri) ?? [];
  if (path === undefined || (host !== "" && host !== "localhost")) return undefined;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
