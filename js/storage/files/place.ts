/**
 * The place of a storage's files: a driver, or a directory of a backend. The commit of `filesOf` speaks to places
 * alone. Paths are those of the storage; a place maps them below its root.
 */
import type { Entry } from "../entry.ts";

/** A file of a place. */
export interface PlacedFile {
  readonly type: "file";
  readonly path: string;
  /** The version by which the place compares. */
  readonly version: string;
  readonly size: number;
  readonly mtime: number;
  readonly mode?: number | undefined;
}

/** An entry of a place. The `id` of a directory or link changes when another one takes its path, where that is known. */
export type Placed =
  | PlacedFile
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

/** How a file is written into a place. */
export interface PlaceWrite {
  /** The permission bits that the writer named. */
  readonly mode: number | undefined;
  /** The permission bits of the replaced file. */
  readonly modeBefore: number | undefined;
  /** The version that the place compares; null when nothing may be there. */
  readonly ifVersion: string | null;
  /** The hash of the content. */
  readonly hash: string;
}

/** What a place can do. */
export interface PlaceAbilities {
  /** True when a directory without content stays when the process ends. */
  readonly emptyDirs: boolean;
  readonly links: boolean;
  /** True when permission bits can be set. Whether they are kept is found out by the probe. */
  readonly modes: boolean;
  /** What one call moves: `trees` also a directory with its content, `files` a file, `none` nothing. */
  readonly moves: "trees" | "files" | "none";
}

/** The calls by which files are read and changed, one path each. Every change returns what it left at its path. */
export interface Place {
  readonly abilities: PlaceAbilities;
  /** Returns the entry itself; null for nothing, and for what is neither a file, a directory nor a link. */
  stat(path: string): Promise<Placed | null>;
  list(directory: string): Promise<readonly Placed[]>;
  /** Returns a content and the file that has it, in one state. @throws NOT_FOUND */
  read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: PlacedFile }>;
  /** Returns the hash of a content and the file that has it. */
  hash(path: string): Promise<{ readonly hash: string; readonly file: PlacedFile }>;
  write(path: string, body: Uint8Array, options: PlaceWrite): Promise<Placed>;
  /** Removes a file or link, or an empty directory. @throws NOT_EMPTY */
  remove(path: string, ifVersion?: string): Promise<void>;
  move(from: string, to: string): Promise<Placed>;
  mkdir(path: string, mode: number | undefined): Promise<Placed>;
  symlink(path: string, target: string): Promise<Placed>;
  chmod(path: string, mode: number): Promise<Placed>;
}

/** Returns the version of an entry in the storage, which covers its permission bits; null for nothing. */
export function versionOf(placed: Placed | null): string | null {
  if (placed === null) return null;
  const { type } = placed;
  if (type === "file") return `${placed.mode?.toString(8) ?? ""}:${placed.version}`;
  return type === "dir" ? `dir ${placed.id} ${placed.mode ?? ""}` : `link ${placed.id} ${placed.target}`;
}

/** Returns the version by which the place of a file compares, of its version in the storage. */
export function placeVersion(version: string): string {
  return version.slice(version.indexOf(":") + 1);
}

/** Returns an entry of the storage. `hash` is that of the content of a file. */
export function entryOf(placed: Placed, hash: string): Entry {
  const { path, type, mtime } = placed;
  const mode = placed.type === "symlink" ? undefined : placed.mode;
  return Object.freeze({
    path,
    type,
    version: versionOf(placed) as string,
    ...(mtime === undefined ? {} : { mtime }),
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(placed.type === "file" ? { hash, size: placed.size } : {}),
    ...(placed.type === "symlink" ? { target: placed.target } : {}),
  });
}

/** Returns the functions between paths of a storage and those of the place below a root. */
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
