/** The search of `grep`. It is loaded after a workspace opens, or by the first call. */
import { childOf, isWithin, relativeTo } from "../../backends/paths.ts";
import { isAbsolutePath, pathOfDisplayed } from "../../backends/windows-paths.ts";
import { engine } from "../../engine/current.ts";
import { encodeCursor } from "../../engine/wire/cursor.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { SearchCounts, SearchQuery, SearchResult } from "../../engine/search-types.ts";
import {
  type CoveredRoots,
  coveredRoots,
  grepRoots,
  leftOutRootsNote,
  makeRootCursor,
  pathOfResult,
} from "../every-root.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { escapeControls, plural } from "../../engine/escape.ts";
import { changeAt } from "../lib/changed.ts";
import { statOrNull } from "../lib/contents.ts";
import { assertWellFormed, maxAnswerBytes } from "../lib/text.ts";
import { matchesElsewhereNote } from "../grep/elsewhere.ts";
import type { GrepData, GrepMatch, GrepSummary } from "../generated/types.ts";
import type { CheckedArgs } from "../generated/internal.ts";
import { excludeGlobNotes, grepWarnings, type LeftOutFiles, otherReadableRoots } from "../render/left-out.ts";
import { findLeftOut } from "../lib/left-out-entry.ts";
import { unfollowedLinksNote } from "../render/unfollowed.ts";
import type { Answer, Call } from "../lib/tool.ts";
import { searchedGlobs } from "../lib/walks.ts";

type GrepToolArgs = CheckedArgs["grep"];

/** Answers a call of `grep`. */
export async function runGrep(args: GrepToolArgs, call: Call): Promise<Answer<GrepData>> {
  assertWellFormed("pattern", args.pattern);
  const root = call.locations[0]!.path;
  const query = {
    pattern: args.pattern,
    regex: args.regex,
    case: args.case,
    word: args.word,
    multiline: args.multiline,
    before: args.before,
    after: args.after,
    context: args.context,
    glob: args.glob && searchedGlobs(call, args.glob),
    exclude: searchedGlobs(call, args.exclude),
    fileTypes: args.file_types,
    output: args.output,
    maxResults: args.max_results,
    maxPerFile: args.max_per_file,
    maxLineChars: args.max_line_chars,
    maxFileBytes: call.settings.limits.grepFileBytes,
    hidden: args.hidden,
    respectIgnore: args.respect_ignore,
    ignoreFiles: call.settings.ignoreFiles,
    cursor: args.cursor,
    timeoutMs: Math.max(1, call.timer.timeLeft?.() ?? args.timeout_ms),
  } satisfies SearchQuery;
  if (args.rank !== "path" && args.cursor !== undefined)
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "Invalid argument 'cursor': results by rank have none; leave it out, or leave rank out.",
      { complete: true, details: { argument: "cursor" } },
    );
  // A ranking considers more matches than the page shows, because the best may come late in path order.
  const maxTextBytes = args.rank === "path" ? maxAnswerBytes(call.settings.limits) : MAX_RANKED_BYTES;
  const signalled = { ...query, maxTextBytes, signal: call.signal };
  const { onProgress } = call.reader;
  const counted = {
    ...signalled,
    onCounts:
      onProgress &&
      (({ files, matches }: SearchCounts) =>
        onProgress({ done: files, message: plural(matches, "match", "matches") })),
  };
  const covered = await coveredRoots(args.path, call);
  const found = await grepRoots(call, covered, counted, args.rank);
  const shown = (path: string): string => call.reader.display(pathOfResult(path, root));
  const data = grepDataOf(found, args, shown);
  const text =
    found.totalMatches === 0 && found.complete
      ? await searchAsPlainText(args, call, signalled, shown)
      : undefined;
  const notes = [...excludeGlobNotes(args.exclude), ...(await leftOutNotes(found, query, call, covered))];
  const others = leftOutRootsNote(covered, found.totalMatches, call);
  const elsewhere = await matchesElsewhereNote(found, args, call, signalled);
  return {
    data: text === undefined ? data : { ...data, as_text: text },
    warnings: [...notes, elsewhere, others, ...(await changeNotes(found, root, call))].filter(
      (note) => note !== undefined,
    ),
  };
}

/** The most files of an answer about which it is told that they have changed. */
const MAX_CHANGE_NOTES = 10;

/** Returns notes about the found files that have changed since the caller read them, where the workspace knows. */
async function changeNotes(
  { matches, counts }: SearchResult,
  root: string,
  call: Call,
): Promise<readonly string[]> {
  if (!call.settings.knows) return [];
  const notes: string[] = [];
  const found = new Set([...matches, ...counts].map(({ path }) => pathOfResult(path, root)));
  for (const path of found) {
    if (call.seen.recall(path) === undefined) continue;
    const changed = await changeAt(call, path, (await statOrNull(call.fs, path))?.version);
    if (changed !== undefined)
      notes.push(`${escapeControls(call.reader.display(path))} changed since you read it: ${changed}`);
    if (notes.length === MAX_CHANGE_NOTES) break;
  }
  return notes;
}

/** Returns notes about what a search left out. */
async function leftOutNotes(
  found: SearchResult,
  query: SearchQuery,
  call: Call,
  covered: CoveredRoots,
): Promise<readonly (string | undefined)[]> {
  const { glob } = query;
  const globs = () => (glob === undefined ? undefined : engine().glob([glob].flat(), {}));
  return [
    ...grepWarnings(found, await leftOutFiles(found, covered, query, call), call.reader.names),
    found.totalMatches > 0 ? undefined : await unfollowedLinksNote(call, covered, query, globs),
  ];
}

/** Returns the first files that a search left out, by reason. */
async function leftOutFiles(
  { unreadable, skippedLarge }: SearchResult,
  { roots }: CoveredRoots,
  query: SearchQuery,
  call: Call,
): Promise<LeftOutFiles> {
  const paths = roots.map(({ path: root }) => root);
  const look = (above?: number) => findLeftOut(call, paths, query, { files: true, above });
  return {
    unread: unreadable > 0 ? await look() : undefined,
    large: skippedLarge > 0 ? await look(call.settings.limits.grepFileBytes) : undefined,
  };
}

/**
 * Searches for a pattern such as `foo(bar)` as plain text after it found nothing as a regular expression,
 * because code is often sent unescaped. Searches the first path of the call alone. Returns the first match and the number
 * of matching lines, counted up to {@link MAX_COUNTED_PLAIN_TEXT_LINES}; undefined for none.
 */
async function searchAsPlainText(
  { pattern, regex, cursor }: GrepToolArgs,
  call: Call,
  query: SearchQuery,
  shown: (path: string) => string,
): Promise<GrepSummary["as_text"]> {
  // Only a pattern with brackets, and without characters that code seldom has, is code that was sent unescaped.
  if (!regex || cursor !== undefined || !/[()[\]{}?]/u.test(pattern) || /[\\|^$*+]/u.test(pattern))
    return undefined;
  const plain = {
    ...query,
    regex: false,
    output: "content",
    maxResults: MAX_COUNTED_PLAIN_TEXT_LINES,
  } as const;
  const { matches, totalMatches } = await call.fs.grep(call.locations[0]!.path, plain);
  const [first] = matches;
  return first === undefined ? undefined : { path: shown(first.path), line: first.line, count: totalMatches };
}

/**
 * The maximum size in bytes of the matches from which a ranking is made; a search of very long lines ends
 * there.
 */
const MAX_RANKED_BYTES = 4 << 20;

/** The maximum number of matching lines that are counted when a pattern is searched as plain text. */
const MAX_COUNTED_PLAIN_TEXT_LINES = 1000;

function grepDataOf(found: SearchResult, args: GrepToolArgs, shown: (path: string) => string): GrepData {
  const summary = withoutUndefined({
    total_matches: found.totalMatches,
    files_with_matches: found.filesWithMatches,
    files_searched: found.filesSearched,
    skipped_binary: found.skippedBinary,
    skipped_large: found.skippedLarge,
    unreadable: found.unreadable,
    truncated: found.truncated,
    fresh: found.fresh,
    complete: found.complete,
    incomplete_reason: found.incompleteReason,
    next_cursor: found.nextCursor,
  });
  const { counts } = found;
  if (args.output === "content") return { matches: grepMatchesOf(found, shown), ...summary };
  if (args.output === "files") return { files: counts.map(({ path: where }) => shown(where)), ...summary };
  return { counts: counts.map(({ path: where, count }) => ({ path: shown(where), count })), ...summary };
}

function grepMatchesOf(found: SearchResult, shown: (path: string) => string): readonly GrepMatch[] {
  let last = "";
  let path = shown("");
  return found.matches.map((match) => {
    if (match.path !== last) {
      last = match.path;
      path = shown(last);
    }
    const { line, column, text: content, endLine, rest, before, after } = match;
    // Assigns the optional fields, because spreading is slow: a search has thousands of matches.
    const data: { -readonly [K in keyof GrepMatch]: GrepMatch[K] } = { path, line, column, text: content };
    if (endLine !== undefined) data.end_line = endLine;
    if (rest !== undefined) data.rest = rest;
    if (before !== undefined) data.before = before;
    if (after !== undefined) data.after = after;
    return data;
  });
}

/** Returns the data reduced to its first `kept` results, with a cursor that continues after the last of them. */
export function truncateGrepData(data: GrepData, kept: number, call: Call): GrepData {
  const searched = call.locations[0]!.path;
  const roots = call.reader.coversRoots
    ? [searched, ...otherReadableRoots(searched, call.reach.summary)]
    : [searched];
  let index = 0;
  const relative = (shown: string): string => {
    const isAbsolute = isAbsolutePath(shown, call.reach.summary.paths);
    const path_ = isAbsolute
      ? pathOfDisplayed(shown, call.reach.summary.paths)
      : childOf(call.reach.summary.cwd, shown);
    index = Math.max(
      0,
      roots.findIndex((root) => isWithin(path_, root)),
    );
    const root = roots[index] as string;
    return path_ === root ? "" : (relativeTo(path_, root) as string);
  };
  const first = keepFirstResults(data, kept);
  const { matches, files, counts } = first;
  const last = matches?.at(-1);
  const place =
    last === undefined
      ? { path: relative(files?.at(-1) ?? (counts?.at(-1)?.path as string)), number: Number.MAX_SAFE_INTEGER }
      : { path: relative(last.path), number: last.line };
  return { ...first, truncated: true, next_cursor: makeRootCursor(index, encodeCursor("grep", place)) };
}

function keepFirstResults(data: GrepData, kept: number): GrepData {
  if (data.files !== undefined) return { ...data, files: data.files.slice(0, kept) };
  if (data.counts !== undefined) return { ...data, counts: data.counts.slice(0, kept) };
  return { ...data, matches: data.matches.slice(0, kept) };
}
