/**
 * Changes of the names in pinned directories: renames that replace nothing, and entries that are set aside before they
 * are replaced. `node:fs` has no rename that fails if the new name exists (`RENAME_NOREPLACE`).
 */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { backendError } from "../failure.ts";
import { isTempName } from "../walk/temp-name.ts";
import { afterChange, noAside, pathChanged, systemErrorName } from "./errors.node.ts";
import { isSameEntry, isSameState } from "./facts.node.ts";
import type { PinnedEntry } from "./pinned.node.ts";
import { hasName } from "./temp.node.ts";

/** The errors of a hard link that a rename in its place would have, too. */
const ERRORS_OF_RENAME: ReadonlySet<string> = new Set(["EEXIST", "ENOENT", "ENOSPC", "EDQUOT", "EXDEV"]);

/**
 * Keeps a file that is about to be replaced: makes a hard link to it with the name `aside` in the same directory.
 *
 * @throws CONFLICT of `pathChanged` if the file no longer has the state `expected`; UNSUPPORTED_OPERATION of `noAside`
 * if the file cannot have a hard link; the exceptions ENOSPC and EDQUOT of `node:fs`
 */
export function linkAside(entry: PinnedEntry, expected: BigIntStats, aside: string): void {
  const kept = entry.sibling(aside);
  try {
    fs.linkSync(entry.at, kept.at);
  } catch (error) {
    const code = systemErrorName(error);
    if (code === "ENOENT") throw pathChanged(entry.path);
    throw code === "ENOSPC" || code === "EDQUOT" ? error : noAside(entry.path);
  }
  // The link may be to another file, which has replaced the expected one before the link was made.
  let isExpected = false;
  try {
    const linked = kept.facts();
    isExpected = linked !== undefined && isSameState(linked, expected);
  } finally {
    if (!isExpected) removeUnused(kept);
  }
  if (!isExpected) throw pathChanged(entry.path);
}

/** Renames an entry to a hidden name of its directory, and back if it turns out to be another one. */
export function setAside(entry: PinnedEntry, expected: BigIntStats, aside: string): void {
  const kept = entry.sibling(aside);
  moveUnlessExists(entry, kept);
  afterChange(entry.path, () => {
    const facts = kept.facts();
    if (facts !== undefined && isSameState(facts, expected)) return;
    try {
      moveUnlessExists(kept, entry);
    } catch (error) {
      // A newer entry has the name and stays, as if it had replaced the one that was set aside.
      if (systemErrorName(error) !== "EEXIST") throw error;
      fs.unlinkSync(kept.at);
    }
    throw pathChanged(entry.path);
  });
}

/**
 * Renames an entry unless the new name exists. A file is linked and unlinked, because a link never replaces anything.
 * Directories, symbolic links and files without hard links are renamed after a check: an entry that another process
 * creates between the check and the rename can be replaced.
 *
 * @throws the exceptions of `node:fs`, EEXIST if the new name exists
 */
export function moveUnlessExists(from: PinnedEntry, to: PinnedEntry): void {
  const facts = fs.lstatSync(from.at, { bigint: true });
  if (facts.isFile() && linkTo(from, to)) {
    removeOldName(from, to, facts);
    return;
  }
  if (to.facts() !== undefined)
    throw Object.assign(new Error("EEXIST"), { code: "EEXIST", syscall: "rename" });
  fs.renameSync(from.at, to.at);
}

/** Removes a name that a change does not use. A failure is ignored: a sweep removes the name, and hides no earlier error. */
export function removeUnused({ at }: PinnedEntry): void {
  try {
    fs.unlinkSync(at);
  } catch {
    // It may be gone already.
  }
}

/** Makes a hard link. Returns false where the file system has none, or the file may have none. */
function linkTo(from: PinnedEntry, to: PinnedEntry): boolean {
  try {
    fs.linkSync(from.at, to.at);
    return true;
  } catch (error) {
    if (ERRORS_OF_RENAME.has(systemErrorName(error) ?? "")) throw error;
    return false;
  }
}

/**
 * Removes the old name of a file after its new name was linked. If that fails, the new name is removed instead.
 * @throws IO_ERROR with the reason `two_names` if neither can be removed
 */
function removeOldName(from: PinnedEntry, to: PinnedEntry, facts: BigIntStats): void {
  try {
    fs.unlinkSync(from.at);
  } catch (error) {
    try {
      const linked = to.facts();
      if (linked !== undefined && isSameEntry(linked, facts)) fs.unlinkSync(to.at);
    } catch {
      throw backendError("IO_ERROR", to.path, "it has two names now, because neither could be removed", {
        cause: error,
        details: { reason: "two_names" },
      });
    }
    // It says why the file was not moved.
    throw error;
  }
}

/** @throws NOT_EMPTY when a directory holds anything except temporary files */
export function checkEmpty(entry: PinnedEntry): void {
  const inside = entry.pin();
  try {
    if (hasName(inside, (one) => !isTempName(one))) throw backendError("NOT_EMPTY", entry.path);
  } finally {
    inside.close();
  }
}
