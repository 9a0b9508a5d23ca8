/**
 * The queries and results of searches: the same for every backend.
 *
 * Paths in results are relative to the searched directory and separated by `/`. If a file was searched, its
 * path is empty. Results are sorted by the code points of the whole path, then by line.
 */

import type { CodeQuery, RankedPaths, RankOptions } from "./rank.ts";
import type { CodeFound, FindTotals, IncompleteReason, SearchTotals } from "./generated/records.ts";

export type { Freshness, IncompleteReason, IndexStatus } from "./generated/records.ts";

/** A query for a text. */
export interface TextQuery {
  /**
   * The pattern to find; not empty. The syntax is that of Rust's `regex`, which runs in linear time and has
   * no look-around and no back-references.
   */
  readonly pattern?: string | undefined;
  /**
   * Several patterns, instead of `pattern`: a line matches if one of them does. Each match lists the patterns
   * that match.
   */
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

/** Limits on the matches in one text. */
export interface TextLimits {
  /** The number of lines returned before each match, at most 50. Default: `context`. */
  readonly before?: number | undefined;
  /** The number of lines returned after each match, at most 50. Default: `context`. */
  readonly after?: number | undefined;
  /** The number of lines returned before and after each match. Default 0. */
  readonly context?: number | undefined;
  /** The maximum number of matching lines of one file. Default: no limit. */
  readonly maxPerFile?: number | undefined;
  /** The maximum number of code points returned of a line, around the match; 0 for all. Default 500. */
  readonly maxLineChars?: number | undefined;
}

/** Filters for the entries of a tree. */
export interface WalkQuery {
  /** Globs to exclude, as in gitignore: a match excludes everything below it too. */
  readonly exclude?: readonly string[] | undefined;
  /** Include names that begin with a dot (`.git` never). Default true. */
  readonly hidden?: boolean | undefined;
  /** Leave out what ignore files such as `.gitignore` exclude. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of ignore files, lowest precedence first. Default `.gitignore .ignore .agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** The `nextCursor` of a truncated result, to continue after it. */
  readonly cursor?: string | undefined;
  /**
   * The maximum size in bytes of the returned results: rows such as `path:line:text`, or paths. Further
   * results are counted but not returned, so the totals are complete; `truncated` and `nextCursor` say that
   * there are more. Default: no limit.
   */
  readonly maxTextBytes?: number | undefined;
  /** The time in milliseconds after which the search ends and returns the results found so far. */
  readonly timeoutMs?: number | undefined;
  /**
   * How a backend with an index uses it; the results are the same. `auto`: it is used, and a slow search
   * starts building one in the background for later searches, but never of a whole file system or a home
   * directory. `anywhere`: as `auto`, there too. `off`: it is not used. `strict`: it is used only to find
   * names, and the content of every file is read, which also finds changes that the kernel reports to no
   * watcher. Default: that of the backend, `auto`.
   */
  readonly index?: IndexUse | undefined;
}

/** A search of contents below a directory, or of one file. */
export interface SearchQuery extends TextQuery, TextLimits, WalkQuery {
  /** Globs; only files whose path matches one of them are searched. */
  readonly glob?: string | readonly string[] | undefined;
  /** Types of the files that are searched: names such as `rust`, or extensions. */
  readonly fileTypes?: readonly string[] | undefined;
  /** The form of the result: matching lines, paths of files, or counts of matches. Default `content`. */
  readonly output?: "content" | "files" | "count" | undefined;
  /** The maximum number of hits, or of files when `output` is not `content`. Default: no limit. */
  readonly maxResults?: number | undefined;
  /** The size in bytes above which files are skipped and counted. Default 100 MiB. */
  readonly maxFileBytes?: number | undefined;
  /**
   * Compare the size and times of every file with those in the index, even if the system reports changes.
   * This finds changes that were made through another name of the file outside the tree. A write through a
   * memory map may change the times only when the file is closed; `index: "strict"` finds it. Default false.
   */
  readonly strict?: boolean | undefined;
}

/** The use of an index by searches. */
export type IndexUse = "auto" | "off" | "anywhere" | "strict";

/** One matching line. */
export interface TextMatch {
  /** The number of the line, from 1. */
  readonly line: number;
  /** The column of the first match, in code points from 1. */
  readonly column: number;
  /** The line without its line ending, truncated around the match (`…`) when it is too long. */
  readonly text: string;
  /** True when `text` is truncated. */
  readonly cut?: true;
  /** The last line of a match that spans several lines. */
  readonly endLine?: number;
  /** The lines of such a match after the first, truncated like `text`. */
  readonly rest?: readonly string[];
  /** The lines before the match; present when `before`, `after` or `context` was requested. */
  readonly before?: readonly string[];
  /** The lines after the match; present when `before`, `after` or `context` was requested. */
  readonly after?: readonly string[];
  /** The indexes in `patterns` of the patterns that match this line. */
  readonly patterns?: readonly number[];
}

/** One matching line of a tree. */
export interface SearchMatch extends TextMatch {
  /** The path of the file with the line, relative to the searched directory. */
  readonly path: string;
}

/** The result of a search of contents. */
export interface SearchResult extends SearchTotals {
  /** Empty unless `output` is `content`. */
  readonly matches: readonly SearchMatch[];
  /** The files with matches and the number of matching lines of each, whatever `output` is. */
  readonly counts: readonly FileCount[];
  /** True when every file was searched to its end. */
  readonly complete: boolean;
  /** Why not every file was searched to its end; absent for a complete search. */
  readonly incompleteReason?: IncompleteReason;
  /** The cursor of the next page of a truncated result. */
  readonly nextCursor?: string;
}

/** A file and the number of its matching lines. */
export interface FileCount {
  /** The path of the file, relative to the searched directory. */
  readonly path: string;
  /** The number of matching lines of the file. */
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
  /**
   * The order of results. `recent`: files changed within `recencyMs` first, newest first, then the others by
   * path. `mtime`: newest first. Default `path`.
   */
  readonly sort?: "path" | "recent" | "mtime" | undefined;
  /** The age in milliseconds up to which a change is recent. Default one day. */
  readonly recencyMs?: number | undefined;
  /** The maximum number of paths. Default: no limit. */
  readonly limit?: number | undefined;
}

/** A fuzzy search for files by parts of their paths. */
export interface FuzzyQuery extends RankOptions {
  /** Letters that the path contains in this order. From five letters on, one may be wrong. Spaces are ignored. */
  readonly query: string;
  /** `recent`: files changed within the last week, day or hour are ranked higher. Default `score`. */
  readonly rank?: "score" | "recent" | undefined;
  /** Honour ignore files. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of ignore files, lowest precedence first. Default `.gitignore .ignore .agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** The use of an index. Default `auto`. */
  readonly index?: IndexUse | undefined;
}

/** The files that a fuzzy search of paths found, best match first. */
export interface FuzzyResult extends RankedPaths {}

/** A ranked search of the contents below directories, of what no ignore file excludes. */
export interface CodeSearchQuery extends CodeQuery, Pick<WalkQuery, "ignoreFiles"> {
  /** Only files whose path matches one of these globs. */
  readonly glob?: string | readonly string[] | undefined;
  /** The time in milliseconds after which the search ends with what it has. Default: none. */
  readonly timeoutMs?: number | undefined;
}

/** The blocks that fit a question best. */
export interface CodeSearchResult extends CodeFound {}

/** The result of a search for names. */
export interface FindResult extends FindTotals {
  /** The found paths, relative to the searched directory, in the order of the query. */
  readonly paths: readonly string[];
  /** The cursor of the next page of found paths; absent on the last page. */
  readonly nextCursor?: string;
}

/** The result of a search in one text. */
export interface TextHits {
  readonly matches: readonly TextMatch[];
  readonly total: number;
  /** True when the content is binary, so that it was not searched. */
  readonly binary: boolean;
  /** True when the text has more matching lines than `maxPerFile`. */
  readonly more: boolean;
}

/** The counts of a running search. */
export interface SearchCounts {
  /** The number of files searched so far. */
  readonly files: number;
  /** The number of matching lines found so far. */
  readonly matches: number;
}

/** The options of a search that reports its progress. */
export interface Counting {
  /** Called every 100 ms with the counts so far, by searches of a local disk. */
  readonly onCounts?: ((counts: SearchCounts) => void) | undefined;
}
