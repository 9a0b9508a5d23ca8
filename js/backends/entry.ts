/** The answers of a backend about entries: the facts of one, a directory, a page of a tree. */
import type { Kind } from "../engine/generated/records.ts";

export type { Kind as EntryType } from "../engine/generated/records.ts";

/** The permission bits of a new file whose creator names none. */
export const DEFAULT_FILE_MODE = 0o644;
/** The permission bits of a new directory whose creator names none. */
export const DEFAULT_DIR_MODE = 0o755;
/** The permission bits of every symbolic link, as Linux reports them. */
export const LINK_MODE = 0o777;
/** The mode bits that a storage or a memory backend keeps: read, write and execute, without setuid, setgid and sticky. */
export const PERMISSION_BITS = 0o777;

/** The facts about one path. Frozen. Times are milliseconds since 1970, UTC. */
export interface FsStat {
  /** The absolute path of the entry. */
  readonly path: string;
  /** The kind of entry, such as file or directory. */
  readonly type: Kind;
  /** The size of the entry in bytes. */
  readonly size: number;
  /** True when the entry is a directory. */
  readonly isDir: boolean;
  /** True when the entry is a regular file. */
  readonly isFile: boolean;
  /** The time of the last change to the content of a file, in milliseconds since 1970. */
  readonly mtime: number;
  /** The time of the last change to the content or attributes of a file, in milliseconds since 1970. */
  readonly ctime?: number;
  /** The time of the last read of a file, in milliseconds since 1970. */
  readonly atime?: number;
  /** The time when a file was created, in milliseconds since 1970. */
  readonly birthtime?: number;
  /** The permission bits of an entry, such as `0o644`. */
  readonly mode?: number;
  /** The number of hard links of a file. */
  readonly nlink?: number;
  /** The target of a symbolic link, as written; only from `lstat`. */
  readonly target?: string;
  /** The version of a file, an opaque text that changes whenever the content may have changed. */
  readonly version?: string;
  /**
   * Opaque; identifies the entry itself, such as by device and inode. A rename keeps it; an entry
   * that takes the place of another one has a different id.
   */
  readonly fileId?: string;
}

/** One entry of a directory. Frozen. */
export interface FsEntry {
  /** The name of an entry in its directory. */
  readonly name: string;
  /** The absolute path of an entry. */
  readonly path: string;
  /** The kind of a directory's entry, such as file or link. */
  readonly type: Kind;
  /** True when the entry of a listing is a directory. */
  readonly isDir: boolean;
  /** True when the entry of a listing is a regular file. */
  readonly isFile: boolean;
  /** The size of a file in bytes. Absent where the backend would need a further call. */
  readonly size?: number;
  /** The time of the last change to the content of a file, in milliseconds since 1970. */
  readonly mtime?: number;
  /** The target of a link, as written. */
  readonly target?: string;
}

/** The states of one path before and after a change; null where nothing is. */
export interface Changed<T> {
  /** The changed path. */
  readonly path: string;
  /** The state before the change; null when there was nothing. */
  readonly before: T | null;
  /** The state after the change; null when there is nothing. */
  readonly after: T | null;
}

/** A request for a page of a tree. */
export interface TreeRequest {
  /** The maximum depth of the entries in a tree's listing; 1 lists only the entries of the directory itself. */
  readonly depth: number;
  /** True to list names that begin with a dot. Default true. */
  readonly hidden?: boolean | undefined;
  /** The globs of the entries to exclude from a tree's listing, relative to its directory. */
  readonly exclude?: readonly string[] | undefined;
  /** True to exclude `.git` and the paths that ignore files match. Default true. */
  readonly respectIgnore?: boolean | undefined;
  /** The names of the ignore files that a tree's listing respects. Default `.gitignore`, `.ignore`, `.agentignore`. */
  readonly ignoreFiles?: readonly string[] | undefined;
  /** The order within each directory; `type` puts directories first. Default `type`. */
  readonly sort?: "type" | "name" | undefined;
  /** The direction of the order. Default `asc`. */
  readonly order?: "asc" | "desc" | undefined;
  /** The number of entries to skip before the page of a tree. Default 0. */
  readonly from?: number | undefined;
  /** The maximum number of entries on a page of a tree. Default: all. */
  readonly limit?: number | undefined;
  /**
   * The number of UTF-8 bytes of names, with a line end each, at which a page of a tree ends. Default: no
   * limit.
   */
  readonly maxTextBytes?: number | undefined;
  /** With false, sizes and times are omitted from the listing of a tree. Default true. */
  readonly facts?: boolean | undefined;
  /** Aborting it ends the listing of a tree with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** A page of a tree: each directory followed by its content. */
export interface TreePage {
  /** The entries of the page of a tree. */
  readonly entries: readonly FsEntry[];
  /** The number of entries of a tree at all levels, including those before and after the page. */
  readonly total: number;
}
