/** A commit of a storage: its changes, its conditions and its answer. */
import type { Actor, Entry, StorageCall, StoredType, Version } from "./entry.ts";
import type { RecordOp } from "../records/records.ts";

/**
 * One change of a commit. Missing parent directories are made. No operation follows a link.
 *
 * - `put` creates or replaces a file; it also replaces a link. A directory is IS_DIRECTORY. `hash` saves the
 *   engine the computation; a wrong one is INVALID_ARGUMENT. Without `mode` a replaced file keeps its own.
 * - `link` does the same with content that the storage has already. Unknown content is NOT_FOUND.
 * - `mkdir` accepts a directory that exists. Anything else there is ALREADY_EXISTS.
 * - `symlink` replaces nothing: ALREADY_EXISTS.
 * - `chmod` of a link is INVALID_ARGUMENT.
 * - `remove` of a directory that is not empty is NOT_EMPTY without `tree`.
 * - `move` moves a file, a link or a tree and replaces nothing: ALREADY_EXISTS.
 */
export type Op =
  | {
      readonly op: "put";
      readonly path: string;
      readonly body: Uint8Array;
      readonly hash?: string | undefined;
      readonly mode?: number | undefined;
    }
  | {
      readonly op: "link";
      readonly path: string;
      readonly hash: string;
      readonly size: number;
      readonly mode?: number | undefined;
    }
  | { readonly op: "mkdir"; readonly path: string; readonly mode?: number | undefined }
  | { readonly op: "symlink"; readonly path: string; readonly target: string }
  | { readonly op: "chmod"; readonly path: string; readonly mode: number }
  | { readonly op: "remove"; readonly path: string; readonly tree?: boolean | undefined }
  | { readonly op: "move"; readonly from: string; readonly to: string };

/**
 * A condition of a commit, compared with the state before its first operation.
 *
 * - `version` is that of the path; null means that nothing is there.
 * - `tree` is a version of the workspace: nothing at or below the path has changed since. One that is older
 *   than what the engine keeps does not hold.
 * - `type` is the kind of the entry; `gone` means that nothing is there.
 */
export type Expect =
  | { readonly path: string; readonly version: Version | null }
  | { readonly path: string; readonly tree: Version }
  | { readonly path: string; readonly type: StoredType };

/** One condition that did not hold. The error CONFLICT has all of them in `details.conflicts`. */
export interface UnmetExpect {
  /** The path of an unmet condition. */
  readonly path: string;
  /** The expected version or type; null for nothing. */
  readonly expected: string | null;
  /** The version or type that was found; null for nothing. */
  readonly found: string | null;
}

/** The conditions and the properties of a commit. */
export interface CommitOptions extends StorageCall {
  /** The conditions that all have to hold. Default: none. */
  readonly expect?: readonly Expect[] | undefined;
  /**
   * An idempotency key, at most 200 bytes: the same key again returns the first answer with `repeated` and
   * changes nothing, also when the conditions no longer hold. A commit that failed does not use its key up.
   * Kept for at least 24 hours.
   */
  readonly key?: string | undefined;
  /** The origin of the commit. */
  readonly actor?: Actor | undefined;
  /**
   * The token of `lockAll`: the commit fails with CONFLICT and `details.reason` `fenced` once
   * another holder was given one of the locked paths.
   */
  readonly token?: bigint | undefined;
  /**
   * True to end the locks of `token` with the commit, in the same round trip where the engine can. A commit that fails
   * leaves them held. Default false.
   */
  readonly release?: boolean | undefined;
  /** Shared records that change in the same moment: an approval used up, a budget charged. */
  readonly records?: readonly RecordOp[] | undefined;
}

/** The answer of a commit. */
export interface Committed {
  /** The version of the workspace after the commit. */
  readonly version: Version;
  /**
   * The last state of every path that an operation names, and of the parents that were made, sorted by path.
   * What lay below a removed or moved tree is in `changes` alone.
   */
  readonly entries: readonly Entry[];
  /** True when the key was known: this is the answer of the first commit. */
  readonly repeated?: true;
}
