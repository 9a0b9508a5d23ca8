/**
 * Writes files completely or not at all: to a temporary file in the same directory, which one rename moves into
 * place, as `crates/fs/src/write` does.
 *
 * Between the last comparison of a condition and the rename no other call of this process runs, because nothing
 * waits there. Another process can change the file in that moment: Node has no exchange of two names. Processes of
 * Filewright hold the lock of the path.
 */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { constants } from "node:fs";
import type { Durability, WriteResult } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { nameOf } from "../paths.ts";
import {
  noAside,
  notRegular,
  osError,
  pathChanged,
  systemErrorName,
  versionConflict,
} from "./errors.node.ts";
import { fileIdOf, parseVersion, versionOf } from "./facts.node.ts";
import { rewriteInPlace, type WriteContent } from "./in-place.node.ts";
import { linkAside, moveUnlessExists, syncDirectory } from "./names.node.ts";
import { factsIn, inParentAsync, openFileIn, type PinnedDirectory } from "./pinned.node.ts";
import { hashOfFile } from "./read.node.ts";
import { isOwnAsideName, newTempName, sweepSometimes } from "./temp.node.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;

/** The content of a write and its conditions. */
export interface FileWrite {
  readonly content: WriteContent;
  readonly ifVersion?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
  readonly mode?: number | undefined;
  readonly durability: Durability;
  readonly aside?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the facts about the replaced file, to refuse the change. */
  readonly checkOld?: ((old: BigIntStats) => void) | undefined;
}

/** Creates or replaces the file at a real path, whose parent exists. */
export function writeFile(path: string, change: FileWrite): Promise<WriteResult> {
  checkSignal(change.signal, path);
  const aside = asideName(path, change.aside);
  return inParentAsync(path, async (directory, name) => {
    const old = factsIn(directory, name);
    await checkTarget(path, directory, name, old, change);
    const result = await replaceFile(path, directory, name, old, { ...change, aside });
    if (change.durability === "durable") syncDirectory(directory);
    await sweepSometimes(directory);
    return result;
  });
}

/** Returns the name of an aside path. @throws INVALID_ARGUMENT for one that was not given out */
export function asideName(path: string, aside: string | undefined): string | undefined {
  if (aside === undefined) return undefined;
  const name = nameOf(aside);
  if (isOwnAsideName(name)) return name;
  throw backendError("INVALID_ARGUMENT", path, "the name was not given out for setting aside");
}

/** Refuses a change whose conditions do not hold, or whose target is no file that may be written. */
async function checkTarget(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats | undefined,
  { ifVersion, ifAbsent, checkOld, signal }: FileWrite,
): Promise<void> {
  if (name === ".") throw backendError(ifAbsent === true ? "ALREADY_EXISTS" : "IS_DIRECTORY", path);
  if (old === undefined) {
    if (ifVersion !== undefined) throw versionConflict(path, "the file is gone");
    return;
  }
  if (ifAbsent === true) throw backendError("ALREADY_EXISTS", path);
  if (old.isDirectory()) throw backendError("IS_DIRECTORY", path);
  if (old.isSymbolicLink()) throw pathChanged(path);
  if (!old.isFile()) throw notRegular(path);
  checkOld?.(old);
  checkWritableEntry(path, directory, name, old);
  if (ifVersion !== undefined && !(await hasVersion(path, directory, name, old, ifVersion, signal)))
    throw versionConflict(path);
}

/** Refuses a file that this process may not write, because a rename would replace it all the same. */
export function checkWritableEntry(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats,
): void {
  if ((old.mode & 0o222n) === 0n)
    throw backendError("PERMISSION_DENIED", path, "the file is write-protected: it has no write permission", {
      hint: "change its mode first",
    });
  try {
    fs.accessSync(directory.at(name), constants.W_OK);
  } catch (error) {
    const code = systemErrorName(error);
    // The write itself reports any other error.
    if (code === "EACCES" || code === "EPERM" || code === "EROFS") throw osError(error, path);
  }
}

/** Returns true when an entry has a version: its facts are the same, or its content has the hash of the version. */
export async function hasVersion(
  path: string,
  directory: PinnedDirectory,
  name: string,
  facts: BigIntStats,
  version: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const given = parseVersion(version);
  if (given === undefined) return false;
  if (given.facts === versionOf(facts)) return true;
  if (given.hash === undefined || given.size !== facts.size || !facts.isFile()) return false;
  const file = openFileIn(directory, name);
  try {
    return (await hashOfFile(file, path, signal)) === given.hash;
  } finally {
    fs.closeSync(file.fd);
  }
}

/** Fills a temporary file and moves it into place. After a failure the temporary file is removed. */
async function replaceFile(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats | undefined,
  change: FileWrite & { readonly aside: string | undefined },
): Promise<WriteResult> {
  const temp = newTempName();
  let fd: number;
  try {
    // The umask of the process decides the mode of a new file.
    const mode = old !== undefined || change.mode !== undefined ? 0o600 : 0o666;
    fd = fs.openSync(directory.at(temp), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  } catch (error) {
    if (old !== undefined && isRefusal(error)) return rewrite(path, directory, name, old, change);
    throw error;
  }
  let placed = false;
  try {
    await change.content(fd);
    if (old !== undefined && !keepsOwner(fd, old)) return await rewrite(path, directory, name, old, change);
    const mode = change.mode ?? (old === undefined ? undefined : Number(old.mode & 0o7777n));
    if (mode !== undefined) setMode(fd, mode);
    if (change.durability === "durable") await sync(fd);
    checkSignal(change.signal, path);
    if (!moveIntoPlace(path, directory, [temp, fd], name, old, change))
      return await rewrite(path, directory, name, old as BigIntStats, change);
    placed = true;
    return writeResultOf(fs.fstatSync(fd, { bigint: true }), old === undefined ? 0 : Number(old.nlink) - 1);
  } finally {
    fs.closeSync(fd);
    if (!placed) fs.rmSync(directory.at(temp), { force: true });
  }
}

/**
 * Moves a complete temporary file to its name, if the name is still as it was. Returns false when only rewriting in
 * place is possible.
 */
function moveIntoPlace(
  path: string,
  directory: PinnedDirectory,
  [temp, fd]: readonly [string, number],
  name: string,
  old: BigIntStats | undefined,
  { ifVersion, ifAbsent, aside, mode, durability }: FileWrite,
): boolean {
  directory.verify();
  if (old === undefined) {
    try {
      moveUnlessExists(directory, temp, directory, name);
    } catch (error) {
      if (systemErrorName(error) !== "EEXIST") throw error;
      throw ifAbsent === true ? backendError("ALREADY_EXISTS", path) : pathChanged(path);
    }
    return true;
  }
  const now = factsIn(directory, name);
  if (now === undefined || !now.isFile()) throw pathChanged(path);
  if (ifVersion !== undefined && versionOf(now) !== versionOf(old)) throw pathChanged(path);
  // Another program has changed the owner while the content was written: the call is made again with that one.
  if (now.uid !== old.uid || now.gid !== old.gid) throw pathChanged(path);
  if (mode === undefined && now.mode !== old.mode) {
    // Another program has changed the mode while the content was written.
    setMode(fd, Number(now.mode & 0o7777n));
    if (durability === "durable") fs.fsyncSync(fd);
  }
  if (aside !== undefined) linkAside(path, directory, name, now, aside);
  try {
    fs.renameSync(directory.at(temp), directory.at(name));
    return true;
  } catch (error) {
    if (aside !== undefined) fs.rmSync(directory.at(aside), { force: true });
    // The directory is sticky, or the file is a mount point.
    if (aside === undefined && (isRefusal(error) || systemErrorName(error) === "EBUSY")) return false;
    throw error;
  }
}

function rewrite(
  path: string,
  directory: PinnedDirectory,
  name: string,
  old: BigIntStats,
  change: FileWrite,
): Promise<WriteResult> {
  if (change.aside !== undefined) throw noAside(path);
  return rewriteInPlace(path, directory, name, old, {
    content: change.content,
    finish: async (fd) => {
      if (change.mode !== undefined) setMode(fd, change.mode);
      if (change.durability === "durable") await sync(fd);
    },
    setsMode: change.mode !== undefined,
  });
}

function isRefusal(error: unknown): boolean {
  const code = systemErrorName(error);
  return code === "EACCES" || code === "EPERM";
}

/** Gives a new file the owner of the old one. Returns false when this process may not. */
function keepsOwner(fd: number, old: BigIntStats): boolean {
  const now = fs.fstatSync(fd, { bigint: true });
  if (now.uid === old.uid && now.gid === old.gid) return true;
  try {
    fs.fchownSync(fd, Number(old.uid), Number(old.gid));
    return true;
  } catch {
    return false;
  }
}

/**
 * Sets permission bits and the sticky bit. Set-user-id and set-group-id are dropped, because new content must not
 * run with the privileges of the old.
 */
function setMode(fd: number, mode: number): void {
  try {
    fs.fchmodSync(fd, mode & 0o1777);
  } catch (error) {
    // These are the errors of file systems without permission bits.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(systemErrorName(error) ?? "")) throw error;
  }
}

/** Waits until a file is on the disk. */
function sync(fd: number): Promise<void> {
  return new Promise((resolve, reject) =>
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error))),
  );
}

/** Returns the result of a write for the facts about the written file. */
export function writeResultOf(facts: BigIntStats, otherNames = 0, inPlace = false): WriteResult {
  return Object.freeze({
    version: versionOf(facts),
    fileId: fileIdOf(facts),
    ...(inPlace ? { inPlace } : {}),
    ...(otherNames > 0 ? { otherNames } : {}),
  });
}
