/** The arguments and the data of `grep`. */
import type { Freshness } from "../../engine/search-types.ts";
import type { Rank } from "./rank.ts";

/** The output of `grep`: matching lines, paths, or the number of matching lines of each file. */
export type GrepOutput = "content" | "files" | "count";

/** The arguments of `grep`. The type parameter is the value of `output`, which decides which data is returned. */
export interface GrepArgs<Output extends GrepOutput = GrepOutput> {
  readonly pattern: string;
  readonly path?: string;
  readonly glob?: string | readonly string[];
  readonly exclude?: readonly string[];
  readonly file_types?: readonly string[];
  readonly regex?: boolean;
  readonly case?: "sensitive" | "insensitive" | "smart";
  readonly word?: boolean;
  readonly multiline?: boolean;
  readonly before?: number;
  readonly after?: number;
  readonly context?: number;
  readonly output?: Output;
  readonly rank?: Rank;
  readonly max_results?: number;
  readonly max_per_file?: number;
  readonly max_line_chars?: number;
  readonly hidden?: boolean;
  readonly respect_ignore?: boolean;
  readonly cursor?: string;
  readonly timeout_ms?: number;
}

/** One line that matches. Lines and columns count from 1, columns in code points. */
export interface GrepMatch {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  /** The line without its line ending. If it is too long, it is truncated around the match. */
  readonly text: string;
  /** The last line of a match that spans several. */
  readonly end_line?: number;
  /** The lines of such a match after its first. */
  readonly rest?: readonly string[];
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

/** The matching lines of one file. */
export interface GrepCount {
  readonly path: string;
  readonly count: number;
}

/** The part of `grep`'s data that is common to every `output`. */
export interface GrepSummary {
  /** The number of matching lines. If `complete` is false, there may be more. */
  readonly total_matches: number;
  readonly files_with_matches: number;
  readonly files_searched: number;
  readonly skipped_binary: number;
  /** The number of files that were not searched because they exceed the limit of size. */
  readonly skipped_large: number;
  readonly unreadable: number;
  readonly truncated: boolean;
  /** How the search made sure that it saw the current content of the files. */
  readonly fresh: Freshness;
  /** True when every file was searched to its end. */
  readonly complete: boolean;
  readonly incomplete_reason?: string;
  readonly next_cursor?: string;
  /**
   * Set when the pattern found nothing as a regular expression but occurs as plain text: its first place, and
   * the number of matching lines.
   */
  readonly as_text?: { readonly path: string; readonly line: number; readonly count: number };
  /** Notes for the caller, for example that entries were left out. */
  readonly warnings?: readonly string[];
}

/** The data of `grep` with `output: "content"`, the default. */
export interface GrepContentData extends GrepSummary {
  readonly matches: readonly GrepMatch[];
  readonly files?: never;
  readonly counts?: never;
}

/** The data of `grep` with `output: "files"`. */
export interface GrepFilesData extends GrepSummary {
  readonly matches?: never;
  /** The paths of the files that match. */
  readonly files: readonly string[];
  readonly counts?: never;
}

/** The data of `grep` with `output: "count"`. */
export interface GrepCountData extends GrepSummary {
  readonly matches?: never;
  readonly files?: never;
  /** The number of matching lines of each file. */
  readonly counts: readonly GrepCount[];
}

/** The data of `grep`. If the type of `output` is known, it is one of the three. */
export type GrepData<Output extends GrepOutput = GrepOutput> = {
  readonly content: GrepContentData;
  readonly files: GrepFilesData;
  readonly count: GrepCountData;
}[Output];

type OptionalGrepArgs = "glob" | "max_per_file" | "cursor" | "before" | "after";
/** The arguments once defaults are filled in. */
export type CheckedGrepArgs = Required<Omit<GrepArgs, OptionalGrepArgs>> & Pick<GrepArgs, OptionalGrepArgs>;
