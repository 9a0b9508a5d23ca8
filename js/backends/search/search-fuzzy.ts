/**
 * Fuzzy path search over any backend. The paths come from a walk, and the engine ranks them with the scores
 * of the native search.
 */
import { engine } from "../../engine/current.ts";
import type { RankedPath, RankedPaths, RankOptions } from "../../engine/rank.ts";
import type { FuzzyQuery, FuzzyResult } from "../../engine/search-types.ts";
import type { Files } from "../files.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import { sortYielding, Yielder } from "../../engine/yielder.ts";
import { childOf } from "../paths.ts";
import type { Signalled } from "../../engine/errors.ts";
import { timeOf } from "./search-find.ts";

/** The number of candidates in proportion to the wanted results, when recent changes also count. */
const RECENT_POOL = 4;
/** The score that is added for a change within so many milliseconds. A matching letter is worth 12 or more. */
const RECENCY_BONUSES: readonly (readonly [ms: number, bonus: number])[] = [
  [3_600_000, 24],
  [86_400_000, 16],
  [7 * 86_400_000, 8],
];

/**
 * Finds files below a directory by a fuzzy match of their paths, best first; with `rank` by recent changes, too. Paths
 * are relative to `root`.
 */
export async function findRankedFiles(
  backend: Files,
  root: string,
  query: FuzzyQuery & Signalled,
): Promise<FuzzyResult> {
  const { rank, ...rest } = query;
  if (rank !== "recent") return backend.findFiles(root, rest);
  const limit = query.limit ?? 20;
  const pool = await backend.findFiles(root, { ...rest, limit: limit * RECENT_POOL });
  const now = Date.now();
  const files: { readonly path: string; readonly score: number }[] = [];
  for (const { path, score } of pool.files) {
    // An entry that has vanished counts as the oldest.
    const time = await timeOf(backend, childOf(root, path)).catch(() => 0);
    const bonus = RECENCY_BONUSES.find(([ms]) => now - time <= ms)?.[1] ?? 0;
    files.push({ path, score: score + bonus });
  }
  files.sort((a, b) => b.score - a.score);
  return { files: files.slice(0, limit), total: pool.total };
}

/** Ranks the files that a search for names finds by a fuzzy match of their paths. */
export async function rankFiles(
  backend: Files,
  root: string,
  query: Omit<FuzzyQuery, "rank"> & Signalled,
): Promise<FuzzyResult> {
  const { query: letters, limit, typos, respectIgnore, ignoreFiles, signal } = query;
  // A bad query is refused before the tree is walked.
  engine().ranking.paths(letters, [], { limit, typos });
  const names = { pattern: "**", type: "file", respectIgnore, ignoreFiles, signal } as const;
  const { paths } = await backend.find(root, names);
  return rankYielding(letters, paths, { limit, typos }, new Yielder({ signal }));
}

/** The number of paths that are ranked before the event loop runs: some milliseconds of work. */
const PATHS_PER_SLICE = 16_384;
/** The number of results of a call without a limit, and the maximum number, as in the engine. */
const [DEFAULT_LIMIT, MAX_LIMIT] = [20, 10_000];

/**
 * Ranks paths as the engine does, but yields to the event loop between slices. @throws INVALID_ARGUMENT, CANCELLED
 */
export async function rankYielding(
  query: string,
  paths: readonly string[],
  options: RankOptions,
  yielder: Yielder,
): Promise<RankedPaths> {
  const { paths: rankPaths } = engine().ranking;
  if (paths.length <= PATHS_PER_SLICE) return rankPaths(query, paths, options);
  const { limit = DEFAULT_LIMIT, typos } = options;
  // Typos are allowed only where no path of any slice matches without.
  for (const allowed of typos === 0 ? [0] : [0, typos]) {
    const found: RankedPath[] = [];
    let total = 0;
    for (let at = 0; at < paths.length; at += PATHS_PER_SLICE) {
      await yielder.yieldIfDue();
      const slice = paths.slice(at, at + PATHS_PER_SLICE);
      const ranked = rankPaths(query, slice, { limit, typos: allowed });
      total += ranked.total;
      found.push(...ranked.files);
    }
    // The sort is stable: of equal matches the first one stays first, as in one slice.
    const files = await sortYielding(found, isBetterMatch, yielder);
    if (total > 0) return { files: files.slice(0, Math.min(limit, MAX_LIMIT)), total };
  }
  return { files: [], total: 0 };
}

/** Compares two results: the higher score is first, and of equal ones the shorter path. */
function isBetterMatch(a: RankedPath, b: RankedPath): number {
  return b.score - a.score || utf8Length(a.path) - utf8Length(b.path);
}
