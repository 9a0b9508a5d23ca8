/** Converts entries in memory, of a backend and of a storage, to the facts and listings that callers see. */
import type { WriteResult } from "../backend.ts";
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, type FsEntry, type FsStat, LINK_MODE } from "../entry.ts";
import { byteLength, childOf } from "../paths.ts";
import type { NodeEntry } from "./nodes.ts";

/** An entry with the facts that callers see. */
export interface DescribedEntry extends NodeEntry {
  readonly version: string;
  readonly size?: number;
  readonly mtime?: number;
}

/** The facts of an entry that a backend in memory knows and a storage does not. */
export interface OwnFacts {
  readonly ctime: number;
  readonly birthtime: number;
  /** The number in {@link FsStat.fileId}. */
  readonly id: number;
}

const DEFAULT_MODES = {
  file: DEFAULT_FILE_MODE,
  dir: DEFAULT_DIR_MODE,
  symlink: LINK_MODE,
  gone: 0,
} as const;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

function sizeOf({ type, size, target }: DescribedEntry): number {
  if (type === "symlink") return byteLength(target ?? "");
  return size ?? 0;
}

const kindOf = ({ type }: NodeEntry): FsStat["type"] => (type === "gone" ? "other" : type);

/** Returns the facts about an entry under the path by which it was asked for, frozen. */
export function toFsStat(path: string, entry: DescribedEntry, own?: OwnFacts): FsStat {
  const { type, mtime = 0, target } = entry;
  const stat: Writable<FsStat> = {
    path,
    type: kindOf(entry),
    size: sizeOf(entry),
    isDir: type === "dir",
    isFile: type === "file",
    mtime,
    ctime: own?.ctime ?? mtime,
    mode: entry.mode ?? DEFAULT_MODES[type],
    nlink: 1,
  };
  if (target !== undefined) stat.target = target;
  if (type === "file") stat.version = entry.version;
  if (own !== undefined) {
    stat.birthtime = own.birthtime;
    stat.fileId = `m${own.id}`;
  }
  return Object.freeze(stat);
}

/** Returns an entry in the listing of a directory, under the path by which that was asked for; frozen. */
export function toFsEntry(directory: string, name: string, entry: DescribedEntry): FsEntry {
  const { type, mtime = 0, target } = entry;
  const listed: Writable<FsEntry> = {
    name,
    path: childOf(directory, name),
    type: kindOf(entry),
    isDir: type === "dir",
    isFile: type === "file",
    size: sizeOf(entry),
    mtime,
  };
  if (target !== undefined) listed.target = target;
  return Object.freeze(listed);
}

/** Returns the result of a change that left this entry, frozen; without a version for what is no file. */
export function toWriteResult(entry: DescribedEntry | undefined, own?: OwnFacts): WriteResult {
  const made: Writable<WriteResult> = {};
  if (entry?.type === "file") made.version = entry.version;
  if (own !== undefined) made.fileId = `m${own.id}`;
  return Object.freeze(made);
}
