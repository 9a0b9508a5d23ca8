/**
 * Calls without a path in a workspace with several roots: they cover all roots, the working
 * directory first.
 *
 * A cursor of such a call names the root in which it continues: `r1.` before the cursor of that
 * root's own search.
 */
import { childOf } from "../backends/paths.ts";
import { grepBackend } from "../backends/search.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { FindQuery, FindResult, SearchQuery, SearchResult } from "../engine/search-types.ts";
import { rankedGrep, type Rank } from "./grep_rank.ts";
import { otherRoots } from "./left-out.ts";
import { escapeControls } from "../engine/escape.ts";
import { type Call, refuse } from "./tool.ts";
import { findPaths } from "./walks.ts";

/** One root that a call covers. */
export interface CoveredRoot {
  readonly path: string;
  /** Its number among all roots, those that may not be used included. */
  readonly index: number;
}

/** The roots that a call covers. */
export interface CoveredRoots {
  /** The directory that the call names, and the other roots where it names none. */
  readonly roots: readonly CoveredRoot[];
  /** Roots that are left out because a rule, a grant or the disk keeps them from the call. */
  readonly closed: readonly string[];
}

/** The roots that a call covers whose path is `typed`; `.` is the default. */
export async function coveredRoots(typed: string, call: Call): Promise<CoveredRoots> {
  const [at] = call.locations;
  const roots: CoveredRoot[] = [{ path: at!.path, index: 0 }];
  const closed: string[] = [];
  const others = typed === "." && call.coversRoots ? otherRoots(at!.path, call.access) : [];
  // Each root below its own grant.
  for (const [before, other] of others.entries()) {
    try {
      const { path } = await call.locate(other, "read");
      if (!(await call.fs.stat(path)).isDir) throw refuse("NOT_DIRECTORY", at);
      roots.push({ path, index: before + 1 });
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      closed.push(other);
    }
  }
  return { roots, closed };
}

/** Says which roots an answer is not about; undefined where it is about all. */
export function closedRootsNote({ closed }: CoveredRoots, done: string): string | undefined {
  return closed.length === 0 ? undefined : `not ${done}: ${closed.map(escapeControls).join(", ")}`;
}

/** The cursor of a call over several roots. */
export function rootCursor(index: number, cursor = ""): string {
  return index === 0 ? cursor : `r${index}.${cursor}`;
}

/** Returns the root in which a call continues, and the cursor there. */
function cursorIn(cursor: string | undefined): { readonly index: number; readonly cursor?: string } {
  const [, index, inner] = /^r(\d{1,4})\.(.*)$/u.exec(cursor ?? "") ?? [];
  if (index === undefined) return { index: 0, ...(cursor === undefined ? {} : { cursor }) };
  return { index: Number(index), ...(inner === "" ? {} : { cursor: inner as string }) };
}

/** Finds entries below the roots: absolute paths, those of the working directory first. */
export async function findInCovered(
  call: Call,
  { roots }: CoveredRoots,
  queryIn: (root: string) => FindQuery & { readonly limit: number },
): Promise<FindResult> {
  const [only] = roots;
  if (roots.length === 1) return findPaths(call, only!.path, queryIn(only!.path));
  const paths: string[] = [];
  const sums = { total: 0, ignored: 0, unreadable: 0 };
  let complete = true;
  let next: string | undefined;
  for (const { path, index } of roots) {
    const { cursor: given, limit, ...query } = queryIn(path);
    const begin = cursorIn(given);
    const room = index < begin.index || next !== undefined ? 0 : limit - paths.length;
    const { cursor } = index === begin.index ? begin : {};
    const found = await findPaths(call, path, { ...query, cursor, limit: Math.max(1, room) });
    sums.total += found.total;
    sums.ignored += found.ignored;
    sums.unreadable += found.unreadable;
    complete &&= found.complete;
    if (index < begin.index || next !== undefined) continue;
    if (room > 0) paths.push(...found.paths);
    if (room <= 0 && found.paths.length > 0) next = rootCursor(index);
    else if (found.nextCursor !== undefined && room > 0) next = rootCursor(index, found.nextCursor);
  }
  return {
    ...sums,
    paths,
    complete,
    truncated: next !== undefined,
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}

/** A search of contents with what this room adds to it. */
export type CoveredQuery = SearchQuery & {
  readonly maxResults: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

/** Searches contents below the roots: absolute paths, those of the working directory first, ranked within each. */
export async function grepInCovered(
  call: Call,
  { roots }: CoveredRoots,
  query: CoveredQuery,
  rank: Rank,
): Promise<SearchResult> {
  const search = (root: string, one: CoveredQuery): Promise<SearchResult> =>
    rank === "path" ? grepBackend(call.fs, root, one) : rankedGrep(call.fs, root, one, rank);
  const began = performance.now();
  const begin = cursorIn(query.cursor);
  const results: SearchResult[] = [];
  let [given, next, cut]: [number, string | undefined, SearchResult | undefined] = [0, undefined, undefined];
  for (const { path, index } of roots) {
    if (index < begin.index) continue;
    const { cursor } = index === begin.index ? begin : {};
    const room = query.maxResults - given;
    const timeoutMs = Math.max(1, Math.ceil(query.timeoutMs - (performance.now() - began)));
    const found = await search(path, { ...query, cursor, timeoutMs, maxResults: Math.max(1, room) });
    if (room <= 0 && found.totalMatches > 0) {
      [next, cut] = [rootCursor(index), { ...found, complete: false, incompleteReason: "max_results" }];
      break;
    }
    results.push(withRoot(found, path));
    given += query.output === "content" ? found.matches.length : found.counts.length;
    if (found.truncated || found.incompleteReason === "timeout") {
      const after = roots.find((root) => root.index > index);
      next =
        found.nextCursor !== undefined
          ? rootCursor(index, found.nextCursor)
          : after === undefined || rank !== "path"
            ? undefined
            : rootCursor(after.index);
      cut = found;
      if (rank === "path" || found.incompleteReason === "timeout") break;
    }
  }
  return merged(results, cut, rank === "path" ? next : undefined);
}

function withRoot(found: SearchResult, root: string): SearchResult {
  const whole = (path: string): string => (path === "" ? root : childOf(root, path));
  return {
    ...found,
    matches: found.matches.map((match) => ({ ...match, path: whole(match.path) })),
    counts: found.counts.map(({ path, count }) => ({ path: whole(path), count })),
  };
}

function merged(
  results: readonly SearchResult[],
  cut: SearchResult | undefined,
  next: string | undefined,
): SearchResult {
  const sum = (of: (one: SearchResult) => number): number =>
    results.reduce((total, one) => total + of(one), 0);
  const reason = cut?.incompleteReason ?? results.find((one) => !one.complete)?.incompleteReason;
  return {
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
    fresh: results[0]?.fresh ?? "scan",
    complete: cut === undefined && results.every((one) => one.complete),
    ...(reason === undefined ? {} : { incompleteReason: reason }),
    ...(next === undefined ? {} : { nextCursor: next }),
  };
}
