/**
 * The contract every backend fulfils: eleven plain methods, and optional capabilities that are
 * detected by their presence.
 *
 * Paths are absolute, `/`-separated and normalised (no `.`, `..`, doubled or trailing slashes):
 * the caller of a backend has resolved them. Failures are `FilewrightError`s with a code of the
 * closed list. A method may answer with a value or a promise.
 */

import type { Page, PageRequest } from "../engine/read.ts";
import type {
  FindQuery,
  FindResult,
  FuzzyQuery,
  FuzzyResult,
  SearchQuery,
  SearchResult,
} from "../engine/search-types.ts";
import type { Durability, TreeCounts } from "../engine/generated/records.ts";
import type { SandboxPolicy } from "./policy.ts";
import type { FsEntry, FsStat, TreePage, TreeRequest } from "./entry.ts";

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
   * The path to which a write renames the replaced file instead of deleting it. From {@link
   * FsBackend.asidePath}.
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
  /** The path to which a deletion renames the entry instead of deleting it. From {@link FsBackend.asidePath}. */
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
  /** The path to which a move or copy renames the entry that it replaces. From {@link FsBackend.asidePath}. */
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

/** The methods of a backend: eleven that every backend has, and optional ones. */
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

  /** Returns content and version in one step; null when the file still has the version `ifNoneMatch`. */
  read?(path: string, options?: ReadOptions): MaybePromise<VersionedBytes | null>;
  /**
   * Returns a page of a text file of any size. @throws BINARY_FILE with `details` `{kind, mime, size}`,
   * INVALID_ARGUMENT, ENCODING_ERROR, TOO_LARGE
   */
  readLines?(
    path: string,
    request: PageRequest & { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<Page>;
  /** Returns the `sha256:` hash of a file's content and the file's version, in constant memory. */
  hash?(
    path: string,
    options?: { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<{ readonly hash: string; readonly version: string }>;
  /** Searches contents below a directory, or in a file. Paths in results are relative to `root`. */
  grep?(
    root: string,
    query: SearchQuery & { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<SearchResult>;
  /** Finds entries below a directory by name. Paths in results are relative to `root`. */
  find?(
    root: string,
    query: FindQuery & { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<FindResult>;
  /**
   * Fuzzy path search: finds the files below a directory whose paths contain the letters of a
   * query in order, best first. Paths are relative to `root`.
   */
  findFiles?(
    root: string,
    query: Omit<FuzzyQuery, "rank"> & { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<FuzzyResult>;
  /**
   * Returns a page of the entries of a tree in one call. A directory below `root` that cannot be read is
   * listed without its content.
   */
  listTree?(root: string, request: TreeRequest): MaybePromise<TreePage>;
  /** Returns one page of the entries of a directory. */
  listPage?(
    path: string,
    options: { readonly cursor?: string; readonly limit: number },
  ): MaybePromise<{ readonly entries: readonly FsEntry[]; readonly next?: string }>;
  /** Moves an entry within the backend. It replaces nothing unless `overwrite` is true. */
  rename?(from: string, to: string, options?: MoveOptions): MaybePromise<WriteResult> | MaybePromise<void>;
  /** Copies one regular file with its permission bits. */
  copyFile?(from: string, to: string, options?: MoveOptions): MaybePromise<WriteResult> | MaybePromise<void>;
  /** Returns the facts about the entry itself: a link is not followed. */
  lstat?(path: string): MaybePromise<FsStat>;
  /** Returns the target of a symbolic link, as written. */
  readLink?(path: string): MaybePromise<string>;
  /** Makes a symbolic link. */
  symlink?(target: string, path: string): MaybePromise<void>;
  /** Returns the path with every link resolved. Names at its end that do not exist are kept. */
  realpath?(path: string): MaybePromise<string>;
  /** Sets the permission bits. */
  chmod?(path: string, mode: number): MaybePromise<void>;
  /** Removes a directory and everything below it, or a file or link. Links are not followed. */
  removeTree?(
    path: string,
    options?: Pick<DeleteOptions, "aside" | "durability"> & { readonly signal?: AbortSignal | undefined },
  ): MaybePromise<TreeCounts>;
  /** Copies a tree, links as links. With `overwrite` directories merge and files are replaced. */
  copyTree?(from: string, to: string, options?: CopyTreeOptions): MaybePromise<TreeCounts>;
  /**
   * Returns a new path in the directory of `path` that no listing shows. A change renames the entry that it
   * replaces or deletes to this path, so that a rollback can rename it back. UNSUPPORTED_OPERATION with
   * `details.reason` `aside` means that an entry cannot be set aside.
   */
  asidePath?(path: string): string;
  /** Removes the temporary files that dead processes left in a directory. A missing directory is fine. */
  sweep?(path: string): MaybePromise<void>;
  /** Returns a copy of the backend that enforces the policy itself, without a gap between check and use. */
  confine?(policy: SandboxPolicy): FsBackend;
  /**
   * Under a policy that hides secrets, allows reading the content of exactly the secret files with these real
   * paths. It replaces the previous list.
   */
  grantSecrets?(paths: readonly string[]): void;
  /**
   * Returns a copy of the backend that treats secrets as ordinary files. Filewright uses it for its own work, such as
   * a rollback, which has to read and restore every file. It uses real paths, so that the copy may refuse links.
   */
  trusted?(): FsBackend;
  /** Frees caches and their watches. Later calls build them again. */
  dispose?(): void;
  /** Releases all resources. Running calls finish; later ones fail with UNSUPPORTED_OPERATION. */
  close?(): MaybePromise<void>;
  /** Takes the lock of a path, which excludes other processes. @throws LOCK_TIMEOUT */
  lock?(path: string, options: LockOptions): Promise<LockHandle>;
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

/** The name of an optional capability. */
export type Capability = {
  [K in keyof FsBackend]-?: Record<never, never> extends Pick<FsBackend, K> ? K : never;
}[keyof FsBackend];

// The names of the optional capabilities. It is a record, so that it does not compile when a name is missing.
const CAPABILITY_NAMES: Record<Capability, true> = {
  read: true,
  readLines: true,
  hash: true,
  grep: true,
  find: true,
  findFiles: true,
  listTree: true,
  listPage: true,
  rename: true,
  copyFile: true,
  lstat: true,
  readLink: true,
  symlink: true,
  realpath: true,
  chmod: true,
  removeTree: true,
  copyTree: true,
  asidePath: true,
  sweep: true,
  confine: true,
  grantSecrets: true,
  trusted: true,
  dispose: true,
  close: true,
  lock: true,
};

/** The optional capabilities, which are detected by their presence. */
export const CAPABILITIES: readonly Capability[] = Object.freeze(
  Object.keys(CAPABILITY_NAMES) as Capability[],
);

/** Returns true when a value has the eleven methods of {@link FsBackend}. */
export function isFsBackend(value: unknown): value is FsBackend {
  if (typeof value !== "object" || value === null) return false;
  return METHODS.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
