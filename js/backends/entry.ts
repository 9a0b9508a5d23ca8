/** What a backend tells about entries: the facts of one, a directory, a page of a tree. */
import type { Kind } from "../engine/generated/records.ts";

export type { Kind as EntryType } from "../engine/generated/records.ts";

/** The facts about one path. Frozen. Times are milliseconds since 1970, UTC. */
export interface FsStat {
  /** The absolute path. */
  readonly path: string;
  /** The kind of entry. */
  readonly type: Kind;
  /** The size in bytes. */
  readonly size: number;
  /** True for a directory. */
  readonly isDir: boolean;
  /** True for a regular file. */
  readonly isFile: boolean;
  /** Time of the last change to the content. */
  readonly mtime: number;
  /** Time of the last change to the entry. */
  readonly ctime?: number;
  /** Time of the last read. */
  readonly atime?: number;
  /** Time of creation. */
  readonly birthtime?: number;
  /** Permission bits, such as `0o644`. */
  readonly mode?: number;
  /** The number of hard links. */
  readonly nlink?: number;
  /** The target of a symbolic link, as written; only from `lstat`. */
  readonly target?: string;
  /** Opaque; changes whenever the content may have changed. */
  readonly version?: string;
  /**
   * Opaque; identifies the entry itself, such as by device and inode. A rename keeps it; an entry
   * that takes the place of another one has a different id.
   */
  readonly fileId?: string;
}

/** One entry of a directory. Frozen. */
export interface FsEntry {
  /** The name in its directory. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** The kind of entry. */
  readonly type: Kind;
  /** True for a directory. */
  readonly isDir: boolean;
  /** True for a regular file. */
  readonly isFile: boolean;
  /** Bytes; absent where the backend would need a further call. */
  readonly size?: number;
  /** Time of the last change to the content. */
  readonly mtime?: number;
  /** The target of a link, as written. */
  readonly target?: string;
}

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
