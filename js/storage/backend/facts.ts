/** Converts entries of a storage to the facts and listings of a backend. */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, LINK_MODE } from "../../backends/entry.ts";
import type { FsEntry, FsStat, WriteResult } from "../../backends/backend.ts";
import { byteLength, nameOf } from "../../backends/paths.ts";
import type { Entry } from "../storage.ts";

const DEFAULT_MODES = {
  file: DEFAULT_FILE_MODE,
  dir: DEFAULT_DIR_MODE,
  symlink: LINK_MODE,
  gone: 0,
} as const;

function sizeOf({ type, size, target }: Entry): number {
  if (type === "symlink") return byteLength(target ?? "");
  return size ?? 0;
}

const kindOf = ({ type }: Entry): FsStat["type"] => (type === "gone" ? "other" : type);

/** Returns the facts about an entry under the path by which it was asked for, frozen. */
export function toFsStat(path: string, entry: Entry): FsStat {
  const time = entry.mtime ?? 0;
  return Object.freeze({
    path,
    type: kindOf(entry),
    size: sizeOf(entry),
    isDir: entry.type === "dir",
    isFile: entry.type === "file",
    mtime: time,
    ctime: time,
    mode: entry.mode ?? DEFAULT_MODES[entry.type],
    nlink: 1,
    ...(entry.target === undefined ? {} : { target: entry.target }),
    ...(entry.type === "file" ? { version: entry.version } : {}),
  });
}

/** Returns an entry of a listing under the path by which its directory was asked for, frozen. */
export function toFsEntry(path: string, entry: Entry): FsEntry {
  return Object.freeze({
    name: nameOf(path),
    path,
    type: kindOf(entry),
    isDir: entry.type === "dir",
    isFile: entry.type === "file",
    size: sizeOf(entry),
    mtime: entry.mtime ?? 0,
    ...(entry.target === undefined ? {} : { target: entry.target }),
  });
}

/** Returns the result of a change of a path; without a version for what is no file. */
export function toWriteResult(entries: readonly Entry[], path: string): WriteResult {
  const entry = entries.find((one) => one.path === path);
  return Object.freeze(entry?.type === "file" ? { version: entry.version } : {});
}
