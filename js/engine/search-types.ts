/**
 * The queries and results of searches: the same for every backend.
 *
 * Paths in results are relative to the searched path, `/`-separated; when that path is a file, the
 * one path is empty. Results are in the order of code points of whole paths, then by line.
 */

import type { RankedPaths, RankOptions } from "./rank.ts";
import type { FindTotals, IncompleteReason, SearchTotals } from "./generated/records.ts";

export type { Freshness, IncompleteReason, IndexStatus } from "./generated/records.ts";

/** A query for a text. */
export interface TextQuery {
  /** Not empty. The dialect is Rust's `regex`: no look-around, no back-references, linear time. */
  readonly pattern?: string | undefined;
  /** Instead of `pattern`, several at once; each match lists the patterns that match. */
  readonly patterns?: readonly string[] | undefined;
  /** True for a regular expression, false for plain text. Default true. */
  readonly regex?: boolean | undefined;
  /** `smart`: insensitive unless the pattern has an upper-case letter. Default `sensitive`. */
  readonly case?: "sensitive" | "insensitive" | "smart" | undefined;
  /** Match whole words only. Default false. */
  readonly word?: boolean | undefined;
  /** Allow matches across line endings; `line` is then the first one. Default false. */
  readonly multiline?: boolean | undefined;
}

/** Limits on the hits in a text. */
export interface TextLimits {
  /** Lines shown before each hit, at most 50. Default: `context`. */
  readonly before?: number | undefined;
  /** Lines shown after each hit, at most 50. Default: `context`. */
  readonly after?: number | undefined;
  /** Lines shown on both sides. Default 0. */
  readonly context?: number | undefined;
  /** The maximum hits of a file. Default: no limit. */
  readonly maxPerFile?: number | undefined;
  /** The maximum code points shown of a line, around the match; 0 for all. Default 500. */
  readonly maxLineChars?: number | undefined;
}

/** Filters for the entries of a tree. */
export interface WalkQuery {
  /** Globs to exclude, as in gitignore: a match excludes everything below it too. */
  readonly exclude?: readonly string[] | undefined;
  /** Include names that begin with a dot (`.git` never). Default true. */
  readonly hidden?: boolean | undefined;
  /** Honour ignore files. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of ignore files, lowest precedence first. Default `.gitignore .ignore .agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** Continue a truncated result: its `nextCursor`. */
  readonly cursor?: string | undefined;
  /**
   * The maximum bytes of the returned rows (`path:line:text`), or paths; anything beyond is only
   * counted, which costs nothing. The totals cover everything; `truncated` and `nextCursor` tell
   * that something was left out. Default: no limit.
   */
  readonly maxTextBytes?: number | undefined;
  /** The time in milliseconds after which the partial result is returned. */
  readonly timeoutMs?: number | undefined;
  /**
   * The use of an index, on a backend with an index; the answers are the same. `auto`: a slow
   * search starts building an index in the background for later searches; never of a whole file
   * system or a home directory unless `anywhere`. `strict`: only for names; the contents of every
   * file are read, which also finds changes that the kernel reports to no watcher. Default: the backend's, `auto`.
   */
  readonly index?: IndexUse | undefined;
}

/** A search of contents below a directory, or of one file. */
export interface SearchQuery extends TextQuery, TextLimits, WalkQuery {
  /** Only files whose path matches one of these. */
  readonly glob?: string | readonly string[] | undefined;
  /** Only files of these types: names such as `rust`, or extensions. */
  readonly fileTypes?: readonly string[] | undefined;
  /** Default `content`. */
  readonly output?: "content" | "files" | "count" | undefined;
  /** The maximum number of hits, or of files when `output` is not `content`. Default: no limit. */
  readonly maxResults?: number | undefined;
  /** The size in bytes above which files are skipped and counted. Default 100 MiB. */
  readonly maxFileBytes?: number | undefined;
  /**
   * Compare the size and times of every file with those in the index, even when the system reports
   * changes: finds what was changed through names outside the tree. A store through a memory map may
   * leave the times as they are until the file is closed; `index: "strict"` finds it. Default false.
   */
  readonly strict?: boolean | undefined;
}

/** The use of an index by searches. */
export type IndexUse = "auto" | "off" | "anywhere" | "strict";

/** One matching line. */
export interface TextMatch {
  /** From 1. */
  readonly line: number;
  /** The column of the first match, in code points from 1. */
  readonly column: number;
  /** The line without its line ending, truncated around the match (`…`) when it is too long. */
  readonly text: string;
  /** Present when the line is truncated. */
  readonly cut?: true;
  /** The last line of a match across lines. */
  readonly endLine?: number;
  /** The lines after the first up to `endLine`, truncated like `text`. Present with `endLine`. */
  readonly rest?: readonly string[];
  /** The lines before, when `before` or `after` was requested. */
  readonly before?: readonly string[];
  /** The lines after, when `before` or `after` was requested. */
  readonly after?: readonly string[];
  /** The indexes in `patterns` of the patterns that match. */
  readonly patterns?: readonly number[];
}

/** One matching line of a tree. */
export interface SearchMatch extends TextMatch {
  readonly path: string;
}

/** The result of a search of contents. */
export interface SearchResult extends SearchTotals {
  /** Empty unless `output` is `content`. */
  readonly matches: readonly SearchMatch[];
  /** The files with hits and their numbers; for `content` too. */
  readonly counts: readonly FileCount[];
  /** True when everything was searched to its end. */
  readonly complete: boolean;
  readonly incompleteReason?: IncompleteReason;
  /** The cursor of the next page of a truncated result. */
  readonly nextCursor?: string;
}

/** A file and its number of matching lines. */
export interface FileCount {
  readonly path: string;
  readonly count: number;
}

/** A search for names below a directory. */
export interface FindQuery extends WalkQuery {
  /** A glob, or several of which one must match; `!` excludes. */
  readonly pattern: string | readonly string[];
  /** `any`: files, directories and links. Default `file`. */
  readonly type?: "file" | "dir" | "symlink" | "any" | undefined;
  /** Default true. */
  readonly caseSensitive?: boolean | undefined;
  /** `recent`: changes within `recencyMs` newest first, then the rest by path. Default `path`. */
  readonly sort?: "path" | "recent" | "mtime" | undefined;
  /** Milliseconds. Default one day. */
  readonly recencyMs?: number | undefined;
  /** The maximum number of paths. Default: no limit. */
  readonly limit?: number | undefined;
}

/** A fuzzy search for files by parts of their paths. */
export interface FuzzyQuery extends RankOptions {
  /** Letters in their order; from five on one may be wrong. Spaces are ignored. */
  readonly query: string;
  /** `recent`: a change within the last week, day or hour counts too. Default `score`. */
  readonly rank?: "score" | "recent" | undefined;
  /** Honour ignore files. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of ignore files, lowest precedence first. Default `.gitignore .ignore .agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** Default `auto`. */
  readonly index?: IndexUse | undefined;
}

/** The result of a fuzzy search, best first. */
export interface FuzzyResult extends RankedPaths {}

/** The result of a search for names. */
export interface FindResult extends FindTotals {
  readonly paths: readonly string[];
  readonly nextCursor?: string;
}

/** The result of a search in one text. */
export interface TextHits {
  readonly matches: readonly TextMatch[];
  readonly total: number;
  /** True when the content is binary and was not searched. */
  readonly binary: boolean;
  /** True when there are more than `maxPerFile`. */
  readonly more: boolean;
}

/** The counts of a search so far. */
export interface SearchCounts {
  /** The files searched. */
  readonly files: number;
  /** The matches in them. */
  readonly matches: number;
}

/** A search that tells its counts while it runs. */
export interface Counting {
  /** Called ten times a second with growing counts, by searches of a local disk. */
  readonly onCounts?: ((counts: SearchCounts) => void) | undefined;
}
