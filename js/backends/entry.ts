/** An entry of a directory, as a backend lists it. */

/** What stands at a path. `other` is a FIFO, socket or device. */
export type EntryType = "file" | "dir" | "symlink" | "other";

/** One entry of a directory. Frozen. */
export interface FsEntry {
  /** The name in its directory. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** The kind of entry. */
  readonly type: EntryType;
  /** Whether it is a directory. */
  readonly isDir: boolean;
  /** Whether it is a regular file. */
  readonly isFile: boolean;
  /** Bytes; absent where the backend would need a further call to know. */
  readonly size?: number;
  /** When the content changed last. */
  readonly mtime?: number;
  /** Where a link points, as written. */
  readonly target?: string;
}
