/**
 * Operations on whole trees for backends that lack them: rename, copy and remove. Links are never
 * followed and never descended into.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { transact } from "../transaction/transaction.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  TreeCounts,
  WriteResult,
} from "../backend.ts";
import { checkSignal, checkWritable, backendError } from "../failure.ts";
import {
  chmodVia,
  entryPathVia,
  lstatOrNull,
  lstatVia,
  readVersioned,
  realpathVia,
  writeVia,
} from "./fallback.ts";
import { childOf, parentOf, relativeTo } from "../paths.ts";
import { relationOf } from "./same-entry.ts";
import { walkTree } from "./walk-tree.ts";

/** Options of a move or copy. */
export interface TransferOptions extends CopyTreeOptions {
  /** A move or copy fails with CONFLICT unless the file or link that is its source still has this version. */
  readonly ifVersion?: string | undefined;
}

/**
 * Removes a file, a link or an empty directory, if the preconditions of `options` hold. For a backend that does
 * not check them they are checked here first, so the caller must hold the lock of the path.
 */
export async function deleteVia(
  backend: FsBackend,
  path: string,
  options: DeleteOptions = {},
): Promise<void> {
  await checkVersion(backend, path, options.ifVersion);
  await backend.delete(path, options);
}

/** @throws CONFLICT unless a file or link still has the expected version */
async function checkVersion(backend: FsBackend, path: string, wanted: string | undefined): Promise<void> {
  if (wanted === undefined) return;
  const stat = await lstatOrNull(backend, path);
  // A backend without versions is compared by content.
  const now =
    stat?.version ?? (stat?.isFile === true ? (await readVersioned(backend, path))?.version : undefined);
  if (now !== wanted) throw backendError("CONFLICT", path);
}

/** Removes a tree and returns the counts of removed entries. */
export async function removeTreeVia(
  backend: FsBackend,
  path: string,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<TreeCounts> {
  if (backend.removeTree !== undefined) return backend.removeTree(path, options);
  const top = await lstatVia(backend, path);
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
      if (entry.type === "file") counts.bytes += entry.size ?? (await lstatVia(backend, entry.path)).size;
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

/** Copies one regular file, with its mode on backends that have modes. */
export async function copyFileVia(
  backend: FsBackend,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<WriteResult> {
  const overwrite = options.overwrite ?? false;
  await checkVersion(backend, from, options.ifVersion);
  if (backend.copyFile !== undefined)
    return (await backend.copyFile(from, to, { overwrite, ifVersion: options.ifVersion })) ?? {};
  const source = await readVersioned(backend, from, { signal: options.signal });
  if (source === null) return {};
  if (overwrite && (await realpathVia(backend, to)) === (await realpathVia(backend, from)))
    throw backendError("SAME_FILE", to);
  const written = await writeVia(backend, to, source.bytes, {
    ifAbsent: !overwrite,
    mode: source.stat.mode,
    signal: options.signal,
  });
  if (source.stat.mode !== undefined && backend.chmod !== undefined) {
    await chmodVia(backend, to, source.stat.mode);
    return {}; // Its version may have changed with the mode.
  }
  return written;
}

/**
 * Copies a file or a tree and returns the counts of copied entries. Links stay links where the
 * backend has links. Links that may not be created again, FIFOs, sockets and devices are skipped.
 * A new destination that cannot be completed is removed again. `ifVersion` applies to a file.
 */
export async function copyTreeVia(
  backend: FsBackend,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<TreeCounts> {
  if (options.ifVersion !== undefined) {
    const { size } = await backend.stat(from);
    await copyFileVia(backend, from, to, options);
    return Object.freeze({ files: 1, directories: 0, bytes: size });
  }
  if (backend.copyTree !== undefined) return backend.copyTree(from, to, options);
  return copyTree(backend, from, to, options);
}

/** Does the same as {@link copyTreeVia}, but entry by entry, even if the backend has its own `copyTree`. */
export async function copyTree(
  backend: FsBackend,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<TreeCounts> {
  const top = await lstatVia(backend, from);
  const target = await lstatOrNull(backend, to);
  if (target === null && !(await backend.stat(parentOf(to))).isDir) throw backendError("NOT_DIRECTORY", to);
  const source = await entryPathVia(backend, from);
  const place = await entryPathVia(backend, to);
  const relation = await relationOf(backend, { path: source, stat: top }, { path: place, stat: target });
  const isSame = relation === "same" || (relation === "respelled" && top.type === "dir");
  if (isSame && (top.type !== "file" || options.overwrite === true)) throw backendError("SAME_FILE", to);
  if (target !== null && options.overwrite !== true) throw backendError("ALREADY_EXISTS", to);
  if (relation === "inside")
    throw backendError("INVALID_ARGUMENT", to, "a directory cannot be copied into itself");
  // Checks before the first write, so that an obstacle to the merge is reported before anything changes.
  if (top.type === "dir" && target !== null) await assertMergeable(backend, from, to, target, options.signal);
  // A failed copy removes the entries it created, but none that another process created.
  return transact(backend, async (fs) => {
    const counts = { files: 0, directories: 0, bytes: 0 };
    const modes: [path: string, mode: number][] = [];
    await copyEntry(fs, top, to, options, counts, modes, false);
    if (top.type === "dir") {
      for await (const entry of walkTree(backend, from, options.signal)) {
        const place = to + entry.path.slice(from.length);
        await copyEntry(fs, entry, place, options, counts, modes, target !== null);
      }
    }
    // Sets the modes after the content is written, innermost first, because a directory may be
    // read-only.
    for (const [path, mode] of modes.toReversed()) await fs.chmod?.(path, mode);
    return Object.freeze(counts);
  });
}

/** Refuses to merge a tree into another if an existing entry is in the way. */
async function assertMergeable(
  backend: FsBackend,
  from: string,
  to: string,
  target: FsStat,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (target.type !== "dir") throw backendError("NOT_DIRECTORY", to);
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

async function copyEntry(
  backend: FsBackend,
  entry: Pick<FsEntry, "path" | "type">,
  to: string,
  options: TransferOptions,
  counts: { files: number; directories: number; bytes: number },
  modes: [path: string, mode: number][],
  nested: boolean,
): Promise<void> {
  checkSignal(options.signal, entry.path);
  if (entry.type === "other") return;
  if (entry.type === "dir") {
    // A directory that existed before the merge keeps its mode.
    const isNew = options.overwrite !== true || (await lstatOrNull(backend, to)) === null;
    await backend.mkdir(to, { parents: false, existOk: options.overwrite ?? false });
    const mode = isNew ? (await lstatVia(backend, entry.path)).mode : undefined;
    if (mode !== undefined && mode !== (await lstatVia(backend, to)).mode) modes.push([to, mode]);
    counts.directories++;
    return;
  }
  if (entry.type === "symlink") {
    if (await copyLink(backend, entry.path, to)) counts.files++;
    return;
  }
  // Inside a tree an existing link is replaced; following it would write somewhere else.
  if (nested && (await lstatOrNull(backend, to))?.type === "symlink") await backend.delete(to);
  const made = await copyFileVia(backend, entry.path, to, options);
  options.onMade?.(to, made);
  counts.files++;
  // The destination can be a link to the file that was written.
  counts.bytes += (await backend.stat(to)).size;
}

async function copyLink(backend: FsBackend, from: string, to: string): Promise<boolean> {
  if (backend.readLink === undefined || backend.symlink === undefined) return false;
  const target = await backend.readLink(from);
  const there = await lstatOrNull(backend, to);
  if (there?.type === "dir") throw backendError("IS_DIRECTORY", to);
  checkWritable(there, to);
  try {
    // The replaced entry is restored when the backend refuses the link.
    await transact(backend, async (fs) => {
      if (there !== null) await fs.delete(to);
      await fs.symlink?.(target, to);
    });
    return true;
  } catch (error) {
    // A confined backend refuses links that lead outside its roots.
    if (error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED") return false;
    throw error;
  }
}

/** Moves a file or a tree. Where the backend cannot rename it, it is copied and then removed. */
export async function renameVia(
  backend: FsBackend,
  from: string,
  to: string,
  options: TransferOptions = {},
): Promise<WriteResult> {
  const overwrite = options.overwrite ?? false;
  await checkVersion(backend, from, options.ifVersion);
  if (backend.rename !== undefined) {
    try {
      return (await backend.rename(from, to, { overwrite, ifVersion: options.ifVersion })) ?? {};
    } catch (error) {
      // A backend reports UNSUPPORTED_OPERATION for two paths it cannot rename between, such as on two
      // devices.
      if (!(error instanceof FilewrightError && error.code === "UNSUPPORTED_OPERATION")) throw error;
    }
  }
  const source = await lstatVia(backend, from);
  const target = await lstatOrNull(backend, to);
  if (target !== null && !overwrite) throw backendError("ALREADY_EXISTS", to);
  const place = await entryPathVia(backend, from);
  const destination = await entryPathVia(backend, to);
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
    await copyTreeVia(fs, from, to, { overwrite, signal: options.signal });
    await removeTreeVia(fs, from, { signal: options.signal });
  });
  return {};
}
