/** Making and listing directories by their real paths. */
import * as fs from "node:fs";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../../engine/yielder.ts";
import type { EntryType, FsEntry, ListOptions, MkdirOptions } from "../backend.ts";
import { backendError, checkSignal } from "../failure.ts";
import { sortEntries } from "../fallback/fallback.ts";
import { isLongName, nameOf, parentOf } from "../paths.ts";
import { isTempName } from "../walk/temp-name.ts";
import { systemErrorName } from "./errors.node.ts";
import { millis, typeOf } from "./facts.node.ts";
import { pathOfHostBytes } from "./host-path.node.ts";
import { atEntry, type PinnedEntry, pinDirectory, whileHeld } from "./pinned.node.ts";
import { entriesOf, settle, syncDirectory } from "./temp.node.ts";

/** Makes a directory by its real path. */
export async function makeDirectory(
  path: string,
  { parents = true, existOk = true, durability }: MkdirOptions = {},
): Promise<void> {
  const made = parents ? await makeParents(path) : [];
  await orRemove(made, async () => {
    await atEntry(path, async (entry) => {
      const found = entry.facts();
      if (found?.isDirectory() === true && existOk) return;
      if (found !== undefined) throw backendError("ALREADY_EXISTS", path);
      makeAt(entry, existOk);
      await settle(entry.directory, durability);
    });
    if (durability === "durable")
      for (const directory of made) await atEntry(directory, (entry) => syncDirectory(entry.directory));
  });
}

/** Makes a directory. Returns false where another process has made it meanwhile, and it may exist. */
function makeAt(entry: PinnedEntry, existOk: boolean): boolean {
  try {
    fs.mkdirSync(entry.at);
    return true;
  } catch (error) {
    if (!existOk || systemErrorName(error) !== "EEXIST" || entry.facts()?.isDirectory() !== true) throw error;
    return false;
  }
}

/** Makes the missing directories above a real path. Returns those that it made, outermost first. */
export async function makeParents(path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/" && !(await isDirectory(at)); at = parentOf(at))
    missing.unshift(at);
  if (missing.length > 0 && [path, ...missing].some((one) => isLongName(nameOf(one))))
    throw backendError("NAME_TOO_LONG", path);
  const made: string[] = [];
  await orRemove(made, async () => {
    for (const directory of missing)
      if (await atEntry(directory, (entry) => makeAt(entry, true))) made.push(directory);
  });
  return made;
}

/** Returns whether a directory exists. @throws NOT_DIRECTORY when something else is there */
async function isDirectory(path: string): Promise<boolean> {
  try {
    return await atEntry(path, (entry) => {
      const facts = entry.facts();
      if (facts !== undefined && !facts.isDirectory()) throw backendError("NOT_DIRECTORY", path);
      return facts !== undefined;
    });
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === "NOT_FOUND") return false;
    throw error;
  }
}

/** Runs a change for which directories were made, and removes them if it fails. One that has got content stays. */
export async function orRemove<T>(made: readonly string[], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    for (const path of made.toReversed())
      await atEntry(path, (entry) => fs.rmdirSync(entry.at)).catch(() => undefined);
    throw error;
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
    for (const { name, type } of await entriesOf(directory, yielder)) {
      if (++seen % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
      const listed = entryOf(directory.entry(name), type, facts);
      if (listed !== undefined) found.push(listed);
    }
  });
  return Object.freeze(sortEntries(found));
}

/** Returns an entry of a listing; undefined for a temporary file and for one that is no longer there. */
function entryOf(entry: PinnedEntry, known: EntryType | undefined, facts: boolean): FsEntry | undefined {
  const { name, path } = entry;
  if (isTempName(name)) return undefined;
  const isAsked = facts || known === undefined;
  const stat = isAsked ? entry.facts() : undefined;
  if (isAsked && stat === undefined) return undefined;
  const type = stat === undefined ? (known as EntryType) : typeOf(stat);
  const listed: { -readonly [K in keyof FsEntry]: FsEntry[K] } = {
    name,
    path,
    type,
    isDir: type === "dir",
    isFile: type === "file",
  };
  if (facts && stat !== undefined) {
    listed.size = Number(stat.size);
    listed.mtime = millis(stat.mtimeNs);
    if (type === "symlink") listed.target = targetOf(entry);
  }
  return Object.freeze(listed);
}

/** Returns the target of a link in a held directory, as written. */
export function targetOf(entry: PinnedEntry): string {
  return pathOfHostBytes(fs.readlinkSync(entry.at, { encoding: "buffer" }));
}
