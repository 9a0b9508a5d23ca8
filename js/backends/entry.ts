/** An entry of a directory, as a backend lists it. */

import type { Kind } from "../engine/generated/records.ts";

export type { Kind as EntryType } from "../engine/generated/records.ts";

/** One entry of a directory. Frozen. */
export interface FsEntry {
  /** The name in its directory. */
  readonly name: string;
  /** The absolute path. */
  readonly path: string;
  /** The kind of entry. */
  readonly type: Kind;
  /** True for a directory. */
  readonly isDir: boolean;
  /** True for a regular file. */
  readonly isFile: boolean;
  /** Bytes; absent where the backend would need a further call. */
  readonly size?: number;
  /** Time of the last change to the content. */
  readonly mtime?: number;
  /** The target of a link, as written. */
  readonly target?: string;
}
