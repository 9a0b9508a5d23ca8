/** Changes of names and of attributes by real paths: removing, linking, permission bits. */
import type { BigIntStats } from "node:fs";
import * as fs from "node:fs";
import { Yielder } from "../../engine/yielder.ts";
import type { DeleteOptions, TreeCounts } from "../backend.ts";
import type { RemoveTreeOptions } from "../call-options.ts";
import { backendError, checkMode, checkSignal } from "../failure.ts";
import { checkTarget } from "../paths.ts";
import { notRegular, pathChanged, systemErrorName } from "./errors.node.ts";
import { hostLinkTarget } from "./host-path.node.ts";
import { checkEmpty, setAside } from "./names.node.ts";
import { atEntry, type PinnedEntry, setPermissions } from "./pinned.node.ts";
import { isAsideName, removeWithContent, settle, sweepDirectory, unlinkEntry } from "./temp.node.ts";
import { asideName, checkEntryVersion } from "./write.node.ts";

/** Removes a file, a link or an empty directory. With `aside` it is renamed instead. */
export function deleteEntry(
  path: string,
  { ifVersion, aside: given, durability }: DeleteOptions = {},
): Promise<void> {
  const aside = asideName(path, given);
  return atEntry(path, async (entry) => {
    const facts = entry.existing();
    await checkEntryVersion(entry, facts, ifVersion);
    entry.still(facts, ifVersion !== undefined);
    entry.directory.verify();
    if (aside !== undefined) {
      if (facts.isDirectory()) checkEmpty(entry);
      setAside(entry, facts, aside);
    } else if (facts.isDirectory()) await removeEmptyDirectory(entry, facts);
    else unlinkEntry(entry);
    await settle(entry.directory, durability);
  });
}

async function removeEmptyDirectory(entry: PinnedEntry, facts: BigIntStats): Promise<void> {
  if (removesEmpty(entry)) return;
  // Stale temporary files, which listings hide, must not keep a directory from being deleted.
  const inside = entry.pin();
  const swept = await sweepDirectory(inside).finally(() => inside.close());
  entry.still(facts);
  entry.directory.verify();
  if (swept === 0 || !removesEmpty(entry)) throw backendError("NOT_EMPTY", entry.path);
}

/** Removes a directory. Returns false for one that has content. */
function removesEmpty(entry: PinnedEntry): boolean {
  try {
    fs.rmdirSync(entry.at);
    return true;
  } catch (error) {
    const code = systemErrorName(error);
    if (code === "ENOTDIR") throw pathChanged(entry.path);
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
    return false;
  }
}

/** Removes a directory with everything below it, or a file or link. Links are not followed. */
export function removeWhole(
  path: string,
  { aside: given, signal, durability }: RemoveTreeOptions = {},
): Promise<TreeCounts> {
  checkSignal(signal, path);
  const aside = asideName(path, given);
  return atEntry(path, async (entry) => {
    const facts = entry.existing();
    const counts = { files: 0, directories: 0, bytes: 0 };
    // What was set aside is removed whatever its permission bits, because the change that did it is final.
    const how = aside !== undefined ? "count" : isAsideName(entry.name) ? "force" : "remove";
    await removeWithContent(entry, facts, { how, counts, yielder: new Yielder({ signal }) });
    if (aside !== undefined) setAside(entry, facts, aside);
    await settle(entry.directory, durability);
    return Object.freeze(counts);
  });
}

/** Makes a symbolic link at a real path. */
export async function makeLink(target: string, path: string): Promise<void> {
  checkTarget(target, path);
  await atEntry(path, (entry) => {
    if (entry.isTop || entry.facts() !== undefined) throw backendError("ALREADY_EXISTS", path);
    fs.symlinkSync(hostLinkTarget(target), entry.at);
  });
}

/** Sets the permission bits of the entry at a real path. */
export async function setModeOf(path: string, mode: number): Promise<void> {
  checkMode(path, mode);
  await atEntry(path, (entry) => {
    const found = entry.facts();
    if (found === undefined) throw backendError("NOT_FOUND", path);
    if (found.isSymbolicLink()) throw pathChanged(path);
    if (!found.isFile() && !found.isDirectory()) throw notRegular(path);
    setPermissions(entry, found, mode & 0o777);
  });
}

/** Removes the temporary files of ended processes from a directory. A missing directory is fine. */
export async function sweepPath(path: string): Promise<void> {
  try {
    await atEntry(`${path === "/" ? "" : path}/.`, ({ directory }) => sweepDirectory(directory));
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== "NOT_FOUND") throw error;
  }
}
