/**
 * The contract of a storage: the files of one workspace, in an engine that several machines share.
 *
 * A backend (`FsBackend`) is one place of files and answers path by path. A storage answers for many paths at
 * once, changes several of them in one commit, and knows which version each of them has. Six methods are
 * required; the others are found by their presence and replaced by fallbacks where they are missing.
 *
 * Paths are absolute, separated by `/` and normalised, without NUL and unpaired surrogates: at most 4,096 bytes
 * of UTF-8, a name at most 255. `/` is a directory that always exists. A storage follows no symbolic link: a
 * link is an entry with a target, and a path that goes through one is NOT_DIRECTORY.
 *
 * Failures are `FilewrightError`s with a code of the closed list. After IO_ERROR, `details.outcome` says whether
 * the commit happened: `none` means that it did not, `unknown` that the caller repeats it with the same key.
 */
import type { SearchQuery, SearchResult } from "../engine/search-types.ts";
import type { CommitOptions, Committed, Op } from "./commit.ts";
import type { ContentName, Entry, ReadMany, ReadManyOptions, StorageCall, Version } from "./entry.ts";
import type { Merged, MergeOfForkOptions } from "./merged.ts";
import type { Records } from "../records/records.ts";
import type { LockAllOptions, LockedPaths, LockPath, Past, PastRequest } from "./shared.ts";

export type { CommitOptions, Committed, Expect, Op, UnmetExpect } from "./commit.ts";
export type {
  Actor,
  ContentName,
  Entry,
  ReadEntry,
  ReadMany,
  ReadManyOptions,
  StorageCall,
  StoredType,
  Version,
} from "./entry.ts";
export type {
  Merged,
  MergeOfForkOptions,
  MergeStates,
  PathConflict,
  PathConflictKind,
  PlannedMerge,
} from "./merged.ts";
export type {
  LockAllOptions,
  LockedPaths,
  LockPath,
  Past,
  PastChange,
  PastRequest,
} from "./shared.ts";
export type {
  AddToRecord,
  CountedRecord,
  KeptRecords,
  ListedRecord,
  ListRecords,
  PutRecord,
  RecordCall,
  RecordOp,
  Records,
  SharedRecord,
} from "../records/records.ts";

/** The entries that {@link Storage.list} returns. */
export interface ListRequest extends StorageCall {
  /** The directory whose content is listed. Default `/`. */
  readonly prefix?: string | undefined;
  /** The number of levels below the directory; 1 lists its own entries alone. Default: all. */
  readonly depth?: number | undefined;
  /** The path after which the page begins: `next` of the previous page. */
  readonly after?: string | undefined;
  /** The maximum number of entries of a page. An engine may return fewer (`StorageFacts.limits.listPage`). */
  readonly limit: number;
  /** Lists a past state: a version that {@link Storage.snapshot} returned. Default: the present. */
  readonly at?: Version | undefined;
}

/** A page of entries. */
export interface EntryPage {
  /** The entries of the page, sorted by the code points of the whole path, none of them `gone`. */
  readonly entries: readonly Entry[];
  /**
   * The entry at `prefix` itself, which the page does not contain; null when there is nothing. A page of a path
   * that is no directory is empty.
   */
  readonly top: Entry | null;
  /** The version of the workspace that was listed. */
  readonly version: Version;
  /** The `after` of the next page. Absent on the last page. */
  readonly next?: string;
}

/** How {@link Storage.changes} answers. */
export interface ChangesOptions extends StorageCall {
  /** The maximum number of entries of a page. With 0, only `head` is asked for. */
  readonly limit: number;
}

/** A page of changes. */
export interface ChangePage {
  /** The present version of the workspace. The caller has reached it when there is no `next`. */
  readonly head: Version;
  /** Each path that changed, once, with its last state; in the order of their last changes. */
  readonly entries: readonly Entry[];
  /** The `since` of the next page, which may lie within a commit. Absent on the last page. */
  readonly next?: Version;
  /** True when `since` is older than what the engine keeps, or unknown to it: the caller has to list again. */
  readonly gap?: true;
}

/** The abilities and limits of an engine, as {@link Storage.probe} found them. Snake case: they are printed. */
export interface StorageFacts {
  /** True: two writers cannot win the same condition. A storage without this is refused. */
  readonly cas: true;
  /** True when a commit of several operations happens as a whole or not at all, also when the process ends. */
  readonly atomic: boolean;
  /** True when other processes and machines see the same state. */
  readonly shared: boolean;
  /** `fair`: in line, held by a connection; `lease`: for a time, without a line; `process`: in this process. */
  readonly locks: "fair" | "lease" | "process";
  /** True when a fork copies nothing. */
  readonly forks: boolean;
  /** True when {@link Storage.history} exists. */
  readonly history: boolean;
  /** True when symbolic links can be stored. */
  readonly links: boolean;
  /** True when permission bits are kept. */
  readonly modes: boolean;
  /** True when a directory without content can be stored. */
  readonly empty_dirs: boolean;
  /** True when an answered commit survives the end of the process and of the machine. */
  readonly durable: boolean;
  /** The largest file, the largest commit and the largest page of a listing. */
  readonly limits: {
    /** The maximum size of a file, in bytes. */
    readonly bodyBytes: number;
    /** The maximum number of changes of a commit. */
    readonly commitOps: number;
    /** The maximum number of bytes of all contents of a commit. */
    readonly commitBytes: number;
    /** The maximum number of entries of a page of a listing. */
    readonly listPage: number;
  };
}

/** How an engine is probed. */
export interface ProbeOptions extends StorageCall {
  /**
   * `full` tries everything; `trust` skips the race of two writers, for hosts that run it in their tests.
   * Default `full`.
   */
  readonly mode?: "full" | "trust" | undefined;
}

/** A state of a workspace that stays readable. */
export interface Snapshot {
  /** The version that `at` of a read or a listing takes. */
  readonly at: Version;
  /** Allows the engine to forget the state. */
  release(): Promise<void>;
}

/** How {@link Storage.fork} begins. */
export interface ForkOptions extends StorageCall {
  /** The version from which the fork begins, from {@link Storage.snapshot}. Default: the present. */
  readonly at?: Version | undefined;
}

/** A search in a storage. */
export type StorageSearch = SearchQuery &
  StorageCall & {
    /** The directory that is searched. Default `/`. Paths of the result are relative to it. */
    readonly root?: string | undefined;
    /** Globs of paths that may not show, not even in counts. */
    readonly deny: readonly string[];
    /** Searches a past state. Default: the present. */
    readonly at?: Version | undefined;
  };

/**
 * The files of one workspace, shared with other writers. Every answer belongs to one moment: no call sees half
 * a commit.
 */
export interface Storage {
  /**
   * Finds out what the engine really does, once at opening and before any other call.
   * @throws UNSUPPORTED_OPERATION where two writers can win the same condition
   */
  probe(options?: ProbeOptions): Promise<StorageFacts>;
  /** Returns entries, and contents unless `bodies` is false. One round trip, however many paths. */
  readMany(paths: readonly string[], options?: ReadManyOptions): Promise<ReadMany>;
  /** Returns a page of everything below a directory, flat. */
  list(request: ListRequest): Promise<EntryPage>;
  /** Returns what changed after a version. `since: null` is before the first commit. */
  changes(since: Version | null, options: ChangesOptions): Promise<ChangePage>;
  /**
   * Makes all of these changes, in their order, or none of them.
   * @throws CONFLICT with `details.conflicts`, every unmet condition; LIMIT_EXCEEDED, TOO_LARGE, NO_SPACE
   */
  commit(ops: readonly Op[], options?: CommitOptions): Promise<Committed>;
  /** Frees the connection. Running calls finish; later ones fail with UNSUPPORTED_OPERATION. */
  close(): Promise<void>;

  /** Returns the entries of these paths without contents, null where there is nothing. */
  statMany?(paths: readonly string[], options?: StorageCall): Promise<readonly (Entry | null)[]>;
  /** Waits in line for all of these paths. @throws LOCK_TIMEOUT, CANCELLED */
  lockAll?(paths: readonly LockPath[], options: LockAllOptions): Promise<LockedPaths>;
  /** Names the present state, so that it can be read until it is released. */
  snapshot?(options?: StorageCall): Promise<Snapshot>;
  /**
   * Makes another workspace that begins as this one is, or was. Nothing is copied.
   * @throws ALREADY_EXISTS for a name that a workspace has
   */
  fork?(name: string, options?: ForkOptions): Promise<Storage>;
  /**
   * Brings the changes of a fork into this storage, as one commit. With conflicts nothing is changed.
   * @throws INVALID_ARGUMENT for a storage that is neither a fork of this one nor its parent
   */
  merge?(from: Storage, options?: MergeOfForkOptions): Promise<Merged>;
  /**
   * Removes this workspace from the engine and closes the storage; its name is free at once. What its forks read
   * from it stays as long as they do.
   */
  drop?(options?: StorageCall): Promise<void>;
  /** Returns past commits, newest first; with their changes where `version` or `key` names one. */
  history?(request: PastRequest): Promise<readonly Past[]>;
  /** Returns contents that the history names; null for one that the engine does not have any more. */
  readContents?(
    contents: readonly ContentName[],
    options?: StorageCall,
  ): Promise<readonly (Uint8Array | null)[]>;
  /**
   * In a storage that `fork` has returned: the version at which it began, which the storage it was forked from had
   * too. `changes` of either, since this version, names every path that it has changed since the fork. Searches of a
   * fork then begin with what is known of its parent. Default: a fork is listed as a whole.
   */
  readonly forkedAt?: Version;
  /** Small records shared by the replicas of a server: approvals, budgets, reads, sessions, leases. */
  readonly records?: Records;
  /** Searches contents where the data is. */
  search?(query: StorageSearch): Promise<SearchResult>;
}

/** The methods that every storage has. */
export const STORAGE_METHODS = ["probe", "readMany", "list", "changes", "commit", "close"] as const;

/** Returns true for an object that has the methods of a storage. */
export function isStorage(value: unknown): value is Storage {
  if (typeof value !== "object" || value === null) return false;
  return STORAGE_METHODS.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
}
