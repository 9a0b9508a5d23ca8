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
import type { WriteResult } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { nameOf } from "../paths.ts";
import { notRegular, osError, pathChanged, systemErrorName, versionConflict } from "./errors.node.ts";
import { parseVersion, versionOf } from "./facts.node.ts";
import { closeWritten, flush, type NewContent, rewriteInPlace, setMode } from "./in-place.node.ts";
import { linkAside, moveUnlessExists, removeUnused } from "./names.node.ts";
import { atEntry, closeQuietly, openFileIn, type PinnedEntry } from "./pinned.node.ts";
import { hashOfFile } from "./read.node.ts";
import { isOwnAsideName, newTempName, settle } from "./temp.node.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;

/** The content of a write and its conditions. */
export interface FileWrite extends NewContent {
  readonly ifVersion?: string | undefined;
  readonly ifAbsent?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called with the facts about the replaced file, to refuse the change. */
  readonly checkOld?: ((old: BigIntStats) => void) | undefined;
}

/** Creates or replaces the file at a real path, whose parent exists. */
export function writeFile(path: string, given: FileWrite): Promise<WriteResult> {
  checkSignal(given.signal, path);
  const change = { ...given, aside: asideName(path, given.aside) };
  return atEntry(path, async (entry) => {
    const old = entry.facts();
    if (entry.isTop) throw backendError(change.ifAbsent === true ? "ALREADY_EXISTS" : "IS_DIRECTORY", path);
    if (old !== undefined) await checkReplaced(entry, old, change);
    else if (change.ifVersion !== undefined) throw versionConflict(path, "the file is gone");
    const result = await replaceFile(entry, old, change);
    await settle(entry.directory, change.durability);
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
async function checkReplaced(
  entry: PinnedEntry,
  old: BigIntStats,
  { ifVersion, ifAbsent, checkOld, signal }: FileWrite,
): Promise<void> {
  const { path } = entry;
  if (ifAbsent === true) throw backendError("ALREADY_EXISTS", path);
  if (old.isDirectory()) throw backendError("IS_DIRECTORY", path);
  if (old.isSymbolicLink()) throw pathChanged(path);
  if (!old.isFile()) throw notRegular(path);
  checkOld?.(old);
  checkWritableEntry(entry, old);
  if (ifVersion !== undefined && !(await hasVersion(entry, old, ifVersion, signal)))
    throw versionConflict(path);
}

/** Refuses a file that this process may not write, because a rename would replace it all the same. */
export function checkWritableEntry(entry: PinnedEntry, old: BigIntStats): void {
  const { path } = entry;
  if ((old.mode & 0o222n) === 0n)
    throw backendError("PERMISSION_DENIED", path, "the file is write-protected: it has no write permission", {
      hint: "change its mode first",
    });
  try {
    fs.accessSync(entry.at, constants.W_OK);
  } catch (error) {
    // The write itself reports any other error.
    if (isRefusal(error) || systemErrorName(error) === "EROFS") throw osError(error, path);
  }
}

/** @throws CONFLICT unless an entry has the expected version */
export async function checkEntryVersion(
  entry: PinnedEntry,
  facts: BigIntStats,
  version: string | undefined,
): Promise<void> {
  if (version !== undefined && !(await hasVersion(entry, facts, version, undefined)))
    throw versionConflict(entry.path, "it has changed since it was looked at");
}

/** Returns true when an entry has a version: its facts are the same, or its content has the hash of the version. */
async function hasVersion(
  entry: PinnedEntry,
  facts: BigIntStats,
  version: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const given = parseVersion(version);
  if (given === undefined) return false;
  if (given.facts === versionOf(facts)) return true;
  if (given.hash === undefined || given.size !== facts.size || !facts.isFile()) return false;
  const file = openFileIn(entry);
  try {
    return (await hashOfFile(file, entry.path, signal)) === given.hash;
  } finally {
    closeQuietly(file.fd);
  }
}

/** Fills a temporary file and moves it into place. After a failure the temporary file is removed. */
async function replaceFile(
  entry: PinnedEntry,
  old: BigIntStats | undefined,
  change: FileWrite,
): Promise<WriteResult> {
  const temp = entry.sibling(newTempName());
  let fd: number;
  try {
    // The umask of the process decides the mode of a new file.
    const bits = old !== undefined || change.mode !== undefined ? 0o600 : 0o666;
    fd = fs.openSync(temp.at, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, bits);
  } catch (error) {
    if (old !== undefined && isRefusal(error)) return rewriteInPlace(entry, old, change);
    throw error;
  }
  let isPlaced = false;
  try {
    isPlaced = await fillAndPlace(temp, fd, entry, { old, change });
  } finally {
    if (!isPlaced) {
      closeQuietly(fd);
      removeUnused(temp);
    }
  }
  if (old === undefined) return closeWritten(entry.path, fd, {});
  if (!isPlaced) return rewriteInPlace(entry, old, change);
  return closeWritten(entry.path, fd, { otherNames: Number(old.nlink) - 1 });
}

/** Fills a temporary file and moves it into place. Returns false where the old file can only be rewritten in place. */
async function fillAndPlace(
  temp: PinnedEntry,
  fd: number,
  entry: PinnedEntry,
  { old, change }: { readonly old: BigIntStats | undefined; readonly change: FileWrite },
): Promise<boolean> {
  await change.content(fd);
  if (old === undefined) {
    await complete(entry, fd, change.mode, change);
    placeNew(temp, entry, change);
    return true;
  }
  if (!keepsOwner(fd, old)) return false;
  await complete(entry, fd, change.mode ?? Number(old.mode & 0o7777n), change);
  return placeOver(temp, entry, keepState(entry, fd, old, change), change.aside);
}

/** Gives a file with its content the rest. Nothing waits afterwards until it is in place. */
async function complete(
  { directory, path }: PinnedEntry,
  fd: number,
  mode: number | undefined,
  { durability, signal }: FileWrite,
): Promise<void> {
  if (mode !== undefined) setMode(fd, mode);
  if (durability === "durable") await flush(fd);
  checkSignal(signal, path);
  directory.verify();
}

/** Moves a complete file to a name that is still free. */
function placeNew(temp: PinnedEntry, entry: PinnedEntry, { ifAbsent }: FileWrite): void {
  try {
    moveUnlessExists(temp, entry);
  } catch (error) {
    if (systemErrorName(error) !== "EEXIST") throw error;
    throw ifAbsent === true ? backendError("ALREADY_EXISTS", entry.path) : pathChanged(entry.path);
  }
}

/** Compares the replaced file with its earlier facts, and gives the new one a mode that was set meanwhile. */
function keepState(entry: PinnedEntry, fd: number, old: BigIntStats, change: FileWrite): BigIntStats {
  const now = entry.facts();
  const isSame =
    now?.isFile() === true &&
    (change.ifVersion === undefined || versionOf(now) === versionOf(old)) &&
    // With another owner the call is made again.
    now.uid === old.uid &&
    now.gid === old.gid;
  if (!isSame) throw pathChanged(entry.path);
  if (change.mode === undefined && now.mode !== old.mode) {
    setMode(fd, Number(now.mode & 0o7777n));
    if (change.durability === "durable") fs.fsyncSync(fd);
  }
  return now;
}

/** Moves a complete file over the old one. Returns false where only rewriting in place is possible. */
function placeOver(
  temp: PinnedEntry,
  entry: PinnedEntry,
  now: BigIntStats,
  aside: string | undefined,
): boolean {
  if (aside !== undefined) linkAside(entry, now, aside);
  try {
    fs.renameSync(temp.at, entry.at);
    return true;
  } catch (error) {
    if (aside !== undefined) removeUnused(entry.sibling(aside));
    // The directory is sticky, or the file is a mount point.
    if (aside === undefined && (isRefusal(error) || systemErrorName(error) === "EBUSY")) return false;
    throw error;
  }
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
