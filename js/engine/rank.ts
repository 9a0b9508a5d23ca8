/**
 * Fuzzy path search: finds and ranks paths that contain some letters in their order.
 *
 * It works on a list of paths in memory. Trees on disk are ranked by one call of the native engine, with the
 * same scores: `tree-search.ts`.
 */
import { asEngineCall } from "./threads.ts";
import type { FileExports } from "./generated/exports.ts";
import { Unpacker } from "./wire/unpack.ts";

/** How paths are ranked. */
export interface RankOptions {
  /** The maximum number of returned paths. Default 20, at most 10,000. */
  readonly limit?: number | undefined;
  /**
   * The number of letters that may be wrong if nothing matches exactly, at most 8. Default: 0 for a short
   * query, 1 for a longer one.
   */
  readonly typos?: number | undefined;
}

/** Matching paths, best first. */
export interface RankedPaths {
  /** The best paths first. */
  readonly files: readonly RankedPath[];
  /** The number of all matching paths, including those beyond `limit`. */
  readonly total: number;
}

/** A path with its score. Higher is better; only scores of the same query can be compared. */
export interface RankedPath {
  /** The path as it was ranked. */
  readonly path: string;
  /** How well the query matches the path. */
  readonly score: number;
}

/** The functions of the engine for fuzzy path search. */
export interface RankEngine {
  /** Ranks paths by some of their letters, in order. @throws INVALID_ARGUMENT for an empty query */
  rankPaths(query: string, paths: readonly string[], options?: RankOptions): RankedPaths;
}

/** Returns the functions of the engine for fuzzy path search, which call the given binding. */
export function makeRankEngine(binding: FileExports): RankEngine {
  return {
    rankPaths(query, paths, { limit, typos } = {}) {
      const text = paths.length === 0 ? "" : `${paths.join("\0")}\0`;
      const asked = JSON.stringify({ query, limit, typos });
      const from = new Unpacker(asEngineCall(() => binding.rankPaths(text, asked)));
      const total = from.num();
      const files = Array.from({ length: from.num() }, () => {
        const path = paths[from.num()] as string;
        return { path, score: from.num() };
      });
      return { files, total };
    },
  };
}
