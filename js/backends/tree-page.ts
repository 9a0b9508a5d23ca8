/** A page of the entries of a tree, for backends that list it in one call. */
import type { FsEntry } from "./entry.ts";

/** A request for a page of a tree. */
export interface TreeRequest {
  /** The number of levels; 1 is the directory itself. */
  readonly depth: number;
  /** Include names that begin with a dot. Default true. */
  readonly hidden?: boolean | undefined;
  /** Globs to exclude, relative to the directory. */
  readonly exclude?: readonly string[] | undefined;
  /** Exclude `.git` and paths that ignore files match. Default true. */
  readonly respectIgnore?: boolean | undefined;
  readonly ignoreFiles?: readonly string[] | undefined;
  /** The order within each directory; `type` puts directories first. Default `type`. */
  readonly sort?: "type" | "name" | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** The number of entries before the page. Default 0. */
  readonly from?: number | undefined;
  /** The maximum number of entries. Default all. */
  readonly limit?: number | undefined;
  /** The page ends once its names have so many bytes, with a line end each. Default: no limit. */
  readonly maxTextBytes?: number | undefined;
  /** With `false` (default true) sizes and times are omitted. */
  readonly facts?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A page of a tree: each directory followed by its content. */
export interface TreePage {
  readonly entries: readonly FsEntry[];
  /** The number of entries at all levels, including those before and after the page. */
  readonly total: number;
}
