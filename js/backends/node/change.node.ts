/** Changes of names and of attributes by real paths: removing, linking, permission bits. */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { Yielder } from "../../engine/yielder.ts";
import type { DeleteOptions, TreeCounts } from "../backend.ts";
import type { RemoveTreeOptions } from "../call-options.ts";
import { backendError, checkMode, checkSignal } from "../failure.ts";
import { checkTarget } from "../paths.ts";
import { isTempName } from "../walk/temp-name.ts";
import { notRegular, osError, pathChanged, systemErrorName, versionConflict } from "./errors.node.ts";
import { isSameEntry, isSameState } from "./facts.node.ts";
import { hostLinkTarget } from "./host-path.node.ts";
import {
  factsIn,
  inParent,
  inParentAsync,
  flagsForChmod,
  type PinnedDirectory,
  pinBelow,
} from "./pinned.node.ts";
import { moveUnlessExists, syncDirectory } from "./names.node.ts";
import { hasName, isAsideName, namesIn, removeEntry, sweepDirectory, sweepSometimes } from "./temp.node.ts";
import { asideName, hasVersion } from "./write.node.ts";

/** Removes a file, a link or an empty directory. With `aside` it is renamed instead. */
export function deleteEntry(
  path: string,
  { ifVersion, aside: given, durability }: DeleteOptions = {},
): Promise<void> {
  const aside = asideName(path, given);
  return inParentAsync(path, async (directory, name) => {
    const facts = existingEntry(path, directory, name);
    await checkEntryVersion(path, directory, name, facts, ifVersion);
    const now = factsIn(directory, name);
    if (now === undefined || !isSameEntry(now, facts)) throw pathChanged(path);
    if (ifVersion !== undefined && !isSameState(now, facts)) throw pathChanged(path);
    directory.verify();
    if (aside !== undefined) {
      if (facts.isDirectory()) checkEmpty(path, directory, name);
      setAside(path, directory, name, facts, aside);
    } else if (facts.isDirectory()) await removeEmptyDirectory(path, directory, name, facts);
    else unlinkEntry(path, directory, name);
    await sweepSometimes(directory);
    if (durability === "durable") syncDirectory(directory);
  });
}

/** Returns the facts about an entry that is removed or moved. @throws NOT_FOUND, PROTECTED_PATH for the root */
export function existingEntry(path: string, directory: PinnedDirectory, name: string): BigIntStats {
  if (name === ".") throw backendError("PROTECTED_PATH", path, "a root cannot be moved, replaced or deleted");
  const facts = factsIn(directory, name);
  if (facts === undefined) throw backendError("NOT_FOUND", path);
  return facts;
}

/** @throws CONFLICT unless an entry has the expected version */
export async function checkEntryVersion(
  path: string,
  directory: PinnedDirectory,
  name: string,
  facts: BigIntStats,
  version: string | undefined,
): Promise<void> {
  if (version !== undefined && !(await hasVersion(path, directory, name, facts, version)))
    throw versionConflict(path, "it has changed since it was looked at");
}

function unlinkEntry(path: string, directory: PinnedDirectory, name: string): void {
  try {
    fs.unlinkSync(directory.at(name));
  } catch (error) {
    // A directory has taken the name: Linux says EISDIR, other systems EPERM.
    if (factsIn(directory, name)?.isDirectory() === true) throw pathChanged(path);
    throw error;
  }
}

async function removeEmptyDirectory(
  path: string,
  directory: PinnedDirectory,
  name: string,
  facts: BigIntStats,
): Promise<void> {
  for (let again = true; ; again = false) {
    try {
      fs.rmdirSync(directory.at(name));
      return;
    } catch (error) {
      const code = systemErrorName(error);
      if (code === "ENOTDIR") throw pathChanged(path);
      if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
      // Stale temporary files, which listings hide, must not keep a directory from being deleted.
      if (!again || (await sweepBelow(directory, name)) === 0) throw backendError("NOT_EMPTY", path);
      const now = factsIn(directory, name);
      if (now === undefined || !isSameEntry(now, facts)) throw pathChanged(path);
      directory.verify();
    }
  }
}

async function sweepBelow(directory: PinnedDirectory, name: string): Promise<number> {
  const inside = pinBelow(directory, name);
  try {
    return await sweepDirectory(inside);
  } finally {
    inside.close();
  }
}

/** @throws NOT_EMPTY when a directory holds anything except temporary files */
export function checkEmpty(path: string, directory: PinnedDirectory, name: string): void {
  const inside = pinBelow(directory, name);
  try {
    if (hasName(inside, (one) => !isTempName(one))) throw backendError("NOT_EMPTY", path);
  } finally {
    inside.close();
  }
}

/** Renames an entry to a hidden name of its directory, and back if it turns out to be another one. */
export function setAside(
  path: string,
  directory: PinnedDirectory,
  name: string,
  expected: BigIntStats,
  aside: string,
): void {
  moveUnlessExists(directory, name, directory, aside);
  const kept = factsIn(directory, aside);
  if (kept !== undefined && isSameState(kept, expected)) return;
  try {
    moveUnlessExists(directory, aside, directory, name);
  } catch (error) {
    // A newer entry has the name and stays, as if it had replaced the one that was set aside.
    if (systemErrorName(error) !== "EEXIST") throw error;
    fs.unlinkSync(directory.at(aside));
  }
  throw pathChanged(path);
}

/** Removes a directory with everything below it, or a file or link. Links are not followed. */
export function removeWhole(
  path: string,
  { aside: given, signal, durability }: RemoveTreeOptions = {},
): Promise<TreeCounts> {
  checkSignal(signal, path);
  const aside = asideName(path, given);
  return inParentAsync(path, async (directory, name) => {
    const facts = existingEntry(path, directory, name);
    const counts = { files: 0, directories: 0, bytes: 0 };
    // What was set aside is removed whatever its permission bits, because the change that did it is final.
    if (aside === undefined && isAsideName(name)) await removeEntry(directory, name, new Yielder({}));
    else {
      await emptyAndCount(path, directory, name, facts, aside === undefined, counts, new Yielder({ signal }));
      if (aside !== undefined) setAside(path, directory, name, facts, aside);
      await sweepSometimes(directory);
      if (durability === "durable") syncDirectory(directory);
    }
    return Object.freeze(counts);
  });
}

/** Counts an entry and what is below it; with `remove` it removes them, contents before their directories. */
async function emptyAndCount(
  path: string,
  directory: PinnedDirectory,
  name: string,
  facts: BigIntStats,
  remove: boolean,
  counts: { files: number; directories: number; bytes: number },
  yielder: Yielder,
): Promise<void> {
  await yielder.yieldIfDue();
  if (facts.isDirectory()) {
    const inside = pinBelow(directory, name);
    try {
      for (const below of await namesIn(inside, yielder)) {
        if (isTempName(below)) {
          if (remove) await removeEntry(inside, below, yielder);
          continue;
        }
        const found = factsIn(inside, below);
        if (found !== undefined) await emptyAndCount(path, inside, below, found, remove, counts, yielder);
      }
    } catch (error) {
      throw osError(error, path);
    } finally {
      inside.close();
    }
    if (remove) fs.rmdirSync(directory.at(name));
    counts.directories++;
    return;
  }
  if (remove) unlinkEntry(path, directory, name);
  counts.files++;
  if (facts.isFile()) counts.bytes += Number(facts.size);
}

/** Makes a symbolic link at a real path. */
export function makeLink(target: string, path: string): void {
  checkTarget(target, path);
  inParent(path, (directory, name) => {
    if (name === "." || factsIn(directory, name) !== undefined) throw backendError("ALREADY_EXISTS", path);
    fs.symlinkSync(hostLinkTarget(target), directory.at(name));
  });
}

/** Sets the permission bits of the entry at a real path. */
export function setModeOf(path: string, mode: number): void {
  checkMode(path, mode);
  inParent(path, (directory, name) => {
    const found = factsIn(directory, name);
    if (found === undefined) throw backendError("NOT_FOUND", path);
    if (found.isSymbolicLink()) throw pathChanged(path);
    if (!found.isFile() && !found.isDirectory()) throw notRegular(path);
    const { flags, through } = flagsForChmod();
    const fd = fs.openSync(directory.at(name), flags);
    try {
      if (!isSameEntry(fs.fstatSync(fd, { bigint: true }), found)) throw pathChanged(path);
      if (through === undefined) fs.fchmodSync(fd, mode & 0o777);
      else fs.chmodSync(through(fd), mode & 0o777);
    } finally {
      fs.closeSync(fd);
    }
  });
}

/** Removes the temporary files of ended processes from a directory. A missing directory is fine. */
export async function sweepPath(path: string): Promise<void> {
  try {
    await inParentAsync(`${path === "/" ? "" : path}/.`, (directory) => sweepDirectory(directory));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "NOT_FOUND") throw error;
  }
}
