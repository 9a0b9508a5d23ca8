/**
 * The paths that somebody means who remembers some of their letters.
 *
 * Pure: what is ranked is a list of paths. Trees on disk are ranked by one call
 * of the native engine, with the same scores: `tree-search.ts`.
 */
import { fromEngine } from "./errors.ts";
import { type Packed, unpack } from "./unpack.ts";

/** What both bindings export for this area. */
export interface RankBinding {
  rankPaths(paths: string, options: string): Packed;
}

/** How paths are ranked. */
export interface RankOptions {
  /** The most paths given. Default 20, at most 10,000. */
  readonly limit?: number | undefined;
  /** How many letters may be wrong, where nothing fits without. Default by length: 0 or 1. */
  readonly typos?: number | undefined;
}

/** Paths that fit, best first. */
export interface RankedPaths {
  readonly files: readonly RankedPath[];
  /** All that fit. */
  readonly total: number;
}

/** A path and how well it fits: higher is better, comparable within one query only. */
export interface RankedPath {
  readonly path: string;
  readonly score: number;
}

/** The functions of this area. */
export interface RankEngine {
  /** Paths by some of their letters, in order. @throws INVALID_ARGUMENT for an empty query */
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
