/** Moves, copies and removals entry by entry. Links are never followed and never descended into. */
import type { Files } from "../files.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { transact } from "../transaction/transaction.ts";
import type { CopyTreeOptions, FsEntry, TreeCounts, WriteResult } from "../backend.ts";
import { checkSignal, checkWritable, backendError } from "../failure.ts";
import { assertVersion, entryPath, lstatOrNull } from "./fallback.ts";
import { childOf, parentOf, relativeTo } from "../paths.ts";
import { relationOf } from "./same-entry.ts";
import { walkTree } from "./walk-tree.ts";

/** Options of a move or copy. */
export interface TransferOptions extends CopyTreeOptions {
  /** A move or copy fails with CONFLICT unless the file or link that is its source still has this version. */
  readonly ifVersion?: string | undefined;
}

/** Removes a tree entry by entry, and returns the counts of removed entries. */
export async function removeEntries(
  backend: Files,
  path: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TreeCounts> {
  const top = await backend.lstat(path);
  const counts = { files: 0, directories: 0, bytes: 0 };
  const directories: string[] = [];
  if (top.type === "dir") {
    directories.push(path);
    for await (const entry of walkTree(backend, path, options.signal)) {
      if (entry.type === "dir") {
        directories.push(entry.path);
        continue;
      }
      counts.files++;
      if (entry.type === "file") counts.bytes += entry.size ?? (await backend.lstat(entry.path)).size;
      await backend.delete(entry.path);
    }
  } else {
    counts.files++;
    if (top.type === "file") counts.bytes += top.size;
    await backend.delete(path);
  }
  for (const directory of directories.reverse()) await backend.delete(directory);
  counts.directories = directories.length;
  return Object.freeze(counts);
}

/** Copies one regular file by its content, with its mode where there are modes. */
export async function copyContent(
  backend: Files,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<WriteResult> {
  const overwrite = options.overwrite ?? false;
  await assertVersion(backend, from, options.ifVersion);
  const source = await backend.read(from, { signal: options.signal });
  if (source === null) return {};
  if (overwrite && (await backend.realpath(to)) === (await backend.realpath(from)))
    throw backendError("SAME_FILE", to);
  const written = await backend.writeBytes(to, source.bytes, {
    ifAbsent: !overwrite,
    mode: source.stat.mode,
    signal: options.signal,
  });
  const { mode } = source.stat;
  if (mode === undefined || !backend.abilities.modes || !(await hasOtherMode(backend, to, mode)))
    return written;
  await backend.chmod(to, mode);
  return {}; // Its version may have changed with the mode.
}

/** Returns true where an entry has permission bits, and others than these. Not every mount of one tree has them. */
export async function hasOtherMode(backend: Files, path: string, mode: number): Promise<boolean> {
  const there = (await backend.lstat(path)).mode;
  return there !== undefined && ((there ^ mode) & 0o7777) !== 0;
}

/** Copies a file, if `ifVersion` is given, or a tree, as {@link copyTree}. Returns the counts of copied entries. */
export async function copyEntry(
  backend: Files,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<TreeCounts> {
  const { ifVersion, ...rest } = options;
  if (ifVersion === undefined) return backend.copyTree(from, to, rest);
  const { size } = await backend.stat(from);
  await backend.copyFile(from, to, { overwrite: options.overwrite ?? false, ifVersion });
  return Object.freeze({ files: 1, directories: 0, bytes: size });
}

/**
 * Copies a file or a tree entry by entry and returns the counts of copied entries. Links stay links where there can be
 * links. Links that may not be created again, FIFOs, sockets and devices are skipped. A new destination that cannot be
 * completed is removed again.
 */
export async function copyTree(
  backend: Files,
  from: string,
  to: string,
  options: CopyTreeOptions = {},
): Promise<TreeCounts> {
  const top = await backend.lstat(from);
  const target = await lstatOrNull(backend, to);
  if (target === null && !(await backend.stat(parentOf(to))).isDir) throw backendError("NOT_DIRECTORY", to);
  const source = await entryPath(backend, from);
  const place = await entryPath(backend, to);
  const relation = await relationOf(backend, { path: source, stat: top }, { path: place, stat: target });
  const isSame = relation === "same" || (relation === "respelled" && top.type === "dir");
  if (isSame && (top.type !== "file" || options.overwrite === true)) throw backendError("SAME_FILE", to);
  if (target !== null && options.overwrite !== true) throw backendError("ALREADY_EXISTS", to);
  if (relation === "inside")
    throw backendError("INVALID_ARGUMENT", to, "a directory cannot be copied into itself");
  // Checks before the first write, so that an obstacle to the merge is reported before anything changes.
  if (top.type === "dir" && target !== null) {
    if (target.type !== "dir") throw backendError("NOT_DIRECTORY", to);
    await assertMergeable(backend, from, to, options.signal);
  }
  // A failed copy removes the entries it created, but none that another process created.
  return transact(backend, async (fs) => {
    const copy: RunningCopy = { fs, options, counts: { files: 0, directories: 0, bytes: 0 }, modes: [] };
    await copyOne(copy, top, to);
    if (top.type === "dir") {
      for await (const entry of walkTree(backend, from, options.signal)) {
        const place = to + entry.path.slice(from.length);
        // An existing link is replaced; following it would write somewhere else.
        const mayBeLink = target !== null && entry.type === "file";
        if (mayBeLink && (await lstatOrNull(fs, place))?.type === "symlink") await fs.delete(place);
        await copyOne(copy, entry, place);
      }
    }
    // Sets the modes after the content is written, innermost first, because a directory may be
    // read-only.
    for (const [path, mode] of copy.modes.toReversed()) await fs.chmod(path, mode);
    return Object.freeze(copy.counts);
  });
}

/** Refuses to merge a directory into another if an existing entry is in the way. */
async function assertMergeable(
  backend: Files,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  // Only directories that are on both sides can hold entries that are in the way of each other.
  const shared = new Set<string>();
  const isShared = (entry: FsEntry): boolean => shared.has(entry.path);
  for await (const entry of walkTree(backend, from, signal, isShared)) {
    const path = childOf(to, relativeTo(entry.path, from) as string);
    const there = await lstatOrNull(backend, path);
    if (there === null || entry.type === "other") continue;
    if (entry.type !== "dir") {
      if (there.type === "dir") throw backendError("IS_DIRECTORY", path);
      checkWritable(there, path);
    } else if (there.type !== "dir") throw backendError("NOT_DIRECTORY", path);
    else shared.add(entry.path);
  }
}

/** A copy of a tree in progress, with the entries that were copied. */
interface RunningCopy {
  readonly fs: Files;
  readonly options: CopyTreeOptions;
  readonly counts: { files: number; directories: number; bytes: number };
  /** The modes to set once the content of their directories is written. */
  readonly modes: (readonly [path: string, mode: number])[];
}

async function copyOne(
  { fs, options, counts, modes }: RunningCopy,
  entry: Pick<FsEntry, "path" | "type">,
  to: string,
): Promise<void> {
  const { overwrite = false, signal } = options;
  checkSignal(signal, entry.path);
  if (entry.type === "other") return;
  if (entry.type === "dir") {
    // A directory that existed before the merge keeps its mode.
    const isNew = !overwrite || (await lstatOrNull(fs, to)) === null;
    await fs.mkdir(to, { parents: false, existOk: overwrite });
    const mode = isNew ? (await fs.lstat(entry.path)).mode : undefined;
    if (mode !== undefined && (await hasOtherMode(fs, to, mode))) modes.push([to, mode]);
    counts.directories++;
    return;
  }
  if (entry.type === "symlink") {
    if (await copyLink(fs, entry.path, to)) counts.files++;
    return;
  }
  const made = await fs.copyFile(entry.path, to, { overwrite, signal });
  options.onMade?.(to, made);
  counts.files++;
  // The destination can be a link to the file that was written.
  counts.bytes += (await fs.stat(to)).size;
}

async function copyLink(backend: Files, from: string, to: string): Promise<boolean> {
  if (!backend.abilities.links) return false;
  const target = await backend.readLink(from);
  const there = await lstatOrNull(backend, to);
  if (there?.type === "dir") throw backendError("IS_DIRECTORY", to);
  checkWritable(there, to);
  try {
    // The replaced entry is restored when the backend refuses the link.
    await transact(backend, async (fs) => {
      if (there !== null) await fs.delete(to);
      await fs.symlink(target, to);
    });
    return true;
  } catch (error) {
    // A confined backend refuses links that lead outside its roots.
    if (error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") return false;
    throw error;
  }
}

/** Moves a file or a tree. Where that is not possible in one step, it is copied and then removed. */
export async function moveEntry(
  backend: Files,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<WriteResult> {
  const overwrite = options.overwrite ?? false;
  if (backend.abilities.moves) {
    try {
      return await backend.rename(from, to, { overwrite, ifVersion: options.ifVersion });
    } catch (error) {
      // As between two devices.
      if (!(error instanceof FilewrightError && error.code === "UNSUPPORTED_OPERATION")) throw error;
    }
  }
  await assertVersion(backend, from, options.ifVersion);
  const source = await backend.lstat(from);
  const target = await lstatOrNull(backend, to);
  if (target !== null && !overwrite) throw backendError("ALREADY_EXISTS", to);
  const place = await entryPath(backend, from);
  const destination = await entryPath(backend, to);
  const relation = await relationOf(
    backend,
    { path: place, stat: source },
    { path: destination, stat: target },
  );
  if (relation === "same" || relation === "respelled") throw backendError("SAME_FILE", to);
  if (relation === "inside")
    throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
  if (source.type === "dir" && target !== null && !target.isDir) throw backendError("NOT_DIRECTORY", to);
  if (source.type !== "dir" && target?.type === "dir") throw backendError("IS_DIRECTORY", to);
  await transact(backend, async (fs) => {
    // Only an empty directory is replaced; deleting a full one fails with NOT_EMPTY. A link is
    // deleted first because the copy would write through it.
    if (target?.type === "dir" || target?.type === "symlink") await fs.delete(to);
    const { signal } = options;
    if (source.type === "file") {
      await fs.copyFile(from, to, { overwrite, signal });
      await fs.delete(from, { ifVersion: source.version });
    } else {
      await fs.copyTree(from, to, { overwrite, signal });
      await fs.removeTree(from, { signal });
    }
  });
  return {};
}
