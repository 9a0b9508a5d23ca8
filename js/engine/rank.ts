/**
 * Ranked searches: of paths that contain some letters in their order, and of contents by the words of a question.
 *
 * They work on paths and contents in memory. Trees on disk are ranked by one call of the native engine, with the
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

/** A ranked search of contents: a question in words, or names of the code. */
export interface CodeQuery {
  /** The question, at most 1,000 bytes. */
  readonly query: string;
  /** Only blocks that define a name of the query, or only blocks of tests. Default `any`. */
  readonly kind?: CodeKind | undefined;
  /** The maximum number of blocks. Default 10, at most 100. */
  readonly limit?: number | undefined;
}

/** Which blocks a ranked search returns. */
type CodeKind = "any" | "definition" | "test";

/** Some consecutive lines of a file that fit a query. */
export interface CodeBlock {
  /** The path, relative to the searched directory. */
  readonly path: string;
  /** The first line, from 1. */
  readonly first: number;
  /** The last line, inclusive. */
  readonly last: number;
  /** The line of the definition with which the block begins, and the lines with words of the query. */
  readonly lines: readonly CodeLine[];
}

/** A line of a block. */
interface CodeLine {
  /** From 1. */
  readonly line: number;
  /** The line, at most 200 characters. */
  readonly text: string;
}

/** A ranked search of contents that are added one by one. */
export interface CodeRanking {
  /** Adds a file. Returns false for one that is not searched, such as a binary one. */
  add(path: string, content: Uint8Array): boolean;
  /** Returns the paths of the best blocks, best first. */
  rank(): readonly string[];
  /** Returns the block at an index of the ranking; undefined when its file has changed and no longer fits. */
  show(index: number, content: Uint8Array): CodeBlock | undefined;
}

/** Ranked searches: of paths by their letters, of contents by their words. */
interface Rankings {
  /** Begins a ranked search of contents. @throws INVALID_ARGUMENT for a query without a word */
  code(query: CodeQuery): CodeRanking;
  /** Ranks paths by some of their letters, in order. @throws INVALID_ARGUMENT for an empty query */
  paths(query: string, paths: readonly string[], options?: RankOptions): RankedPaths;
}

/** The functions of the engine for ranked searches. */
export interface RankEngine {
  /** Ranked searches of what is in memory. */
  readonly ranking: Rankings;
}

/** Returns the functions of the engine for ranked searches, which call the given binding. */
export function makeRankEngine(binding: FileExports): RankEngine {
  return { ranking: makeRankings(binding) };
}

function makeRankings(binding: FileExports): Rankings {
  return {
    code({ query, kind, limit }) {
      const raw = asEngineCall(() => new binding.CodeRanking(JSON.stringify({ query, kind, limit })));
      return {
        add: (path, content) => raw.add(path, content),
        rank: () => raw.rank().split("\0").filter(Boolean),
        show(index, content) {
          const packed = raw.show(index, content);
          return packed.nums.length === 0 ? undefined : decodeCodeBlock(new Unpacker(packed));
        },
      };
    },
    paths(query, paths, { limit, typos } = {}) {
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

/** Decodes a block as `pack_block` in `crates/core/src/rank` packs it. */
export function decodeCodeBlock(from: Unpacker): CodeBlock {
  const path = from.str();
  const [first, last] = [from.num(), from.num()];
  const lines = Array.from({ length: from.num() }, () => ({ line: from.num(), text: from.str() }));
  return { path, first, last, lines };
}
