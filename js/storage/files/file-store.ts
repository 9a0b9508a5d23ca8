/**
 * The files under a storage: those of a driver, or of a directory of a backend. The commit of `filesOf` uses file stores
 * alone. Paths are those of the storage; a file store maps them below its root.
 */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Entry } from "../entry.ts";

/** A file of a store. */
export interface FoundFile {
  readonly type: "file";
  readonly path: string;
  /** The version by which the file store compares. */
  readonly version: string;
  readonly size: number;
  readonly mtime: number;
  readonly mode?: number | undefined;
}

/** An entry of a store. The `id` of a directory or link changes when another one takes its path, where that is known. */
export type FoundEntry =
  | FoundFile
  | {
      readonly type: "dir";
      readonly path: string;
      readonly id: string;
      readonly mtime?: number | undefined;
      readonly mode?: number | undefined;
    }
  | {
      readonly type: "symlink";
      readonly path: string;
      readonly id: string;
      readonly mtime?: number | undefined;
      readonly target: string;
    };

/** How a file is written into a store. */
export interface StoreWrite {
  /** The permission bits that the writer named. */
  readonly mode: number | undefined;
  /** The permission bits of the replaced file. */
  readonly modeBefore: number | undefined;
  /** The version that the file store compares; null when nothing may be there. */
  readonly ifVersion: string | null;
  /** The hash of the content. */
  readonly hash: string;
}

/** The abilities of a file store. */
export interface StoreAbilities {
  /** True when a directory without content stays when the process ends. */
  readonly emptyDirs: boolean;
  readonly links: boolean;
  /** True when permission bits can be set. Whether they are kept is found out by the probe. */
  readonly modes: boolean;
  /** The reach of one move: `trees` also a directory with its content, `files` a file, `none` nothing. */
  readonly moves: "trees" | "files" | "none";
}

/** The calls by which files are read and changed, one path each. Every change returns what it left at its path. */
export interface FileStore {
  readonly abilities: StoreAbilities;
  /** Returns the entry itself; null where there is none, or one that is neither a file, a directory nor a link. */
  stat(path: string): Promise<FoundEntry | null>;
  list(directory: string): Promise<readonly FoundEntry[]>;
  /** Returns a content and the file that has it, in one state. @throws NOT_FOUND */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: FoundFile }>;
  /** Returns the hash of a content and the file that has it. */
  hash(path: string): Promise<{ readonly hash: string; readonly file: FoundFile }>;
  write(path: string, body: Uint8Array, options: StoreWrite): Promise<FoundEntry>;
  /** Removes a file or link, or an empty directory. @throws NOT_EMPTY */
  remove(path: string, ifVersion?: string): Promise<void>;
  /** Moves an entry to where nothing is; a file only with this version, where the store can compare it. */
  move(from: string, to: string, ifVersion?: string): Promise<FoundEntry>;
  mkdir(path: string, mode: number | undefined): Promise<FoundEntry>;
  symlink(path: string, target: string): Promise<FoundEntry>;
  chmod(path: string, mode: number): Promise<FoundEntry>;
}

/** Returns the version of an entry in the storage, which covers its permission bits; null where there is none. */
export function versionOf(found: FoundEntry | null): string | null {
  if (found === null) return null;
  const { type } = found;
  if (type === "file") return `${found.mode?.toString(8) ?? ""}:${found.version}`;
  return type === "dir" ? `dir ${found.id} ${found.mode ?? ""}` : `link ${found.id} ${found.target}`;
}

/** Returns the version by which the file store compares, from the version in the storage. */
export function storeVersion(version: string): string {
  return version.slice(version.indexOf(":") + 1);
}

/** Returns an entry of the storage. `hash` is that of the content of a file; undefined if that cannot be read. */
export function entryOf(found: FoundEntry, hash: string | undefined): Entry {
  const { path, type, mtime } = found;
  const mode = found.type === "symlink" ? undefined : found.mode;
  return Object.freeze({
    path,
    type,
    version: versionOf(found) as string,
    ...(mtime === undefined ? {} : { mtime }),
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(found.type === "file" ? withoutUndefined({ hash, size: found.size }) : {}),
    ...(found.type === "symlink" ? { target: found.target } : {}),
  });
}

/** Returns the functions between paths of a storage and those of the file store below a root. */
export function pathsBelow(root: string): {
  real(path: string): string;
  stored(path: string): string;
} {
  if (root === "/") return { real: (path) => path, stored: (path) => path };
  return {
    real: (path) => (path === "/" ? root : root + path),
    stored: (path) => (path === root ? "/" : path.slice(root.length)),
  };
}
