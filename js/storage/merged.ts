/** The result of bringing the changes of a fork into its parent. */
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
}

/**
 * The reason of a conflict: `content` of two texts changed at the same place, `binary` contents both changed,
 * `type` of different kinds of entries, `removed` on one side and changed on the other, `mode` of different
 * permission bits, `target` of links changed on both sides, `tree` for an entry below a path that the other side
 * removed or made a file.
 */
export type PathConflictKind = "content" | "binary" | "type" | "removed" | "mode" | "target" | "tree";

/** A path that could not be merged. */
export interface PathConflict {
  /** The path of a conflict. */
  readonly path: string;
  /** The reason of a conflict. */
  readonly kind: PathConflictKind;
  /** The state that both sides began with; null for nothing. */
  readonly base: Entry | null;
  /** The state in this storage; null for nothing. */
  readonly ours: Entry | null;
  /** The state in the fork; null for nothing. */
  readonly theirs: Entry | null;
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
