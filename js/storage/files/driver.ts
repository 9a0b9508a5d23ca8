/**
 * The contract of a driver: what a host writes for its own storage. It has five methods, and `move` where the storage
 * can rename. `filesOf` makes a storage of it, with everything else: conditions, commits of several changes, rollback,
 * changes since a version, searches.
 *
 * Paths are absolute, separated by `/` and normalised; every other character is a part of a name. A storage that reads
 * one otherwise (a backslash as a separator) refuses it in `stat`, which is asked before any other call about a path:
 * else the path leads out of the roots of a workspace. A directory exists while a file is below it: a driver need not
 * store directories. One that does (a disk) makes the missing parents of a file that is written, and answers them as
 * `dir`. A failure is a `FilewrightError` with a code; any other exception counts as IO_ERROR, after which a
 * commit of one change reads the files to find out whether the call has happened, and one of several is taken back. `write` replaces a content as a whole or not at all.
 */

/** A file or a directory of a driver. */
export type DriverEntry =
  | {
      /** The kind of an entry of a driver. */
      readonly type: "file";
      /** The absolute path of an entry of a driver. */
      readonly path: string;
      /** A text that changes whenever the content or the permission bits of the file change. */
      readonly version: string;
      /** The size of a file of a driver in bytes. */
      readonly size: number;
      /** The time of the last change of a file of a driver, in milliseconds since 1970. */
      readonly mtime: number;
      /** The permission bits of a file of a driver. Absent where the storage keeps none. */
      readonly mode?: number | undefined;
    }
  | {
      /** The kind of an entry of a driver. */
      readonly type: "dir";
      /** The absolute path of an entry of a driver. */
      readonly path: string;
    };

/** How a driver writes a file. */
export interface DriverWrite {
  /** The permission bits of the written file. Absent for a new file whose creator names none. */
  readonly mode?: number | undefined;
  /**
   * The version that the file has to have; null when it must not exist. A driver that can compare in the same step as
   * it writes throws CONFLICT otherwise. A driver that ignores it relies on the comparison that `filesOf` makes before.
   */
  readonly ifVersion: string | null;
}

/** The calls of a storage that a host writes. */
export interface Driver {
  /** Returns the file or directory at a path; null when there is nothing. */
  stat(path: string): Promise<DriverEntry | null>;
  /** Returns the files and directories that stand directly in a directory, in any order; none for a missing one. */
  list(directory: string): Promise<readonly DriverEntry[]>;
  /** Returns the content of a file. @throws NOT_FOUND */
  read(path: string): Promise<Uint8Array>;
  /** Creates or replaces a file, and returns it. The array may be kept: nothing else changes it. */
  write(path: string, body: Uint8Array, options: DriverWrite): Promise<DriverEntry>;
  /** Removes a file that has the version `ifVersion`, or without it an empty directory that the driver stores. */
  remove(path: string, ifVersion?: string): Promise<void>;
  /** Moves a file to a path where nothing is, and returns it. Default: it is copied and removed. */
  move?(from: string, to: string): Promise<DriverEntry>;
}
