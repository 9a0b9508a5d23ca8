/** The result of bringing the changes of a fork into its parent. */
import type { Op } from "./commit.ts";
import type { Actor, Entry, StorageCall, Version } from "./entry.ts";

/** How the changes of a fork are merged. */
export interface MergeOfForkOptions extends StorageCall {
  /** The idempotency key of the commit. */
  readonly key?: string | undefined;
  /** The origin of the commit. */
  readonly actor?: Actor | undefined;
  /**
   * The side whose state a path in conflict gets: `ours` is this storage, `theirs` is the fork. Texts are merged
   * first; the side counts for a path that has a conflict after that. Default: conflicts are returned.
   */
  readonly favour?: "ours" | "theirs" | undefined;
  /**
   * Called with what the merge would do, before anything is changed: with false, or with conflicts, nothing is. It
   * is called again when another writer was faster and the merge is computed anew. Default: nobody is asked.
   */
  readonly review?: ((planned: PlannedMerge) => boolean | Promise<boolean>) | undefined;
}

/** A path that a fork changed, in the three states of a merge. */
export interface MergeStates {
  /** The path that the fork changed. */
  readonly path: string;
  /** The state that both sides began with; null for nothing. */
  readonly base: Entry | null;
  /** The state in this storage; null for nothing. */
  readonly ours: Entry | null;
  /** The state in the fork; null for nothing. */
  readonly theirs: Entry | null;
}

/** A merge that was computed and not made. */
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
 * The reason of a conflict: `content` of two texts changed at the same place, `binary` contents both changed,
 * `type` of different kinds of entries, `removed` on one side and changed on the other, `mode` of different
 * permission bits, `target` of links changed on both sides, `tree` for an entry below a path that the other side
 * removed or made a file.
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
  /** The version of this storage after the merge; its present version when nothing was changed. */
  readonly version: Version;
  /** The entries that the merge changed, as of its commit; empty with conflicts. */
  readonly entries: readonly Entry[];
  /** The paths in conflict, sorted. When there are any, the merge has changed nothing. */
  readonly conflicts: readonly PathConflict[];
  /** True when the key was known: the merge had happened before. */
  readonly repeated?: true;
}
