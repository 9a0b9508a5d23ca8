/** Decodes what `crates/node/src/root.rs` encodes. */
import { type Packed, type Unpacker, unpack } from "../../engine/wire/unpack.ts";
import type { EntryType, FsEntry, FsStat } from "../backend.ts";
import { childOf, normalise } from "../paths.ts";
import type { TreePage } from "../tree-page.ts";
import { ENTRIES_PER_CHECK, type Yielder } from "../../engine/yielder.ts";

const ENTRY_TYPES: readonly EntryType[] = ["file", "dir", "symlink", "other"];

/** Decodes the facts about a path, frozen; `target` follows them when `withTarget` is set. */
export function statOf(packed: Unpacker, path: string, withTarget = false): FsStat {
  const type = ENTRY_TYPES[packed.num()] as EntryType;
  const size = packed.num();
  const mode = packed.num();
  const nlink = packed.num();
  const mtime = packed.num();
  const ctime = packed.num();
  const atime = packed.num();
  const birthtime = packed.num();
  const version = packed.str();
  const target = withTarget ? packed.optStr() : null;
  return Object.freeze({
    path: normalise(path).path,
    type,
    size,
    isDir: type === "dir",
    isFile: type === "file",
    mtime,
    ctime,
    atime,
    ...(Number.isNaN(birthtime) ? {} : { birthtime }),
    mode,
    nlink,
    ...(target === null ? {} : { target }),
    version,
    fileId: fileIdOf(version),
  });
}

/** Returns device and inode: the first two fields of a version. */
export function fileIdOf(version: string): string {
  return version.slice(0, version.indexOf(".", version.indexOf(".") + 1));
}

/** One page of the entries of a directory, frozen, with the total count. */
export interface DirectoryPage {
  readonly entries: readonly FsEntry[];
  readonly total: number;
  readonly more: boolean;
}

/** Decodes the entries of the directory `path`. */
export function listingOf(packed: Packed, path: string): DirectoryPage {
  const { reader, entries, ...rest } = listingHead(packed);
  for (let i = 0; i < entries.length; i++) entries[i] = entryOf(reader, path);
  return { entries: Object.freeze(entries), ...rest };
}

/** The same as {@link listingOf}; a large directory is decoded in slices. @throws CANCELLED */
export async function listingYielding(
  packed: Packed,
  path: string,
  yielder: Yielder,
): Promise<DirectoryPage> {
  const { reader, entries, ...rest } = listingHead(packed);
  for (let i = 0; i < entries.length; i++) {
    entries[i] = entryOf(reader, path);
    if (i % ENTRIES_PER_CHECK === ENTRIES_PER_CHECK - 1) await yielder.yieldIfDue();
  }
  return { entries: Object.freeze(entries), ...rest };
}

/** Decodes what comes before the entries of a directory, and makes room for them. */
function listingHead(
  packed: Packed,
): Omit<DirectoryPage, "entries"> & { readonly reader: Unpacker; readonly entries: FsEntry[] } {
  const reader = unpack(packed);
  const total = reader.num();
  const more = reader.flag();
  return { reader, total, more, entries: new Array<FsEntry>(reader.num()) };
}

/** Decodes a page of the tree below the directory `path`. */
export function treePageOf(packed: Packed, path: string): TreePage {
  const reader = unpack(packed);
  const total = reader.num();
  const entries = Array.from({ length: reader.num() }, () => entryOf(reader, path));
  return Object.freeze({ entries: Object.freeze(entries), total });
}

/** Decodes an entry whose name is relative to the directory `path`. */
function entryOf(reader: Unpacker, path: string): FsEntry {
  const type = ENTRY_TYPES[reader.num()] as EntryType;
  const size = reader.opt();
  const mtime = reader.num();
  const below = reader.str();
  const target = reader.optStr();
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
