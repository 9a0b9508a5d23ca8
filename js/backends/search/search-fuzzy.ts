/**
 * Fuzzy path search over any backend. The paths come from a walk, and the engine ranks them with the scores
 * of the native search.
 */
import { engine } from "../../engine/current.ts";
import type { FuzzyQuery, FuzzyResult } from "../../engine/search-types.ts";
import type { FsBackend } from "../backend.ts";
import { childOf } from "../paths.ts";
import { findBackend, type SearchPlace, timeOf } from "./search.ts";

/** The pool of candidates has this many times the wanted results when the time of change counts too. */
const RECENT_POOL = 4;
/**
 * The score that is added for a change within the given milliseconds. A matching letter is worth 12 or more.
 */
const RECENT: readonly (readonly [ms: number, bonus: number])[] = [
  [3_600_000, 24],
  [86_400_000, 16],
  [7 * 86_400_000, 8],
];

/**
 * Finds files below a directory by a fuzzy match of their paths, best first. Paths are relative to `root`. A
 * backend with its own search is used directly.
 */
export async function findFilesBackend(
  backend: FsBackend,
  root: string,
  query: FuzzyQuery & { readonly signal?: AbortSignal | undefined },
  place: SearchPlace = {},
): Promise<FuzzyResult> {
  const { rank, ...rest } = query;
  if (rank !== "recent") return byScore(backend, root, rest, place);
  const limit = query.limit ?? 20;
  const pool = await byScore(backend, root, { ...rest, limit: limit * RECENT_POOL }, place);
  const now = Date.now();
  const files: { readonly path: string; readonly score: number }[] = [];
  for (const { path, score } of pool.files) {
    // An entry that has vanished counts as the oldest.
    const time = await timeOf(backend, childOf(root, path)).catch(() => 0);
    const bonus = RECENT.find(([ms]) => now - time <= ms)?.[1] ?? 0;
    files.push({ path, score: score + bonus });
  }
  files.sort((a, b) => b.score - a.score);
  return { files: files.slice(0, limit), total: pool.total };
}

async function byScore(
  backend: FsBackend,
  root: string,
  query: Omit<FuzzyQuery, "rank"> & { readonly signal?: AbortSignal | undefined },
  place: SearchPlace,
): Promise<FuzzyResult> {
  if (backend.findFiles !== undefined) return backend.findFiles(root, query);
  const { query: letters, limit, typos, respectIgnore, ignoreFiles, signal } = query;
  // A bad query is refused before the tree is walked.
  engine().rankPaths(letters, [], { limit, typos });
  const names = { pattern: "**", type: "file", respectIgnore, ignoreFiles, signal } as const;
  const { paths } = await findBackend(backend, root, names, place);
  return engine().rankPaths(letters, paths, { limit, typos });
}
