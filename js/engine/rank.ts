/**
 * Fuzzy path search: ranks paths by some of their letters.
 *
 * Pure: the input is a list of paths. Trees on disk are ranked by one call of the native engine,
 * with the same scores: `tree-search.ts`.
 */
import { fromEngine } from "./errors.ts";
import { type Packed, unpack } from "./wire/unpack.ts";

/** The exports of both bindings for this area. */
export interface RankBinding {
  rankPaths(paths: string, options: string): Packed;
}

/** How paths are ranked. */
export interface RankOptions {
  /** The maximum number of results. Default 20, at most 10,000. */
  readonly limit?: number | undefined;
  /** The number of allowed typos when nothing matches without. Default by length: 0 or 1. */
  readonly typos?: number | undefined;
}

/** Matching paths, best first. */
export interface RankedPaths {
  readonly files: readonly RankedPath[];
  /** The number of all matching paths. */
  readonly total: number;
}

/** A path with its score: higher is better, comparable within one query only. */
export interface RankedPath {
  readonly path: string;
  readonly score: number;
}

/** The functions of this area. */
export interface RankEngine {
  /** Ranks paths by some of their letters, in order. @throws INVALID_ARGUMENT for an empty query */
  rankPaths(query: string, paths: readonly string[], options?: RankOptions): RankedPaths;
}

/** Wraps a binding. */
export function rankEngine(binding: RankBinding): RankEngine {
  return {
    rankPaths(query, paths, { limit, typos } = {}) {
      const text = paths.length === 0 ? "" : `${paths.join("\0")}\0`;
      let packed: Packed;
      try {
        packed = binding.rankPaths(text, JSON.stringify({ query, limit, typos }));
      } catch (error) {
        throw fromEngine(error);
      }
      const from = unpack(packed);
      const total = from.num();
      const files = Array.from({ length: from.num() }, () => {
        const path = paths[from.num()] as string;
        return { path, score: from.num() };
      });
      return { files, total };
    },
  };
}
