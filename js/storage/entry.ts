/** Entries of a storage, the answer of a read, and what every call has. */
import type { Code, FilewrightError } from "../engine/errors.ts";
import type { DirNode, TreeNode } from "../backends/tree/nodes.ts";

/**
 * A version of a workspace or of a path. It is opaque: equal versions mean that nothing changed. Versions of
 * two storages are never compared.
 */
export type Version = string;

/** The kind of an entry. `gone` is the last state of a path that was removed. */
export type StoredType = "file" | "dir" | "symlink" | "gone";

/** The state of one path. */
export interface Entry {
  /** The path of an entry of a storage, absolute. */
  readonly path: string;
  /** The kind of an entry of a storage. */
  readonly type: StoredType;
  /**
   * The version of the path: that of its own last change. What changes below a directory does not change the
   * version of the directory.
   */
  readonly version: Version;
  /** The hash of the content of a file: `sha256:` and 64 hexadecimal digits. Present for every file that can be read. */
  readonly hash?: string;
  /** The size of a file in bytes. Present for every file. */
  readonly size?: number;
  /** The permission bits of a file or directory. Absent where the engine has none (`StorageFacts.modes`). */
  readonly mode?: number;
  /** The time of the last change of an entry by the clock of the engine, in milliseconds since 1970. */
  readonly mtime?: number;
  /** The target of a symbolic link, as written. */
  readonly target?: string;
  /** The code of the error with which a directory cannot be listed. Absent for one that can, and for every other entry. */
  readonly unreadable?: Code;
}

/** An entry in a tree of entries in memory. */
export type StoredNode = TreeNode<Entry>;

/** A directory in a tree of entries in memory, with what is below it. */
export type StoredDir = DirNode<Entry>;

/** An option that every call of a storage has. */
export interface StorageCall {
  /**
   * The signal that cancels the call, which then fails with CANCELLED. A cancelled commit may have happened:
   * the same key tells.
   */
  readonly signal?: AbortSignal | undefined;
}

/** How the paths of `readMany` are read. */
export interface ReadManyOptions extends StorageCall {
  /** With false, only entries are read, without contents. Default true. */
  readonly bodies?: boolean | undefined;
  /**
   * The number of bytes of content that are read together. A file that would exceed it, and every file after
   * it, is answered with `left` and without content. Default: no limit.
   */
  readonly maxBytes?: number | undefined;
  /** Reads a past state: a version that `snapshot` returned. Default: the present. */
  readonly at?: Version | undefined;
}

/** The state that was found at a path. */
export interface ReadEntry {
  /** The state of the path that was read. */
  readonly entry: Entry;
  /** The content of a file. Absent for every other entry, without `bodies`, and where `left` is true. */
  readonly body?: Uint8Array;
  /** True when the content was left out, because `maxBytes` was used up. */
  readonly left?: true;
}

/** The answer of `readMany`. */
export interface ReadMany {
  /** The version of the workspace that was read. */
  readonly version: Version;
  /**
   * One result for each path, in the order of the request: what was found, null where there is nothing, or the
   * error of a path that cannot be read.
   */
  readonly results: readonly (ReadEntry | FilewrightError | null)[];
}

/** Names a content, as an {@link Entry} of the history does. */
export interface ContentName {
  /** `sha256:` and the hash in hexadecimal. */
  readonly hash: string;
  /** The number of bytes. */
  readonly size: number;
}

/** The origin of a commit, kept in the history. */
export interface Actor {
  /** The name of the agent that made a commit. */
  readonly agent?: string | undefined;
  /** The name of the tool that made a commit. */
  readonly tool?: string | undefined;
  /** The id of the call that made a commit. */
  readonly callId?: string | undefined;
  /** The id of the call that this commit undoes. */
  readonly undoOf?: string | undefined;
}
