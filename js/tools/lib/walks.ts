/** Path searches for tools: absolute paths, and globs that begin in a directory. */
import type { FindQuery, FindResult } from "../../engine/search-types.ts";
import { childOf } from "../../backends/paths.ts";
import { findBackend } from "../../backends/search/search.ts";
import type { Call } from "./tool.ts";

/**
 * Returns patterns in both Unicode forms: a system may store a name composed or decomposed. A
 * character class is left alone, because its decomposed letters would match separately.
 */
export function inBothForms(patterns: string | readonly string[]): readonly string[] {
  return [patterns]
    .flat()
    .flatMap((pattern) =>
      isAscii(pattern) || pattern.includes("[")
        ? [pattern]
        : [...new Set([pattern, pattern.normalize("NFC"), pattern.normalize("NFD")])],
    );
}

function isAscii(text: string): boolean {
  return !/[^ -~]/u.test(text);
}

/** Finds entries below a directory; the paths are absolute. */
export async function findPaths(call: Call, root: string, query: FindQuery): Promise<FindResult> {
  const result = await findBackend(call.fs, root, {
    ...query,
    pattern: inBothForms(query.pattern),
    exclude: query.exclude && inBothForms(query.exclude),
    ignoreFiles: call.ignoreFiles,
    signal: call.signal,
  });
  return { ...result, paths: result.paths.map((path) => childOf(root, path)) };
}

/** Returns every path below a directory that ignore files do not exclude. */
export async function unignoredPaths(call: Call, root: string): Promise<ReadonlySet<string>> {
  const { paths } = await findPaths(call, root, { pattern: ["**"], type: "any", respectIgnore: true });
  return new Set(paths);
}

/**
 * Glob characters, including forms of other dialects, which a search refuses with the form that
 * works.
 */
const GLOB_SYNTAX = /[*?[{]|[!+@]\([^)]*\)|\([^()|]*\|[^()]*\)/u;

/** Returns true when a path can be read as a glob. */
export function hasGlob(path: string): boolean {
  return GLOB_SYNTAX.test(path);
}

/** Splits a glob into the directory it starts in, which contains no glob characters, and the rest. */
export function splitGlob(path: string): { readonly base: string; readonly pattern: string } {
  // A pattern without a slash matches at any depth, as in every search.
  if (!path.includes("/")) return { base: ".", pattern: path };
  const names = path.split("/");
  const first = names.findIndex(hasGlob);
  const base = names.slice(0, first).join("/");
  return {
    base: base === "" ? (path.startsWith("/") ? "/" : ".") : base,
    pattern: `/${names.slice(first).join("/")}`,
  };
}
