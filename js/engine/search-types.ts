/**
 * The queries and results of searches: the same for every backend.
 *
 * Paths in results are relative to the path that was searched, `/`-separated;
 * where that path is a file, the one path is empty. Results are in the order of
 * code points of whole paths, then by line.
 */

import type { RankedPaths, RankOptions } from "./rank.ts";

/** What to look for in a text. */
export interface TextQuery {
  /** Not empty. The dialect is Rust's `regex`: no look-around, no back-references, linear time. */
  readonly pattern?: string | undefined;
  /** Instead of `pattern`, several at once; each match says which of them it is one of. */
  readonly patterns?: readonly string[] | undefined;
  /** Whether the pattern is a regular expression or plain text. Default true. */
  readonly regex?: boolean | undefined;
  /** `smart`: insensitive unless the pattern has an upper-case letter. Default `sensitive`. */
  readonly case?: "sensitive" | "insensitive" | "smart" | undefined;
  /** Match whole words only. Default false. */
  readonly word?: boolean | undefined;
  /** Let a match cross line ends; `line` is then the first one. Default false. */
  readonly multiline?: boolean | undefined;
}

/** How much of a text's hits is wanted. */
export interface TextLimits {
  /** Lines shown before each hit, at most 50. Default: `context`. */
  readonly before?: number | undefined;
  /** Lines shown after each hit, at most 50. Default: `context`. */
  readonly after?: number | undefined;
  /** Lines shown on both sides. Default 0. */
  readonly context?: number | undefined;
  /** Hits after which a file is left. Default: no limit. */
  readonly maxPerFile?: number | undefined;
  /** Code points shown of a line, around the match; 0 for all. Default 500. */
  readonly maxLineChars?: number | undefined;
}

/** Which entries of a tree are seen. */
export interface WalkQuery {
  /** Globs to leave out, gitignore-like: what one matches and all below it. */
  readonly exclude?: readonly string[] | undefined;
  /** See names that begin with a dot (`.git` never). Default true. */
  readonly hidden?: boolean | undefined;
  /** Honour ignore files. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of ignore files, lowest precedence first. Default `.gitignore .ignore .agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** Continue a result that was cut: its `nextCursor`. */
  readonly cursor?: string | undefined;
  /**
   * Matches are given until they and their paths have so many characters, and read so that others have their
   * turn on the event loop meanwhile; the totals are those of all. Where the backend does not mind it, all are given.
   */
  readonly maxTextChars?: number | undefined;
  /** Milliseconds after which what was found so far is returned. */
  readonly timeoutMs?: number | undefined;
  /**
   * Whether an index answers, where the backend has one: the answers are the same. `auto`: a search that
   * took long has one made in the background, for those that follow; never of a whole file system or a
   * home directory unless `anywhere`. `strict`: for names alone; the contents of every file are read, so that
   * what a program stores through a memory map is found before it closes the file. Default: the backend's, `auto`.
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
  /** Hits, or files where `output` is not `content`, after which the search ends. Default: no limit. */
  readonly maxResults?: number | undefined;
  /** Larger files are passed over and counted (bytes). Default 100 MiB. */
  readonly maxFileBytes?: number | undefined;
  /**
   * Ask every file whether it changed, also where the system tells of changes: for stores through memory
   * maps, and through names outside the tree. Default false.
   */
  readonly strict?: boolean | undefined;
}

/** Whether searches use an index. */
export type IndexUse = "auto" | "off" | "anywhere" | "strict";

/**
 * How a search knows that it saw every file as it is now: `scan`, it looked at all of them; `watch`, the
 * system tells of every change; `sweep`, files were asked when they last changed.
 */
export type Freshness = "scan" | "watch" | "sweep";

/** What is told of the index of a directory. */
export interface IndexStatus {
  /** Files it knows. */
  readonly files: number;
  /** Files that every search still reads. */
  readonly unsigned: number;
  /** Bytes of the files that were read for it. */
  readonly corpusBytes: number;
  /** Memory in use, in bytes. */
  readonly memoryBytes: number;
  /** Directories that are watched. */
  readonly watches: number;
  /** Nothing is under way. */
  readonly ready: boolean;
}

/** One line that matches. */
export interface TextMatch {
  /** From 1. */
  readonly line: number;
  /** Where the first match begins, in code points from 1. */
  readonly column: number;
  /** The line without its end, cut around the match (`…`) where it is too long. */
  readonly text: string;
  /** Present where the line is cut. */
  readonly cut?: true;
  /** The last line of the match, where it crosses lines. */
  readonly endLine?: number;
  /** The lines after the first up to `endLine`, cut like `text`. Present with `endLine`. */
  readonly rest?: readonly string[];
  /** The lines before, where `before` or `after` was asked for. */
  readonly before?: readonly string[];
  /** The lines after, where `before` or `after` was asked for. */
  readonly after?: readonly string[];
  /** Which of several patterns match, by their places in `patterns`. */
  readonly patterns?: readonly number[];
}

/** One line of a tree that matches. */
export interface SearchMatch extends TextMatch {
  readonly path: string;
}

/** Why a search is not complete. */
export type IncompleteReason = "max_results" | "max_per_file" | "timeout";

/** What was found in the contents of a tree. */
export interface SearchResult {
  /** Empty unless `output` is `content`. */
  readonly matches: readonly SearchMatch[];
  /** The files with hits, and how many; for `content` too. */
  readonly counts: readonly FileCount[];
  /** Lines that match. Exact where `complete`, else a lower bound. */
  readonly totalMatches: number;
  readonly filesWithMatches: number;
  readonly filesSearched: number;
  readonly skippedBinary: number;
  /** Files beyond `maxFileBytes`. */
  readonly skippedLarge: number;
  /** Entries that could not be read. */
  readonly unreadable: number;
  /** Files and whole directories hidden by ignore files. */
  readonly ignored: number;
  /** Whether `maxResults` cut something off. */
  readonly truncated: boolean;
  readonly fresh: Freshness;
  /** Whether everything was searched to its end. */
  readonly complete: boolean;
  readonly incompleteReason?: IncompleteReason;
  /** Where to go on, where something was cut off. */
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
  readonly type?: "file" | "dir" | "any" | undefined;
  /** Default true. */
  readonly caseSensitive?: boolean | undefined;
  /** `recent`: what changed within `recencyMs` newest first, then the rest by path. Default `path`. */
  readonly sort?: "path" | "recent" | "mtime" | undefined;
  /** Milliseconds. Default one day. */
  readonly recencyMs?: number | undefined;
  /** Paths returned. Default: no limit. */
  readonly limit?: number | undefined;
}

/** A search for files by some letters of their paths. */
export interface FuzzyQuery extends RankOptions {
  /** Letters in their order; from five on one may be wrong. Spaces are passed over. */
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

/** Files by some letters of their paths, best first. */
export interface FuzzyResult extends RankedPaths {}

/** What was found by name. */
export interface FindResult {
  readonly paths: readonly string[];
  /** All that match, before limit and cursor. Exact where `complete`. */
  readonly total: number;
  /** Entries that match and are hidden by ignore files. */
  readonly ignored: number;
  /** Entries that could not be read. */
  readonly unreadable: number;
  readonly truncated: boolean;
  /** False where the time was up. */
  readonly complete: boolean;
  readonly nextCursor?: string;
}

/** What was found in one text. */
export interface TextHits {
  readonly matches: readonly TextMatch[];
  readonly total: number;
  /** The content is binary and was not searched. */
  readonly binary: boolean;
  /** There are more than `maxPerFile`. */
  readonly more: boolean;
}
