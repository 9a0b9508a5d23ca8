/** Decodes the packed results of the addon to the facts and entries of the backend contract. */
import { type Packed, Unpacker } from "../../engine/wire/unpack.ts";
import {
  decodeDirectoryHead,
  decodeListedEntry,
  decodePathStat,
  decodeTreeHead,
  type EntryStat,
} from "../../engine/generated/records.ts";
import type { FsEntry, FsStat } from "../backend.ts";
import { childOf, normalise } from "../paths.ts";
import type { TreePage } from "../entry.ts";
import { STEPS_PER_YIELD_CHECK, type Yielder } from "../../engine/yielder.ts";

/** Returns the facts about a path, frozen. */
export function toFsStat(found: EntryStat, path: string, target: string | null = null): FsStat {
  const { kind: type, size, mtime, ctime, atime, birthtime, mode, nlink, version } = found;
  return Object.freeze({
    path: normalise(path).path,
    type,
    size,
    isDir: type === "dir",
    isFile: type === "file",
    mtime,
    ctime,
    atime,
    ...(birthtime === null ? {} : { birthtime }),
    mode,
    nlink,
    ...(target === null ? {} : { target }),
    version,
    fileId: fileIdOf(version),
  });
}

/** Decodes the facts about a path. If it was not followed, they include the target of a link. */
export function decodePathFacts(packed: Packed, path: string, followed: boolean): FsStat {
  const found = decodePathStat(new Unpacker(packed));
  return toFsStat(found, path, followed ? null : found.target);
}

/** Returns the device and inode of a file, which are the first two fields of its version. */
export function fileIdOf(version: string): string {
  return version.slice(0, version.indexOf(".", version.indexOf(".") + 1));
}

/** One page of the entries of a directory, frozen. `total` counts all entries. */
export interface DirectoryPage {
  readonly entries: readonly FsEntry[];
  readonly total: number;
  readonly more: boolean;
}

/** Decodes the entries of the directory `path`. */
export function decodeListing(packed: Packed, path: string): DirectoryPage {
  const { reader, entries, ...rest } = decodeListingHead(packed);
  for (let i = 0; i < entries.length; i++) entries[i] = decodeEntry(reader, path);
  return { entries: Object.freeze(entries), ...rest };
}

/**
 * Does the same as {@link decodeListing}, but yields to the event loop between the parts of a large directory.
 * @throws CANCELLED
 */
export async function decodeListingYielding(
  packed: Packed,
  path: string,
  yielder: Yielder,
): Promise<DirectoryPage> {
  const { reader, entries, ...rest } = decodeListingHead(packed);
  for (let i = 0; i < entries.length; i++) {
    entries[i] = decodeEntry(reader, path);
    if (i % STEPS_PER_YIELD_CHECK === STEPS_PER_YIELD_CHECK - 1) await yielder.yieldIfDue();
  }
  return { entries: Object.freeze(entries), ...rest };
}

/** Decodes the part before the entries of a directory, and returns an array of the right length for them. */
function decodeListingHead(
  packed: Packed,
): Omit<DirectoryPage, "entries"> & { readonly reader: Unpacker; readonly entries: FsEntry[] } {
  const reader = new Unpacker(packed);
  const { total, more, count } = decodeDirectoryHead(reader);
  return { reader, total, more, entries: new Array<FsEntry>(count) };
}

/** Decodes a page of the tree below the directory `path`. */
export function decodeTreePage(packed: Packed, path: string): TreePage {
  const reader = new Unpacker(packed);
  const { total, count } = decodeTreeHead(reader);
  const entries = Array.from({ length: count }, () => decodeEntry(reader, path));
  return Object.freeze({ entries: Object.freeze(entries), total });
}

/** Decodes an entry whose name is relative to the directory `path`. */
function decodeEntry(reader: Unpacker, path: string): FsEntry {
  const { kind: type, size, mtime, path: below, target } = decodeListedEntry(reader);
  // Assigns the optional fields, because spreading is slow: a listing has thousands of entries.
  const entry: { -readonly [K in keyof FsEntry]: FsEntry[K] } = {
    name: below.slice(below.lastIndexOf("/") + 1),
    path: childOf(path, below),
    type,
    isDir: type === "dir",
    isFile: type === "file",
  };
  if (size !== null) {
    entry.size = size;
    entry.mtime = mtime;
  }
  if (target !== null) entry.target = target;
  return Object.freeze(entry);
}
