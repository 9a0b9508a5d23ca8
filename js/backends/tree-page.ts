/** A page of the entries of a tree, for backends that find it in one call. */
import type { FsEntry } from "./entry.ts";

/** What to list of a tree. */
export interface TreeRequest {
  /** How many levels; 1 is the directory itself. */
  readonly depth: number;
  /** Names that begin with a dot too. Default true. */
  readonly hidden?: boolean | undefined;
  /** Globs of what to leave out, relative to the directory. */
  readonly exclude?: readonly string[] | undefined;
  /** Leave out `.git` and what ignore files name. Default true. */
  readonly respectIgnore?: boolean | undefined;
  readonly ignoreFiles?: readonly string[] | undefined;
  /** Within each directory; `type` puts directories first. Default `type`. */
  readonly sort?: "type" | "name" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** How many entries come before the page. Default 0. */
  readonly from?: number | undefined;
  /** The most entries given. Default all. */
  readonly limit?: number | undefined;
  /** With `false` (default true) sizes and times are left out. */
  readonly facts?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A page of a tree: each directory followed by what is in it. */
export interface TreePage {
  readonly entries: readonly FsEntry[];
  /** All entries at all levels, also those before and after the page. */
  readonly total: number;
}
