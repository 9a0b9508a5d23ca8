/** Making and listing directories by their real paths. */
import type { Dirent } from "node:fs";
import * as fs from "node:fs";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import type { FsEntry, ListOptions, MkdirOptions } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { sortEntries } from "../fallback/fallback.ts";
import { childOf, isLongName, nameOf, parentOf } from "../paths.ts";
import { isTempName } from "../walk/temp-name.ts";
import { systemErrorName } from "./errors.node.ts";
import { millis, typeOf } from "./facts.node.ts";
import { pathOfHostBytes } from "./host-path.node.ts";
import {
  factsIn,
  inParent,
  inParentAsync,
  type PinnedDirectory,
  pinDirectory,
  whileHeld,
} from "./pinned.node.ts";
import { syncDirectory } from "./names.node.ts";
import { isLargeDirectory, isUncertainName, namesFromBytes, sweepSometimes } from "./temp.node.ts";

/** Makes a directory by its real path. */
export async function makeDirectory(
  path: string,
  { parents = true, existOk = true, durability }: MkdirOptions = {},
): Promise<void> {
  const made = parents ? makeParents(path) : [];
  try {
    await inParentAsync(path, async (directory, name) => {
      const found = factsIn(directory, name);
      if (found?.isDirectory() === true && existOk) return;
      if (found !== undefined) throw backendError("ALREADY_EXISTS", path);
      makeIn(directory, name, existOk);
      await sweepSometimes(directory);
      if (durability === "durable") syncDirectory(directory);
    });
    if (durability === "durable") for (const directory of made) inParent(directory, syncDirectory);
  } catch (error) {
    removeMade(made);
    throw error;
  }
}

function makeIn(directory: PinnedDirectory, name: string, existOk: boolean): boolean {
  try {
    fs.mkdirSync(directory.at(name));
    return true;
  } catch (error) {
    if (!(existOk && systemErrorName(error) === "EEXIST")) throw error;
    if (factsIn(directory, name)?.isDirectory() !== true) throw error;
    return false;
  }
}

/** Makes the missing directories above a real path. Returns those that it made, outermost first. */
export function makeParents(path: string): readonly string[] {
  const missing: string[] = [];
  let at = parentOf(path);
  while (at !== "/" && !isDirectory(at)) {
    missing.push(at);
    at = parentOf(at);
  }
  if (missing.length > 0 && [path, ...missing].some((one) => isLongName(nameOf(one))))
    throw backendError("NAME_TOO_LONG", path);
  const made: string[] = [];
  try {
    for (const directory of missing.reverse())
      if (inParent(directory, (parent, name) => makeIn(parent, name, true))) made.push(directory);
  } catch (error) {
    removeMade(made);
    throw error;
  }
  return made;
}

/** Returns whether a directory exists. @throws NOT_DIRECTORY when something else is there */
function isDirectory(path: string): boolean {
  try {
    return inParent(path, (directory, name) => {
      const facts = factsIn(directory, name);
      if (facts !== undefined && !facts.isDirectory()) throw backendError("NOT_DIRECTORY", path);
      return facts !== undefined;
    });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "NOT_FOUND") return false;
    throw error;
  }
}

/** Removes directories that were made for a change which failed. One that has got content stays. */
export function removeMade(made: readonly string[]): void {
  for (const path of made.toReversed()) {
    try {
      inParent(path, (directory, name) => fs.rmdirSync(directory.at(name)));
    } catch {
      return;
    }
  }
}

/** Lists a directory by its real path: directories first, then by code point, without temporary files. */
export async function listDirectory(
  path: string,
  { facts = true, signal }: ListOptions = {},
): Promise<readonly FsEntry[]> {
  checkSignal(signal, path);
  const directory = pinDirectory(path);
  const found: FsEntry[] = [];
  await whileHeld(directory, path, async () => {
    const yielder = new Yielder({ signal });
    let seen = 0;
    for (const entry of await entriesOf(directory, yielder)) {
      if (++seen % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
      const listed = entryOf(directory, entry, facts);
      if (listed !== undefined) found.push(listed);
    }
  });
  return Object.freeze(sortEntries(found));
}

type NamedEntry = Pick<Dirent, "name" | "isFile" | "isDirectory" | "isSymbolicLink" | "isFIFO" | "isSocket"> &
  Pick<Dirent, "isBlockDevice" | "isCharacterDevice">;

async function entriesOf(directory: PinnedDirectory, yielder: Yielder): Promise<readonly NamedEntry[]> {
  const at = directory.at(".");
  const entries = isLargeDirectory(directory)
    ? await fs.promises.readdir(at, { withFileTypes: true })
    : fs.readdirSync(at, { withFileTypes: true });
  if (!entries.some(({ name }) => isUncertainName(name))) return entries;
  // Some names may not be UTF-8: they are read again as bytes. What `lstat` tells of them is what counts.
  return (await namesFromBytes(directory, yielder)).map((name) => ({ name, ...UNKNOWN_TYPE }));
}

const no = (): boolean => false;
const UNKNOWN_TYPE: Omit<NamedEntry, "name"> = {
  isFile: no,
  isDirectory: no,
  isSymbolicLink: no,
  isFIFO: no,
  isSocket: no,
  isBlockDevice: no,
  isCharacterDevice: no,
};

function hasType(entry: NamedEntry): boolean {
  if (entry.isFile() || entry.isDirectory() || entry.isSymbolicLink()) return true;
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice();
}

/** Returns an entry of a listing; undefined for a temporary file and for one that is no longer there. */
function entryOf(directory: PinnedDirectory, entry: NamedEntry, facts: boolean): FsEntry | undefined {
  const { name } = entry;
  if (isTempName(name)) return undefined;
  const stat = facts || !hasType(entry) ? factsOrUndefined(directory, name) : undefined;
  if (stat === null) return undefined;
  const type = typeOf(stat ?? entry);
  const listed: { -readonly [K in keyof FsEntry]: FsEntry[K] } = {
    name,
    path: childOf(directory.path, name),
    type,
    isDir: type === "dir",
    isFile: type === "file",
  };
  if (facts && stat !== undefined) {
    listed.size = Number(stat.size);
    listed.mtime = millis(stat.mtimeNs);
    if (type === "symlink") listed.target = targetOf(directory, name);
  }
  return Object.freeze(listed);
}

/** Returns the facts about an entry; null when it is gone. */
function factsOrUndefined(directory: PinnedDirectory, name: string): fs.BigIntStats | null {
  return factsIn(directory, name) ?? null;
}

/** Returns the target of a link in a held directory, as written. */
export function targetOf(directory: PinnedDirectory, name: string): string {
  return pathOfHostBytes(fs.readlinkSync(directory.at(name), { encoding: "buffer" }));
}
