/** How names of a held directory change: without replacing anything, and with a second name for the old file. */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { constants } from "node:fs";
import { noAside, pathChanged, systemErrorName } from "./errors.node.ts";
import { isSameEntry, isSameState } from "./facts.node.ts";
import { factsIn, type PinnedDirectory } from "./pinned.node.ts";

/** Gives a file that is about to be replaced a second name, under which it survives. */
export function linkAside(
  path: string,
  directory: PinnedDirectory,
  name: string,
  expected: BigIntStats,
  aside: string,
): void {
  try {
    fs.linkSync(directory.at(name), directory.at(aside));
  } catch (error) {
    const code = systemErrorName(error);
    if (code === "ENOENT") throw pathChanged(path);
    throw code === "ENOSPC" || code === "EDQUOT" ? error : noAside(path);
  }
  const kept = factsIn(directory, aside);
  if (kept !== undefined && isSameState(kept, expected)) return;
  fs.unlinkSync(directory.at(aside));
  throw pathChanged(path);
}

/** Renames an entry unless the new name exists. @throws the exception EEXIST of `node:fs` */
export function moveUnlessExists(
  from: PinnedDirectory,
  name: string,
  to: PinnedDirectory,
  newName: string,
): void {
  const facts = fs.lstatSync(from.at(name), { bigint: true });
  if (facts.isFile()) {
    let linked = false;
    try {
      fs.linkSync(from.at(name), to.at(newName));
      linked = true;
    } catch (error) {
      const code = systemErrorName(error);
      // Other errors mean that the file system has no hard links, or that this file may have none.
      if (
        code === "EEXIST" ||
        code === "ENOENT" ||
        code === "ENOSPC" ||
        code === "EDQUOT" ||
        code === "EXDEV"
      )
        throw error;
    }
    if (linked) {
      removeOldName(from, name, to, newName, facts);
      return;
    }
  }
  if (factsIn(to, newName) !== undefined)
    throw Object.assign(new Error("EEXIST"), { code: "EEXIST", syscall: "rename" });
  fs.renameSync(from.at(name), to.at(newName));
}

/** Removes the old name of a file that has a new one. If that fails, the new name is removed again. */
function removeOldName(
  from: PinnedDirectory,
  name: string,
  to: PinnedDirectory,
  newName: string,
  facts: BigIntStats,
): void {
  try {
    fs.unlinkSync(from.at(name));
  } catch (error) {
    try {
      const linked = factsIn(to, newName);
      if (linked !== undefined && isSameEntry(linked, facts)) fs.unlinkSync(to.at(newName));
    } catch {
      // The first error is the one that tells why the file was not moved.
    }
    throw error;
  }
}

/** Waits until the names of a directory are on the disk, where it may be read. */
export function syncDirectory(directory: PinnedDirectory): void {
  let fd: number;
  try {
    fd = fs.openSync(directory.at("."), constants.O_RDONLY);
  } catch {
    return;
  }
  try {
    fs.fsyncSync(fd);
  } catch (error) {
    // Windows does not flush directories.
    if (!["EPERM", "EINVAL", "EISDIR", "EBADF"].includes(systemErrorName(error) ?? "")) throw error;
  } finally {
    fs.closeSync(fd);
  }
}
