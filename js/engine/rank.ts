/**
 * Ranked searches: of paths that contain some letters in their order, and of contents by the words of a question.
 *
 * They work on paths and contents in memory. Trees on disk are ranked by one call of the native engine, with the
 * same scores: `tree-search.ts`.
 */
import { asEngineCall } from "./threads.ts";
import type { CountedContents as RawCountedContents, FileExports } from "./generated/exports.ts";
import { type CodeBlock, decodeCodeBlock } from "./generated/records.ts";
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

/** Contents whose terms are counted once, for many searches. */
export interface CountedContents {
  readonly raw: RawCountedContents;
  /**
   * Counts the terms of a content. `path` is relative to the start of a search. Returns its number, from 0 on; -1 for a
   * content that is not ranked, such as a binary one.
   */
  add(path: string, content: Uint8Array): number;
  /** Returns the memory use in bytes. */
  bytes(): number;
}

/** A ranked search of contents that are added one by one. */
export interface CodeRanking {
  /**
   * Adds a file by its path relative to the directory with the index `root`. Returns false for one that is not searched,
   * such as a binary one.
   */
  add(root: number, path: string, content: Uint8Array): boolean;
  /** Adds a content that is counted already, by its number. Returns false for one that is not searched. */
  addKnown(root: number, contents: CountedContents, number: number): boolean;
  /**
   * Returns for each of the best blocks, best first, the number of its file: the searched ones are counted in the order
   * in which they were added, from 0 on.
   */
  rank(): readonly number[];
  /** Returns the block at an index of the ranking; undefined when its file has changed and no longer fits. */
  show(index: number, content: Uint8Array): CodeBlock | undefined;
}

/** Ranked searches: of paths by their letters, of contents by their words. */
interface Rankings {
  /** Begins a ranked search of contents. @throws INVALID_ARGUMENT for a query without a word */
  code(query: CodeQuery): CodeRanking;
  /** Returns an empty list of contents for ranked searches. */
  counted(): CountedContents;
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
        add: (root, path, content) => raw.add(root, path, content),
        addKnown: (root, contents, number) => raw.addKnown(root, contents.raw, number),
        rank() {
          const from = new Unpacker(raw.rank());
          return from.list(() => from.num());
        },
        show(index, content) {
          const packed = raw.show(index, content);
          return packed.nums.length === 0 ? undefined : decodeCodeBlock(new Unpacker(packed));
        },
      };
    },
    counted() {
      const raw = new binding.CountedContents();
      return { raw, add: (path, content) => raw.add(path, content), bytes: () => raw.bytes() };
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
