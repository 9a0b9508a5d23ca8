/**
 * Calls without a path (or with `.`) in a workspace with several roots: they cover all roots, the
 * working directory first.
 *
 * A cursor of such a call names the root in which it continues: `r1.` before the cursor of the
 * search in root 1. A cursor without such a mark continues in root 0, the working directory.
 */
import { childOf } from "../backends/paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Location } from "../policy/index.ts";
import type {
  Counting,
  FindQuery,
  FindResult,
  SearchCounts,
  SearchQuery,
  SearchResult,
} from "../engine/search-types.ts";
import type { Rank } from "./generated/types.ts";
import { rankedGrep } from "./grep/rank.ts";
import { grepWithoutExcludedLines } from "./grep/search.ts";
import { maxAnswerBytes } from "./lib/text.ts";
import { BYTES_PER_MIB } from "./lib/limits.ts";
import { type CoveredQuery, findLeftOut } from "./lib/left-out-entry.ts";
import { leftOutNote, otherReadableRoots, otherRootsNote } from "./render/left-out.ts";
import { escapeControls } from "../engine/escape.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { type Call, locationError } from "./lib/tool.ts";
import { findPaths } from "./lib/walks.ts";

/** One root that a call reads. */
interface CoveredRoot {
  readonly path: string;
  /**
   * The position of the root among all readable roots, from 0. Closed roots are counted, so that a cursor stays valid
   * when a root is closed later.
   */
  readonly index: number;
}

/** The roots that a call without a path reads. */
export interface CoveredRoots {
  /** The path of the call, which is the working directory when it has none; then the other roots. */
  readonly roots: readonly CoveredRoot[];
  /**
   * The paths of roots that the call cannot read: a rule denies them, a grant is missing, or they do not
   * exist.
   */
  readonly closed: readonly string[];
}

/**
 * Returns the roots that a call reads: all readable ones if `typed`, its path argument, is `.`; otherwise
 * only that path. @throws GRANT_DENIED when the grant of the path itself ends meanwhile
 */
export async function coveredRoots(typed: string, call: Call): Promise<CoveredRoots> {
  const [at] = call.locations as readonly [Location];
  const located: (CoveredRoot & { readonly at: Location })[] = [{ at, path: at.path, index: 0 }];
  const closed: string[] = [];
  const others =
    typed === "." && call.reader.coversRoots ? otherReadableRoots(at.path, call.reach.summary) : [];
  for (const [position, other] of others.entries()) {
    try {
      // This asks for a grant of the root, if grants are needed.
      const found = await call.reach.locate(other, "read");
      const { path } = found;
      if ((await call.fs.stat(path)).isDir) located.push({ at: found, path, index: position + 1 });
      else closed.push(other);
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      closed.push(other);
    }
  }
  return others.length === 0 ? { roots: located, closed } : stillGranted(located, closed, call);
}

/** Returns the located roots whose grants have not ended while a person was asked about another one. @throws GRANT_DENIED */
async function stillGranted(
  located: readonly (CoveredRoot & { readonly at: Location })[],
  others: readonly string[],
  call: Call,
): Promise<CoveredRoots> {
  const roots: CoveredRoot[] = [];
  const closed = [...others];
  for (const { at, path, index } of located) {
    if (await call.reach.isGranted(at, "read")) roots.push({ path, index });
    else if (index === 0) throw locationError("GRANT_DENIED", at);
    else closed.push(path);
  }
  return { roots, closed };
}

/**
 * Returns a note that names the roots which the answer leaves out; undefined when it covers all. `verb` is a
 * participle such as `searched`.
 */
export function closedRootsNote({ closed }: CoveredRoots, verb: string): string | undefined {
  return closed.length === 0 ? undefined : `not ${verb}: ${closed.map(escapeControls).join(", ")}`;
}

/** Returns the note about roots that a search leaves out; of one that found nothing in one root, also about the others. */
export function leftOutRootsNote(covered: CoveredRoots, total: number, call: Call): string | undefined {
  const { roots, closed } = covered;
  if (roots.length > 1 || closed.length > 0) return closedRootsNote(covered, "searched");
  return otherRootsNote(total, call.locations[0]!.path, call.reach.summary);
}

/** Returns a note about files that are too large for a search, with the name of the first; undefined without any. */
export async function largeFilesNote(
  call: Call,
  roots: readonly string[],
  query: CoveredQuery,
  { skipped, above }: { readonly skipped: number; readonly above: number },
): Promise<string | undefined> {
  if (skipped === 0) return undefined;
  const first = await findLeftOut(call, roots, query, { files: true, above });
  const reason = `over ${above / BYTES_PER_MIB} MiB`;
  return leftOutNote(skipped, "searched", first ?? { path: "the first", reason });
}

/** Searches the contents below the covered roots. The paths of several are absolute, those of one are relative to it. */
export function grepRoots(
  call: Call,
  covered: CoveredRoots,
  query: CoveredContentQuery,
  rank: Rank,
): Promise<SearchResult> {
  const [only] = covered.roots;
  if (covered.roots.length > 1) return grepInCovered(call, covered, query, rank);
  return grepInRoot(call, only!.path, rank, query);
}

/** Returns the path of a result: it is relative to `root`, empty where that is a file, absolute where others were searched. */
export const pathOfResult = (path: string, root: string): string =>
  path === "" ? root : path.startsWith("/") ? path : childOf(root, path);

/**
 * Returns a cursor that continues in the root at `index` from the given cursor of that root; an empty cursor
 * means the beginning of the root.
 */
export function makeRootCursor(index: number, cursor = ""): string {
  return index === 0 ? cursor : `r${index}.${cursor}`;
}

/** Splits a cursor into the position of the root in which the call continues, and the cursor of that root. */
function parseRootCursor(given: string | undefined): {
  readonly index: number;
  readonly cursor: string | undefined;
} {
  const [, index, cursor] = /^r(\d{1,4})\.(.*)$/u.exec(given ?? "") ?? [];
  if (index === undefined) return { index: 0, cursor: given };
  return { index: Number(index), cursor: cursor === "" ? undefined : cursor };
}

/**
 * Finds entries below the roots, those of the working directory first. Paths are absolute. `queryIn` returns
 * the query for one root, whose patterns are relative to it. The totals are those of all roots.
 */
export async function findInCovered(
  call: Call,
  { roots }: CoveredRoots,
  queryIn: (root: string) => FindQuery & { readonly limit: number },
): Promise<FindResult> {
  const [only] = roots;
  if (roots.length === 1) return findPaths(call, only!.path, queryIn(only!.path));
  const paths: string[] = [];
  const results: FindResult[] = [];
  let next: string | undefined;
  for (const { path, index } of roots) {
    const { cursor: given, limit, ...query } = queryIn(path);
    const begin = parseRootCursor(given);
    const cursor = index === begin.index ? begin.cursor : undefined;
    // Roots before the cursor, and roots after a full page, are searched only because the totals include
    // them.
    const isCounted = index < begin.index || next !== undefined;
    const room = isCounted ? 0 : limit - paths.length;
    const found = await findPaths(call, path, { ...query, cursor, limit: Math.max(1, room) });
    results.push(found);
    if (isCounted) continue;
    if (room > 0) paths.push(...found.paths);
    next = cursorAfterRoot(found, index, room);
  }
  return withoutUndefined({
    total: sumOf(results, ({ total }) => total),
    ignored: sumOf(results, ({ ignored }) => ignored),
    ignoredDirectories: sumOf(results, ({ ignoredDirectories }) => ignoredDirectories),
    unreadable: sumOf(results, ({ unreadable }) => unreadable),
    paths,
    complete: results.every(({ complete }) => complete),
    truncated: next !== undefined,
    nextCursor: next,
  });
}

/** Returns the cursor of a page with room for so many results of a root; undefined while more roots fit. */
function cursorAfterRoot({ paths, nextCursor }: FindResult, index: number, room: number): string | undefined {
  if (room > 0) return nextCursor === undefined ? undefined : makeRootCursor(index, nextCursor);
  // The roots so far have filled the page exactly, and this one has more.
  return paths.length > 0 ? makeRootCursor(index) : undefined;
}

const sumOf = <T>(results: readonly T[], of: (one: T) => number): number =>
  results.reduce((total, one) => total + of(one), 0);

/** Searches contents below one root. */
function grepInRoot(call: Call, root: string, rank: Rank, query: CoveredContentQuery): Promise<SearchResult> {
  return rank === "path"
    ? grepWithoutExcludedLines(call.fs, root, query, call.reader.excludeLines)
    : rankedGrep(call.fs, root, query, { rank, answerBytes: maxAnswerBytes(call.settings.limits) });
}

/** A query of contents in which the limits are not optional. */
export type CoveredContentQuery = SearchQuery &
  Counting & {
    readonly maxResults: number;
    readonly timeoutMs: number;
    readonly signal: AbortSignal | undefined;
  };

/**
 * Searches contents below the roots, those of the working directory first. Paths are absolute. A search in
 * path order ends at the first root that has more results than fit, and returns a cursor. A ranked search
 * returns no cursor: it takes the best of every root, as far as the limit allows. The totals are those of the
 * roots that were searched.
 */
async function grepInCovered(
  call: Call,
  { roots }: CoveredRoots,
  query: CoveredContentQuery,
  rank: Rank,
): Promise<SearchResult> {
  const began = performance.now();
  const begin = parseRootCursor(query.cursor);
  const results: SearchResult[] = [];
  const { onCounts } = query;
  const resultUpTo = (cut: SearchResult | undefined, next: string | undefined): SearchResult =>
    mergeRootResults(results, cut, rank === "path" ? next : undefined);
  let given = 0;
  let next: string | undefined;
  /** The result of the last root that was not searched to its end; undefined when every root was. */
  let cut: SearchResult | undefined;
  for (const { path, index } of roots.filter((root) => root.index >= begin.index)) {
    const room = query.maxResults - given;
    const found = await grepInRoot(call, path, rank, {
      ...query,
      cursor: index === begin.index ? begin.cursor : undefined,
      timeoutMs: Math.max(1, Math.ceil(query.timeoutMs - (performance.now() - began))),
      maxResults: Math.max(1, room),
      onCounts: onCounts && ((counts) => onCounts(withCountsOfEarlierRoots(counts, results))),
    });
    // The roots so far have filled the page exactly, and this one has more. Its one match is returned on the
    // next page.
    if (room <= 0 && found.totalMatches > 0)
      return resultUpTo(
        { ...found, complete: false, incompleteReason: "max_results" },
        makeRootCursor(index),
      );
    results.push(withAbsolutePaths(found, path));
    given += query.output === "content" ? found.matches.length : found.counts.length;
    const isTimeOver = found.incompleteReason === "timeout";
    if (!found.truncated && !isTimeOver) continue;
    cut = found;
    next = cursorAfterCut(found, index, roots);
    if (rank === "path" || isTimeOver) break;
  }
  return resultUpTo(cut, next);
}

/**
 * Returns the cursor that continues after a root that was not searched to its end; undefined where nothing follows. A
 * search that was ended by its time limit and gave no cursor cannot be continued, but later roots can still be
 * searched.
 */
function cursorAfterCut(
  { nextCursor }: SearchResult,
  index: number,
  roots: CoveredRoots["roots"],
): string | undefined {
  if (nextCursor !== undefined) return makeRootCursor(index, nextCursor);
  const after = roots.find((root) => root.index > index);
  return after && makeRootCursor(after.index);
}

/** Returns the counts of the current root plus those of the roots before it, for a progress report. */
function withCountsOfEarlierRoots(
  { files, matches }: SearchCounts,
  earlier: readonly SearchResult[],
): SearchCounts {
  return {
    files: earlier.reduce((sum, one) => sum + one.filesSearched + one.skippedBinary, files),
    matches: earlier.reduce((sum, { totalMatches }) => sum + totalMatches, matches),
  };
}

/**
 * Returns the result with absolute paths. If the root is a file, its relative path is empty and becomes the
 * path of the root.
 */
function withAbsolutePaths(found: SearchResult, root: string): SearchResult {
  const whole = (path: string): string => (path === "" ? root : childOf(root, path));
  return {
    ...found,
    matches: found.matches.map((match) => ({ ...match, path: whole(match.path) })),
    counts: found.counts.map(({ path, count }) => ({ path: whole(path), count })),
  };
}

function mergeRootResults(
  results: readonly SearchResult[],
  cut: SearchResult | undefined,
  next: string | undefined,
): SearchResult {
  const sum = (of: (one: SearchResult) => number): number => sumOf(results, of);
  const reason = cut?.incompleteReason ?? results.find((one) => !one.complete)?.incompleteReason;
  return withoutUndefined({
    matches: results.flatMap(({ matches }) => matches),
    counts: results.flatMap(({ counts }) => counts),
    totalMatches: sum((one) => one.totalMatches),
    filesWithMatches: sum((one) => one.filesWithMatches),
    filesSearched: sum((one) => one.filesSearched),
    skippedBinary: sum((one) => one.skippedBinary),
    skippedLarge: sum((one) => one.skippedLarge),
    unreadable: sum((one) => one.unreadable),
    ignored: sum((one) => one.ignored),
    truncated: cut !== undefined,
    // The freshness of the working directory stands for all roots, though others may have been read
    // differently, with or without an index.
    fresh: results[0]?.fresh ?? "scan",
    complete: cut === undefined && results.every((one) => one.complete),
    incompleteReason: reason,
    nextCursor: next,
  });
}
