/**
 * Searches for paths on behalf of tools: they return absolute paths, and split a glob into its directory and
 * its pattern.
 */
import type { FindQuery, FindResult } from "../../engine/search-types.ts";
import { childOf } from "../../backends/paths.ts";
import { globsInForm } from "../../backends/windows-globs.ts";
import type { Call } from "./tool.ts";

/**
 * Returns the patterns in composed and decomposed Unicode form, because file names may have either. A pattern
 * with a character class is returned unchanged, because the parts of a decomposed letter would match
 * separately in it.
 */
export function inBothUnicodeForms(patterns: string | readonly string[]): readonly string[] {
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

/** Returns the patterns that a call searches with, in the form of its paths. */
export function searchedGlobs(
  { reach: { summary: access } }: Call,
  patterns: string | readonly string[],
): readonly string[] {
  return inBothUnicodeForms([patterns].flat().flatMap((pattern) => globsInForm(pattern, access.paths)));
}

/** Finds entries below a directory, by globs in the form of its paths. The found paths are absolute. */
export async function findPaths(call: Call, root: string, query: FindQuery): Promise<FindResult> {
  const result = await call.fs.find(root, {
    ...query,
    pattern: inBothUnicodeForms(query.pattern),
    exclude: query.exclude && inBothUnicodeForms(query.exclude),
    ignoreFiles: call.settings.ignoreFiles,
    signal: call.signal,
  });
  return { ...result, paths: result.paths.map((path) => childOf(root, path)) };
}

/** The changes of a query with which it counts ignored matches, too. */
const WITH_IGNORED = {
  respectIgnore: false,
  index: "off",
  sort: "path",
  cursor: undefined,
  limit: 1,
  timeoutMs: 1000,
} as const;

/**
 * Runs a search for names. If it finds nothing, and has not looked into large ignored directories, its `ignored` is the
 * number of all ignored matches, as far as they are counted within a second: only then the answer mentions them.
 */
export async function findCountingIgnored(
  search: (changes: Partial<typeof WITH_IGNORED>) => Promise<FindResult>,
): Promise<FindResult> {
  const found = await search({});
  if (found.total > 0 || found.ignoredDirectories === 0) return found;
  return { ...found, ignored: (await search(WITH_IGNORED)).total };
}

/** Returns every path below a directory that ignore files do not exclude. */
export async function unignoredPaths(call: Call, root: string): Promise<ReadonlySet<string>> {
  const { paths } = await findPaths(call, root, { pattern: ["**"], type: "any", respectIgnore: true });
  return new Set(paths);
}

/**
 * Matches the special characters of globs, also those of unsupported syntaxes: a search refuses these with
 * the equivalent that works.
 */
const GLOB_SYNTAX = /[*?[{]|[!+@]\([^)]*\)|\([^()|]*\|[^()]*\)/u;

/** Returns true when a path contains characters that have a meaning in globs. */
export function hasGlobSyntax(path: string): boolean {
  return GLOB_SYNTAX.test(path);
}

/**
 * Splits a glob into the directory in which it starts, which contains no glob characters, and the pattern
 * below it.
 */
export function splitGlob(path: string): { readonly base: string; readonly pattern: string } {
  // A pattern without a slash matches at any depth, as in every search.
  if (!path.includes("/")) return { base: ".", pattern: path };
  const names = path.split("/");
  const first = names.findIndex(hasGlobSyntax);
  const base = names.slice(0, first).join("/");
  return {
    base: base === "" ? (path.startsWith("/") ? "/" : ".") : base,
    pattern: `/${names.slice(first).join("/")}`,
  };
}
