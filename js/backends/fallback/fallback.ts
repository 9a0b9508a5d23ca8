/**
 * Fallbacks for the optional capabilities a backend lacks, so that tools need not ask which ones
 * it has. A backend with nothing but the eleven methods serves every tool.
 *
 * A backend that offers `read` is assumed to honour the preconditions of `WriteOptions`; for any
 * other they are checked here first. That is a check followed by a write, so the caller holds the
 * lock of the path.
 */
import { engine } from "../../engine/current.ts";
import type { FilewrightError } from "../../engine/errors.ts";
import type {
  FsBackend,
  FsEntry,
  FsStat,
  ReadOptions,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { backendError, checkRange, checkSignal, isMissing, tooLargeError } from "../failure.ts";
import { childOf, compareCodePoints, nameOf, parentOf } from "../paths.ts";

/**
 * Returns content with its version: that of the backend, or else the hash of the whole content. Null when the
 * version is still `ifNoneMatch`.
 */
export async function readVersioned(
  backend: FsBackend,
  path: string,
  request: ReadOptions = {},
): Promise<VersionedBytes | null> {
  if (backend.read !== undefined) return backend.read(path, request);
  checkSignal(request.signal, path);
  // Reads `stat` before the content: a change in between makes the version too old, which is a conflict
  // later, and never too new.
  const stat = await backend.stat(path);
  if (stat.isDir) throw backendError("IS_DIRECTORY", path);
  assertSize(stat.size, request, path);
  const whole = await backend.readBytes(path);
  const version = stat.version ?? engine().sha256(whole);
  if (request.ifNoneMatch === version) return null;
  const { range } = request;
  checkRange(range, path);
  const bytes = range === undefined ? whole : whole.slice(range.start, range.end);
  assertSize(bytes.length, request, path, true);
  return Object.freeze({ bytes, version, stat });
}

/** Returns the `sha256:` hash of a file's content, which some backends know without a read. */
export async function hashVia(backend: FsBackend, path: string, signal?: AbortSignal): Promise<string> {
  if (backend.hash !== undefined) return (await backend.hash(path, { signal })).hash;
  const content = await readVersioned(backend, path, { signal });
  return engine().sha256((content as VersionedBytes).bytes);
}

/** Refuses a content of more than `maxBytes`. Before the read, a size is refused only if no range reduces it. */
function assertSize(size: number, request: ReadOptions, path: string, cut = false): void {
  const { maxBytes, range } = request;
  if (maxBytes === undefined || size <= maxBytes || (range !== undefined && !cut)) return;
  throw tooLargeError(path, size, maxBytes);
}

/** Writes a file under the preconditions of `options`, on any backend. */
export async function writeVia(
  backend: FsBackend,
  path: string,
  content: Uint8Array,
  options: WriteOptions = {},
): Promise<WriteResult> {
  if (backend.read !== undefined) return backend.writeBytes(path, content, options);
  checkSignal(options.signal, path);
  // Passes `createDirs` on: on a backend where directories are only prefixes, the parents still do not
  // exist.
  const { ifVersion, ifAbsent, ...rest } = options;
  const there = await lstatOrNull(backend, path);
  if (ifAbsent === true && there !== null) throw backendError("ALREADY_EXISTS", path);
  if (there?.isDir) throw backendError("IS_DIRECTORY", path);
  if (ifVersion !== undefined) {
    const now = there === null ? null : await readVersioned(backend, path);
    if (now?.version !== ifVersion) throw backendError("CONFLICT", path);
  }
  const made = there === null ? await ensureParent(backend, path, options.createDirs === true) : [];
  try {
    await backend.writeBytes(path, content, rest);
  } catch (error) {
    // Only directories that were created for this write are removed. One that another process has filled
    // meanwhile stays.
    for (const directory of made) await Promise.resolve(backend.delete(directory)).catch(() => undefined);
    throw error;
  }
  const version = (await backend.stat(path)).version ?? engine().sha256(content);
  return Object.freeze({ version });
}

/** Creates or checks the parent of a new path. Returns the directories that it created, innermost first. */
async function ensureParent(backend: FsBackend, path: string, create: boolean): Promise<readonly string[]> {
  // If the path is a link to a missing file, the directories above that file are created.
  const missing = await missingParents(backend, await realpathVia(backend, path));
  const at = parentOf(missing.at(-1) ?? path);
  if (at !== "/" && !(await backend.stat(at)).isDir) throw backendError("NOT_DIRECTORY", path);
  if (missing.length === 0) return missing;
  if (!create) throw backendError("NOT_FOUND", path, "the parent directory does not exist");
  await backend.mkdir(missing[0] as string, { parents: true, existOk: true });
  return missing;
}

/** Returns the facts about the entry itself; those of its target on a backend without links. */
export async function lstatVia(backend: Pick<FsBackend, "lstat" | "stat">, path: string): Promise<FsStat> {
  return backend.lstat !== undefined ? backend.lstat(path) : backend.stat(path);
}

/** Does the same as {@link lstatVia}; null when nothing exists. */
export async function lstatOrNull(backend: FsBackend, path: string): Promise<FsStat | null> {
  try {
    return await lstatVia(backend, path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns the path with every link resolved, or the path itself on a backend without links. */
export async function realpathVia(backend: FsBackend, path: string): Promise<string> {
  return backend.realpath !== undefined ? backend.realpath(path) : path;
}

/** Returns the path of the entry itself: links of its parents are resolved, its own is not. */
export async function entryPathVia(backend: FsBackend, path: string): Promise<string> {
  return path === "/" ? path : childOf(await realpathVia(backend, parentOf(path)), nameOf(path));
}

/** Returns the parents of a path that do not exist, innermost first. */
export async function missingParents(backend: FsBackend, path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/" && !(await backend.exists(at)); at = parentOf(at))
    missing.push(at);
  return missing;
}

/** Returns the target of a link. @throws UNSUPPORTED_OPERATION on a backend without links */
export async function readLinkVia(backend: FsBackend, path: string): Promise<string> {
  if (backend.readLink === undefined) throw unsupportedError(path, "symbolic links");
  return backend.readLink(path);
}

/** Makes a link. @throws UNSUPPORTED_OPERATION on a backend without links */
export async function symlinkVia(backend: FsBackend, target: string, path: string): Promise<void> {
  if (backend.symlink === undefined) throw unsupportedError(path, "symbolic links");
  await backend.symlink(target, path);
}

/** Sets permission bits. @throws UNSUPPORTED_OPERATION on a backend without them */
export async function chmodVia(backend: FsBackend, path: string, mode: number): Promise<void> {
  if (backend.chmod === undefined) throw unsupportedError(path, "permission bits");
  await backend.chmod(path, mode);
}

function unsupportedError(path: string, what: string): FilewrightError {
  return backendError("UNSUPPORTED_OPERATION", path, `this storage has no ${what}`);
}

/** One page of a directory, in the order of `listDir`. */
export interface ListPage {
  readonly entries: readonly FsEntry[];
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/**
 * Lists a directory in pages. The cursor names the last returned entry, so that entries which
 * appear or vanish between two pages are neither repeated nor skipped.
 */
export async function listPageVia(
  backend: FsBackend,
  path: string,
  options: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<ListPage> {
  const { cursor, limit } = options;
  if (!(Number.isSafeInteger(limit) && limit > 0)) {
    throw backendError("INVALID_ARGUMENT", path, "limit must be a positive integer");
  }
  if (backend.listPage !== undefined) {
    return backend.listPage(path, cursor === undefined ? { limit } : { cursor, limit });
  }
  const all = sortEntries(await backend.listDir(path));
  const next =
    cursor === undefined ? 0 : all.findIndex((entry) => compareCodePoints(listingSortKey(entry), cursor) > 0);
  const from = next < 0 ? all.length : next;
  const entries = Object.freeze(all.slice(from, from + limit));
  const last = entries.at(-1);
  if (last === undefined || from + limit >= all.length) return Object.freeze({ entries });
  return Object.freeze({ entries, next: listingSortKey(last) });
}

/** Sorts entries in listing order: directories first, then by code point. */
export function sortEntries(entries: readonly FsEntry[]): readonly FsEntry[] {
  return [...entries].sort((a, b) => compareCodePoints(listingSortKey(a), listingSortKey(b)));
}

/** Returns the sort key of an entry: `d/` or `f/` and its name. */
function listingSortKey(entry: FsEntry): string {
  return `${entry.isDir ? "d" : "f"}/${entry.name}`;
}
