/** The optional parts of a storage that replicas share: locks and past commits. */
import type { Changed } from "../backends/entry.ts";
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
export interface PastChange extends Changed<Entry> {}
