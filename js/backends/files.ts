/**
 * The contract of files inside this package: the eleven methods of {@link FsBackend}, and everything that follows from
 * them. No method is missing and none has to be looked for: `abilities` says how a method works where that depends on
 * the files. Where the ability is missing, `readLink` and `symlink` (`links`), `chmod` (`modes`), `rename` (`moves`) and
 * `asidePath` (`asides`) fail with UNSUPPORTED_OPERATION. The other methods work without it: `lstat` is `stat`,
 * `realpath` returns its path, a range is cut from the whole content, and a lock excludes no other process. Where files
 * have nothing of their own for it, `sweep`, `grantSecrets` and `close` do nothing, `trusted` returns the same files,
 * `gitExclude` undefined, and `otherNames` an empty list.
 *
 * The classes of this package have all of it. The files of a host have the eleven, and get the rest by `asFiles`
 * (`host-files.ts`).
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
import type { Signalled } from "../engine/errors.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsBackend,
  GlobRoot,
  ListOptions,
  LockHandle,
  LockOptions,
  MaybePromise,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "./backend.ts";
import type { FsEntry, FsStat, TreePage, TreeRequest } from "./entry.ts";

/** The hash of a file's content, and the version that has it. */
export interface FileHash {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly hash: string;
  /** The version of the file that was hashed. */
  readonly version: string;
}

/** How the methods of some files work. */
export interface FileAbilities {
  /** True when a write with a condition compares and replaces in one step, whoever else writes. */
  readonly conditions: boolean;
  /** True when a part of a file is read without the rest. */
  readonly ranges: boolean;
  /** True when there can be symbolic links. */
  readonly links: boolean;
  /** True when permission bits are kept and can be set. */
  readonly modes: boolean;
  /**
   * True when an entry can be moved, at least to some places: in one step, or under a policy over files that cannot, by
   * a copy and a removal.
   */
  readonly moves: boolean;
  /** True when a replaced or deleted entry can be set aside (`asidePath`). */
  readonly asides: boolean;
  /** True when a lock excludes other processes or replicas. */
  readonly locks: boolean;
}

/** Files with every method, each of which returns a promise. */
export interface Files extends FsBackend {
  /** How the files work. */
  readonly abilities: FileAbilities;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<FsStat>;
  readText(path: string, options?: TextOptions): Promise<string>;
  readBytes(path: string): Promise<Uint8Array>;
  writeText(path: string, content: string, options?: WriteOptions & TextOptions): Promise<WriteResult>;
  writeBytes(path: string, content: Uint8Array, options?: WriteOptions): Promise<WriteResult>;
  delete(path: string, options?: DeleteOptions): Promise<void>;
  mkdir(path: string, options?: MkdirOptions): Promise<void>;
  listDir(path: string, options?: ListOptions): Promise<readonly FsEntry[]>;
  glob(pattern: string, options?: GlobRoot): Promise<readonly string[]>;
  /** Returns content and version in one step; null when the file still has the version `ifNoneMatch`. */
  read(path: string, options?: ReadOptions): Promise<VersionedBytes | null>;
  /**
   * Returns a page of a text file of any size. @throws BINARY_FILE with `details` `{kind, mime, size}`,
   * INVALID_ARGUMENT, ENCODING_ERROR, TOO_LARGE
   */
  readLines(path: string, request: PageRequest & Signalled): Promise<Page>;
  /** Returns the hash of a file's content and the file's version. */
  hash(path: string, options?: Signalled): Promise<FileHash>;
  /** Searches contents below a directory, or in a file. Paths in results are relative to `root`. */
  grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult>;
  /** Finds entries below a directory by name. Paths in results are relative to `root`. */
  find(root: string, query: FindQuery & Signalled): Promise<FindResult>;
  /**
   * Fuzzy path search: finds the files below a directory whose paths contain the letters of a
   * query in order, best first. Paths are relative to `root`.
   */
  findFiles(root: string, query: Omit<FuzzyQuery, "rank"> & Signalled): Promise<FuzzyResult>;
  /**
   * Returns a page of the entries of a tree in one call. A directory below `root` that cannot be read is
   * listed without its content.
   */
  listTree(root: string, request: TreeRequest): Promise<TreePage>;
  /**
   * Moves an entry in one step; files under a policy copy and remove it where that is not possible. It replaces nothing
   * unless `overwrite` is true. @throws UNSUPPORTED_OPERATION where only a copy can bring it there
   */
  rename(from: string, to: string, options?: MoveOptions): Promise<WriteResult>;
  /** Copies one regular file with its permission bits. */
  copyFile(from: string, to: string, options?: MoveOptions & Signalled): Promise<WriteResult>;
  /** Returns the facts about the entry itself: a link is not followed. */
  lstat(path: string): Promise<FsStat>;
  /** Returns the target of a symbolic link, as written. */
  readLink(path: string): Promise<string>;
  /** Makes a symbolic link. */
  symlink(target: string, path: string): Promise<void>;
  /** Returns the path with every link resolved. Names at its end that do not exist are kept. */
  realpath(path: string): Promise<string>;
  /** Sets the permission bits. */
  chmod(path: string, mode: number): Promise<void>;
  /** Removes a directory and everything below it, or a file or link. Links are not followed. */
  removeTree(
    path: string,
    options?: Pick<DeleteOptions, "aside" | "durability"> & Signalled,
  ): Promise<TreeCounts>;
  /** Copies a tree, links as links. With `overwrite` directories merge and files are replaced. */
  copyTree(from: string, to: string, options?: CopyTreeOptions): Promise<TreeCounts>;
  /**
   * Returns a new path in the directory of `path` that no listing shows. A change renames the entry that it
   * replaces or deletes to this path, so that a rollback can rename it back. UNSUPPORTED_OPERATION with
   * `details.reason` `aside` means that an entry cannot be set aside.
   */
  asidePath(path: string): string;
  /** Removes the temporary files that dead processes left in a directory. A missing directory is fine. */
  sweep(path: string): Promise<void>;
  /**
   * Under a policy that hides secrets, allows reading the content of exactly the secret files with these real
   * paths. It replaces the previous list.
   */
  grantSecrets(paths: readonly string[]): void;
  /**
   * Returns the same files with secrets as ordinary ones. Filewright uses it for its own work, such as a rollback, which
   * has to read and restore every file. It uses real paths, so that it may refuse links.
   */
  trusted(): Files;
  /** Releases all resources. Running calls finish; later ones fail with UNSUPPORTED_OPERATION. */
  close(): MaybePromise<void>;
  /** Takes the lock of a path, which excludes other processes where `abilities.locks` says so. @throws LOCK_TIMEOUT */
  lock(path: string, options: LockOptions): Promise<LockHandle>;
  /**
   * Under a policy: returns the content of git's `info/exclude` of the repository outside the roots of which git made a
   * directory a linked worktree; undefined where either side does not name the other.
   */
  gitExclude(directory: string): Promise<Uint8Array | undefined>;
  /** Returns the other names (hard links) of a file below the roots of the policy, as paths without links. */
  otherNames(path: string): Promise<readonly string[]>;
}
