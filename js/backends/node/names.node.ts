/**
 * Changes of the names in pinned directories: renames that replace nothing, and hard links that keep a file which is
 * about to be replaced. `node:fs` has no rename that fails if the new name exists (`RENAME_NOREPLACE`).
 */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { constants } from "node:fs";
import { noAside, pathChanged, systemErrorName } from "./errors.node.ts";
import { isSameEntry, isSameState } from "./facts.node.ts";
import { factsIn, type PinnedDirectory } from "./pinned.node.ts";

/**
 * Keeps a file that is about to be replaced: makes a hard link to it with the name `aside` in the same directory.
 *
 * @throws CONFLICT of `pathChanged` if the file no longer has the state `expected`; UNSUPPORTED_OPERATION of `noAside`
 * if the file cannot have a hard link; the exceptions ENOSPC and EDQUOT of `node:fs`
 */
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
  // The link may be to another file, which has replaced the expected one before the link was made.
  const linked = factsIn(directory, aside);
  if (linked !== undefined && isSameState(linked, expected)) return;
  fs.unlinkSync(directory.at(aside));
  throw pathChanged(path);
}

/**
 * Renames an entry unless the new name exists. A file is linked and unlinked, because a link never replaces anything.
 * Directories, symbolic links and files without hard links are renamed after a check: an entry that another process
 * creates between the check and the rename can be replaced.
 *
 * @throws the exceptions of `node:fs`, EEXIST if the new name exists
 */
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
      // Any other error means that the file system has no hard links, or that this file may have none.
      // The file is then renamed below.
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

/** Removes the old name of a file after its new name was linked. If that fails, the new name is removed instead. */
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
      // The error of the first removal is thrown, because it says why the file was not moved.
    }
    throw error;
  }
}

/** Flushes the names of a directory to the disk. Does nothing if the directory cannot be opened for reading. */
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
    // Windows and some file systems cannot flush a directory, and answer with one of these errors.
    if (!["EPERM", "EINVAL", "EISDIR", "EBADF"].includes(systemErrorName(error) ?? "")) throw error;
  } finally {
    fs.closeSync(fd);
  }
}
