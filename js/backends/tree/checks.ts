/**
 * The conditions of a change of files: whether what stands at its paths allows it. The tree in memory asks them, and with
 * it overlays, the files of a host or a driver, and a backend over a storage, each of its own entries. Errors name the
 * paths as the caller typed them.
 */
import type { MoveOptions, WriteOptions } from "../backend.ts";
import type { EntryType } from "../entry.ts";
import { backendError, checkWritable } from "../failure.ts";
import { isWithin } from "../paths.ts";

/** The place of a path, and the entry there. */
export interface Standing {
  /** The real path. */
  readonly path: string;
  /** The entry; undefined where nothing stands. */
  readonly entry: StandingEntry | undefined;
  /** True when the directory exists in which the entry stands, or would stand. */
  readonly hasParent: boolean;
}

/** The facts of an entry on which a change depends. */
export interface StandingEntry {
  readonly type: EntryType | "gone";
  readonly version: string;
  readonly mode?: number | undefined;
}

/** The two paths of a move or copy as the caller typed them. */
interface TypedPaths {
  readonly from: string;
  readonly to: string;
}

/** @throws CONFLICT when a version is expected and something else stands there */
function checkVersion({ entry }: Standing, wanted: string | undefined, path: string): void {
  if (wanted === undefined) return;
  // A link has a version, too, on a disk.
  if ((entry?.version ?? "") !== wanted) throw backendError("CONFLICT", path);
}

function checkFile({ entry }: Standing, path: string): void {
  if (entry?.type === "dir") throw backendError("IS_DIRECTORY", path);
  if (entry?.type === "other") throw backendError("NOT_REGULAR_FILE", path);
}

/** @throws NOT_FOUND when the directory of a new entry does not exist */
export function checkParent({ hasParent }: Standing, path: string): void {
  if (!hasParent) throw backendError("NOT_FOUND", path, "the parent directory does not exist");
}

/**
 * Checks a write. `at` is the place with links followed.
 * @throws IS_DIRECTORY, NOT_REGULAR_FILE, CONFLICT, PERMISSION_DENIED, NOT_FOUND
 */
export function checkWrite(at: Standing, { ifVersion, createDirs }: WriteOptions, path: string): void {
  checkFile(at, path);
  checkVersion(at, ifVersion, path);
  checkReadOnly(at.entry, path);
  if (createDirs !== true) checkParent(at, path);
}

/** Checks the removal of something that stands at a place. @throws CONFLICT, PROTECTED_PATH */
export function checkRemoval(at: Standing, ifVersion: string | undefined, path: string): void {
  checkVersion(at, ifVersion, path);
  if (at.path === "/") throw backendError("PROTECTED_PATH", path, "the root cannot be moved or removed");
}

/** Checks that a link can be made. @throws ALREADY_EXISTS, NOT_FOUND */
export function checkNew(at: Standing, path: string): void {
  if (at.entry !== undefined) throw backendError("ALREADY_EXISTS", path);
  checkParent(at, path);
}

/**
 * Checks a move of what stands at `source`; no link is followed. A target that is a directory must be empty, too.
 * @throws CONFLICT, PROTECTED_PATH, NOT_FOUND, ALREADY_EXISTS, SAME_FILE, INVALID_ARGUMENT, NOT_DIRECTORY, IS_DIRECTORY,
 * PERMISSION_DENIED
 */
export function checkMove(
  { source, target }: { readonly source: Standing; readonly target: Standing },
  { ifVersion, ifTargetVersion, overwrite }: MoveOptions,
  { from, to }: TypedPaths,
): void {
  checkRemoval(source, ifVersion, from);
  checkVersion(target, ifTargetVersion, to);
  checkParent(target, to);
  checkReplaced(target, overwrite, to);
  checkApart(source, target, to);
  if (target.entry === undefined) return;
  const [isDirectory, wasDirectory] = [source.entry?.type === "dir", target.entry.type === "dir"];
  if (isDirectory && !wasDirectory) throw backendError("NOT_DIRECTORY", to);
  if (!isDirectory && wasDirectory) throw backendError("IS_DIRECTORY", to);
  checkReadOnly(target.entry, to);
}

/** Checks that a tree is not put in the place of itself or into itself. @throws SAME_FILE, INVALID_ARGUMENT */
export function checkApart(source: Standing, target: Standing, to: string): void {
  if (target.path === source.path) throw backendError("SAME_FILE", to);
  if (isWithin(target.path, source.path))
    throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved or copied into itself");
}

/** Checks the source of a copied file, with links followed. @throws IS_DIRECTORY, NOT_REGULAR_FILE, CONFLICT */
export function checkCopied(source: Standing, ifVersion: string | undefined, from: string): void {
  checkFile(source, from);
  checkVersion(source, ifVersion, from);
}

/** Checks that something may be replaced, or that nothing stands there. @throws ALREADY_EXISTS */
export function checkReplaced({ entry }: Standing, overwrite: boolean | undefined, to: string): void {
  if (entry !== undefined && overwrite !== true) throw backendError("ALREADY_EXISTS", to);
}

/**
 * Checks the target of a copied file, with links followed.
 * @throws SAME_FILE, IS_DIRECTORY, PERMISSION_DENIED, NOT_FOUND
 */
export function checkCopyTarget(source: Standing, target: Standing, to: string): void {
  if (target.path === source.path) throw backendError("SAME_FILE", to);
  checkWrite(target, {}, to);
}

/** @throws PERMISSION_DENIED for a file without any write permission */
export function checkReadOnly(entry: StandingEntry | undefined, path: string): void {
  const { type, mode } = entry ?? {};
  if (type === "file" && mode !== undefined) checkWritable({ type, mode }, path);
}
