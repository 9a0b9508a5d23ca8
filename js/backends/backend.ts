/**
 * The contract of a host's files: eleven plain methods. Everything else follows from them (`files.ts`).
 *
 * Paths are absolute, `/`-separated and normalised (no `.`, `..`, doubled or trailing slashes):
 * the caller of a backend has resolved them. Failures are `FilewrightError`s with a code of the
 * closed list. A method may answer with a value or a promise.
 *
 * This package writes texts by `writeBytes`, encoded, and does not call `writeText` of a host's files.
 */

import type { Durability } from "../engine/generated/records.ts";
import type { FsEntry, FsStat } from "./entry.ts";

export type { Durability, TreeCounts } from "../engine/generated/records.ts";
export type { EntryType, FsEntry, FsStat } from "./entry.ts";

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Preconditions and properties of a write. */
export interface WriteOptions {
  /** A write fails with CONFLICT unless the file still has this version. */
  readonly ifVersion?: string | undefined;
  /** With true, a write fails with ALREADY_EXISTS if an entry exists at the path. Default false. */
  readonly ifAbsent?: boolean | undefined;
  /** With true, a write creates missing parent directories, and removes them again if it fails. Default false. */
  readonly createDirs?: boolean | undefined;
  /**
   * The permission bits of the written file. Default: those of the replaced file, or those that the umask
   * gives a new file.
   */
  readonly mode?: number | undefined;
  /** The durability of the written file; `durable` flushes it to the disk. Default: the durability of the backend. */
  readonly durability?: Durability | undefined;
  /** The signal that cancels the write. The call then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * `sha256:` of the content, where the caller has it already, so that a history need not compute
   * it again.
   */
  readonly hash?: string | undefined;
  /**
   * The path to which a write renames the replaced file instead of deleting it. From
   * `asidePath` of the files.
   */
  readonly aside?: string | undefined;
}

/** The result of a write, copy or move. */
export interface WriteResult {
  /** The version of the file that was written, copied or moved. */
  readonly version?: string;
  /** The {@link FsStat.fileId} of the file that was written, copied or moved. */
  readonly fileId?: string;
  /** True when the file was overwritten in place, because no new file could replace it: the write was not atomic. */
  readonly inPlace?: boolean;
  /** The number of other hard links of the replaced file, which keep the old content. Absent when there are none. */
  readonly otherNames?: number;
}

/** The conditions of a deletion. A backend without support for these conditions ignores them. */
export interface DeleteOptions {
  /** A deletion fails with CONFLICT unless the entry still has this version. */
  readonly ifVersion?: string | undefined;
  /** The path to which a deletion renames the entry instead of deleting it. From `asidePath` of the files. */
  readonly aside?: string | undefined;
  /** `durable` flushes the deletion to the disk. Default: the durability of the backend. */
  readonly durability?: Durability | undefined;
}

/** How one entry is moved or copied. A backend without support for the conditions ignores them. */
export interface MoveOptions {
  /**
   * With true, a move or copy replaces a file or an empty directory at its target. Default false:
   * ALREADY_EXISTS.
   */
  readonly overwrite?: boolean | undefined;
  /** A move or copy fails with CONFLICT unless its source still has this version. */
  readonly ifVersion?: string | undefined;
  /** A move with `overwrite` fails with CONFLICT unless the file that it replaces has this version. */
  readonly ifTargetVersion?: string | undefined;
  /** The path to which a move or copy renames the entry that it replaces. From `asidePath` of the files. */
  readonly aside?: string | undefined;
}

/** How a tree is copied. */
export interface CopyTreeOptions {
  /**
   * With true, a copied tree is merged into an existing one and replaces its files. Default false:
   * ALREADY_EXISTS.
   */
  readonly overwrite?: boolean | undefined;
  /** The signal that cancels the copy of a tree. The call then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** Called with the result for each copied file. A backend that has no such result omits it. */
  readonly onMade?: ((path: string, made: WriteResult) => void) | undefined;
}

/** A half-open range of bytes. */
export interface ByteRange {
  /** The offset of the first byte of a range, from 0. */
  readonly start: number;
  /** The offset after the last byte of a range. */
  readonly end: number;
}

/** The part of a file to read, and the precondition. */
export interface ReadOptions {
  /** The range of bytes to read, clipped to the file. Default: the whole file. */
  readonly range?: ByteRange | undefined;
  /** A read returns null when the file still has this version. */
  readonly ifNoneMatch?: string | undefined;
  /** The maximum number of bytes that a read returns. More fail with TOO_LARGE. */
  readonly maxBytes?: number | undefined;
  /** The signal that cancels the read. The call then fails with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The content of a file with its version. */
export interface VersionedBytes {
  /** The content of a file. */
  readonly bytes: Uint8Array;
  /** The version of the file that has this content. */
  readonly version: string;
  /** The facts about a file in the version that was read. */
  readonly stat: FsStat;
}

/** How to wait for a lock. */
export interface LockOptions {
  /** The maximum time to wait for a lock that another holder has, in milliseconds. Then LOCK_TIMEOUT is thrown. */
  readonly timeoutMs: number;
  /** The signal that ends the wait for a lock, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /**
   * True when no link in the path of a lock is followed, because the caller has resolved the path or wants to
   * lock the link itself. Default false.
   */
  readonly resolved?: boolean | undefined;
  /**
   * True when the caller's writes carry versions and are planned again after a conflict. A backend may then skip
   * the lock of a path that met no conflict of late, and says so in the handle. Default false.
   */
  readonly optimistic?: boolean | undefined;
}

/** A held lock. */
export interface LockHandle {
  /** True when an `optimistic` lock was skipped. After a conflict the caller locks again. */
  readonly skipped?: boolean | undefined;
  /** Releases the lock. */
  release(): void;
}

/** How text is decoded or encoded. */
export interface TextOptions {
  /** The encoding of the text of a file. Default UTF-8. */
  readonly encoding?: string;
}

/** How a directory is made. */
export interface MkdirOptions {
  /** With true, missing parent directories are created too. Default true. */
  readonly parents?: boolean;
  /** With true, creating a directory that exists already succeeds. Default true. */
  readonly existOk?: boolean;
  /** `durable` flushes the new directories to the disk. Default: the durability of the backend. */
  readonly durability?: Durability | undefined;
}

/** Options of a directory listing. */
export interface ListOptions {
  /** With false, a listing may omit sizes and times that cost extra calls. Default true. */
  readonly facts?: boolean;
  /** Cancels the listing of a large directory. */
  readonly signal?: AbortSignal | undefined;
}

/** The base directory of a glob. */
export interface GlobRoot {
  /** The directory below which a glob matches files. */
  readonly root?: string;
}

/** The eleven methods of a backend. */
export interface FsBackend {
  /** Returns true when the path exists, links followed. Never throws for an absent path. */
  exists(path: string): MaybePromise<boolean>;
  /** Returns the facts about a path, with links followed. @throws NOT_FOUND */
  stat(path: string): MaybePromise<FsStat>;
  /** Returns the whole file as text. @throws ENCODING_ERROR when the bytes do not fit the encoding */
  readText(path: string, options?: TextOptions): MaybePromise<string>;
  /** Returns the whole file. @throws NOT_FOUND, IS_DIRECTORY, NOT_REGULAR_FILE */
  readBytes(path: string): MaybePromise<Uint8Array>;
  /** Creates or replaces a file atomically. */
  writeText(path: string, content: string, options?: WriteOptions & TextOptions): MaybePromise<WriteResult>;
  /** Creates or replaces a file atomically. */
  writeBytes(path: string, content: Uint8Array, options?: WriteOptions): MaybePromise<WriteResult>;
  /** Removes a file, a link (never its target) or an empty directory. @throws NOT_EMPTY */
  delete(path: string, options?: DeleteOptions): MaybePromise<void>;
  /** Creates a directory. `parents` and `existOk` default to true. */
  mkdir(path: string, options?: MkdirOptions): MaybePromise<void>;
  /**
   * Returns the entries of a directory: directories first, then by code point. Links are not followed. With
   * `facts: false` (default true), sizes and times may be missing where they cost extra calls.
   */
  listDir(path: string, options?: ListOptions): MaybePromise<readonly FsEntry[]>;
  /** Yields the path of every file below a directory, in path order. Links are not followed. */
  iterFiles(root: string): AsyncIterable<string> | Iterable<string>;
  /** Returns the absolute paths of the files below `root` that match a glob, sorted by code point. */
  glob(pattern: string, options?: GlobRoot): MaybePromise<readonly string[]>;
}

/** The names of the methods that every backend has. */
export const METHODS = [
  "exists",
  "stat",
  "readText",
  "readBytes",
  "writeText",
  "writeBytes",
  "delete",
  "mkdir",
  "listDir",
  "iterFiles",
  "glob",
] as const;

/** Returns true when a value has the eleven methods of {@link FsBackend}. */
export function isFsBackend(value: unknown): value is FsBackend {
  if (typeof value !== "object" || value === null) return false;
  return METHODS.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
