/** A commit of a storage: its changes, its conditions and its answer. */
import type { Actor, Entry, StorageCall, StoredType, Version } from "./entry.ts";
import type { RecordOp } from "../records/records.ts";

export type { Op } from "../backends/transaction/op.ts";

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
