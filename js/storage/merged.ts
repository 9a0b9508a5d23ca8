/** The options and the result of a merge: of a fork into its parent, or of a parent into its fork. */
import type { Op } from "./commit.ts";
import type { Actor, Entry, StorageCall, Version } from "./entry.ts";

/**
 * How the changes of a fork are merged. In these types, this storage is the one that receives the changes, and the
 * fork is the one that they come from. A parent can be merged into its fork as well: it is then called the fork.
 */
export interface MergeOfForkOptions extends StorageCall {
  /** The idempotency key of the commit. */
  readonly key?: string | undefined;
  /** The origin of the commit. */
  readonly actor?: Actor | undefined;
  /**
   * The side whose state a path in conflict gets: `ours` is this storage, `theirs` is the fork. A text that both
   * sides changed gets it only if the three-way merge of its lines has conflicts. A conflict of the kind `tree` is
   * returned even so. Default: every conflict is returned.
   */
  readonly favour?: "ours" | "theirs" | undefined;
  /**
   * Called with the computed merge before anything is changed. When it returns false, or when there are conflicts, the
   * merge changes nothing. It is called again when the merge is computed again, because another writer has changed one
   * of its paths. Default: the merge is made without a review.
   */
  readonly review?: ((planned: PlannedMerge) => boolean | Promise<boolean>) | undefined;
  /**
   * A merge that `review` of an earlier call was given: an engine that still knows what it was computed from makes it
   * without another computation and review. It brings in the state of the fork at that time, and fails with CONFLICT
   * when a path of this storage has changed since. Other engines ignore it.
   */
  readonly planned?: PlannedMerge | undefined;
}

/** A path that a fork changed, in the three states of a merge. */
export interface MergeStates {
  /** The path that the fork changed. */
  readonly path: string;
  /** The state that both sides began with; null where nothing exists. */
  readonly base: Entry | null;
  /** The state in this storage; null for nothing. */
  readonly ours: Entry | null;
  /** The state in the fork; null where nothing exists. */
  readonly theirs: Entry | null;
}

/** A merge that was computed and is not made yet. */
export interface PlannedMerge {
  /** Every path that differs between the fork and the state that both sides began with, sorted. */
  readonly states: readonly MergeStates[];
  /** The changes of the commit that the merge makes. */
  readonly ops: readonly Op[];
  /** The paths in conflict, sorted. */
  readonly conflicts: readonly PathConflict[];
  /** Returns the contents that these files have on one side, in their order; empty for what is no file there. */
  bodies(side: "base" | "ours" | "theirs", paths: readonly string[]): Promise<readonly Uint8Array[]>;
}

/**
 * The reason of a conflict.
 *
 * - `content`: both sides changed the same lines of a text.
 * - `binary`: both sides changed a file that is not UTF-8 text, or that is too large for a merge of its lines.
 * - `type`: the entries of the two sides are of different types, such as a file and a directory.
 * - `removed`: one side removed the entry, and the other changed it.
 * - `mode`: both sides changed the permission bits.
 * - `target`: both sides changed a symbolic link.
 * - `tree`: the fork changed an entry below a path that is no directory in this storage, or it replaced a directory
 *   in which this storage has other entries.
 */
export type PathConflictKind = "content" | "binary" | "type" | "removed" | "mode" | "target" | "tree";

/** A path that could not be merged. */
export interface PathConflict extends MergeStates {
  /** The reason of a conflict. */
  readonly kind: PathConflictKind;
  /** The merged text with conflict markers, for the kind `content`. */
  readonly text?: string;
}

/** The result of a merge. */
export interface Merged {
  /** The version of this storage after the merge. A merge that changes nothing leaves it as it was. */
  readonly version: Version;
  /** The entries that the merge changed, in their state after its commit; empty when there are conflicts. */
  readonly entries: readonly Entry[];
  /** The paths in conflict, sorted. When there are any, the merge has changed nothing. */
  readonly conflicts: readonly PathConflict[];
  /** True when a merge with the same key had happened before. This is its answer, and nothing was merged again. */
  readonly repeated?: true;
}
