/** The optional parts of a storage that replicas share: locks, past commits and records. */
import type { Actor, Entry, ReadMany, StorageCall, Version } from "./entry.ts";

/** A path that is locked. */
export interface LockPath {
  /** The path to lock. It need not exist. */
  readonly path: string;
  /** True to lock everything below the path as well. Default false. */
  readonly tree?: boolean | undefined;
}

/** How a lock of several paths is waited for and held. */
export interface LockAllOptions extends StorageCall {
  /** The maximum time to wait for other holders, in milliseconds. Then LOCK_TIMEOUT is thrown. */
  readonly timeoutMs: number;
  /**
   * The time in milliseconds after which the engine may give the paths to another holder, if the first one has
   * not released them. Default: 60,000.
   */
  readonly forMs?: number | undefined;
  /** Paths that are read once the locks are held, in the same round trip where the engine can. Default: none. */
  readonly read?: readonly string[] | undefined;
  /** The maximum bytes of the contents of `read`; what does not fit is left out, as in `readMany`. Default: no maximum. */
  readonly maxBytes?: number | undefined;
}

/** The held lock of several paths. */
export interface LockedPaths {
  /** The fencing token: greater than that of every earlier holder of one of the paths. */
  readonly token: bigint;
  /** The contents of the paths of `read`, in the state that the holder found. */
  readonly read?: ReadMany;
  /** Releases the paths. A second call does nothing. */
  release(): Promise<void>;
}

/** The commits that are asked for. */
export interface PastRequest extends StorageCall {
  /** The version that a commit made. The answer has that commit alone, with its changes. */
  readonly version?: Version | undefined;
  /** The key of a commit. The answer has that commit alone, with its changes. */
  readonly key?: string | undefined;
  /** Only commits of the agent with this name. */
  readonly agent?: string | undefined;
  /** Only commits before this version, for the next page. */
  readonly before?: Version | undefined;
  /** True for the changes of every commit, not only of one that `version` or `key` names. Default false. */
  readonly changes?: boolean | undefined;
  /** The maximum number of commits. */
  readonly limit: number;
}

/** A past commit. */
export interface Past {
  /** The version that the commit made. */
  readonly version: Version;
  /** The time of the commit by the clock of the engine, in milliseconds since 1970. */
  readonly at: number;
  /** The idempotency key of the commit. */
  readonly key?: string;
  /** The origin of the commit. */
  readonly actor?: Actor;
  /** The number of paths that the commit changed. */
  readonly count: number;
  /** Every path that the commit changed, sorted. Present when they were asked for, or one commit was named. */
  readonly changes?: readonly PastChange[];
}

/**
 * The state of one path before and after a commit. The content of both is in the storage, so that `link` can
 * restore it.
 */
export interface PastChange {
  /** The path that a commit changed. */
  readonly path: string;
  /** The state before the commit; null when there was nothing. */
  readonly before: Entry | null;
  /** The state after the commit; null when there is nothing. */
  readonly after: Entry | null;
}

/**
 * One change of a shared record within a commit.
 *
 * - `put` sets the value; with `expect` only if the record has this revision (null: no such record).
 * - `add` adds to a counter, which begins at 0, unless the result would exceed `most`: then the commit fails
 *   with LIMIT_EXCEEDED and `details` `{ record, now, most }`.
 * - `remove` removes the record; with `expect` only that revision.
 *
 * A revision that is not met is one of `details.conflicts` of the error CONFLICT, as
 * `{ record: { kind, id }, expected, found }`.
 */
export type RecordOp =
  | {
      readonly kind: string;
      readonly id: string;
      readonly put: unknown;
      readonly expect?: string | null | undefined;
      readonly forMs?: number | undefined;
    }
  | { readonly kind: string; readonly id: string; readonly add: number; readonly most?: number | undefined }
  | {
      readonly kind: string;
      readonly id: string;
      readonly remove: true;
      readonly expect?: string | undefined;
    };

/** A shared record: its value, and a revision that changes with each change. */
export interface SharedRecord {
  /** The value of a record, JSON. The value of a counter is its number. */
  readonly value: unknown;
  /** The revision of a record, opaque. A record that was removed and made again has another one. */
  readonly rev: string;
}

/**
 * Small records, at most 64 KiB of JSON each, shared by the replicas of a server. A record whose time is over
 * is absent. They are no part of the files: forks do not inherit them, and no version changes with them.
 */
export interface Records {
  /** Returns a record; null when there is none. */
  get(kind: string, id: string, options?: StorageCall): Promise<SharedRecord | null>;
  /**
   * Sets a record and returns its revision. `forMs` is its lifetime, counted on the clock of the engine.
   * @throws CONFLICT unless `expect` is its revision (null: there is none)
   */
  put(
    kind: string,
    id: string,
    value: unknown,
    options?: StorageCall & {
      readonly expect?: string | null | undefined;
      readonly forMs?: number | undefined;
    },
  ): Promise<string>;
  /**
   * Adds to a counter, unless the result would exceed `most`; in one step. The result has the present number.
   * `forMs` counts from the first number, so that a counter covers a window of time.
   */
  add(
    kind: string,
    id: string,
    amount: number,
    most?: number,
    options?: StorageCall & { readonly forMs?: number | undefined },
  ): Promise<{ readonly ok: boolean; readonly now: number }>;
  /** Returns the records of a kind, sorted by the code points of their ids. `after` is the last id of a page. */
  list(
    kind: string,
    options: StorageCall & { readonly after?: string | undefined; readonly limit: number },
  ): Promise<readonly (SharedRecord & { readonly id: string })[]>;
  /** Removes a record. One that does not exist is fine. */
  remove(kind: string, id: string, options?: StorageCall): Promise<void>;
}
