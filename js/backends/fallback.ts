/**
 * What the optional capabilities do where a backend lacks them, so that tools
 * never ask which ones it has. A backend with nothing but the eleven methods
 * serves every tool.
 *
 * A backend that offers `read` is taken to honour the conditions of
 * `WriteOptions`; for any other they are checked here first. That is a check
 * followed by a write, so the caller holds the lock of the path.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type {
  FsBackend,
  FsEntry,
  FsStat,
  ReadOptions,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "./backend.ts";
import { checkRange, checkSignal, failure, tooLarge } from "./failure.ts";
import { childOf, compareCodePoints, nameOf, parentOf } from "./paths.ts";

/**
 * Content with the version it belongs to. Where the backend has no version, the
 * hash of the whole content is one. Null where `ifNoneMatch` is still the version.
 */
export async function readVersioned(
  backend: FsBackend,
  path: string,
  request: ReadOptions = {},
): Promise<VersionedBytes | null> {
  if (backend.read !== undefined) return backend.read(path, request);
  checkSignal(request.signal, path);
  // First the facts, then the content: a change in between makes the version too
  // old, which is a conflict later, and never too new.
  const stat = await backend.stat(path);
  if (stat.isDir) throw failure("IS_DIRECTORY", path);
  checkSize(stat.size, request, path);
  const whole = await backend.readBytes(path);
  const version = stat.version ?? engine().sha256(whole);
  if (request.ifNoneMatch === version) return null;
  const { range } = request;
  checkRange(range, path);
  const bytes = range === undefined ? whole : whole.slice(range.start, range.end);
  checkSize(bytes.length, request, path, true);
  return Object.freeze({ bytes, version, stat });
}

/** Before the read only a size that no range cuts down can be judged. */
function checkSize(size: number, request: ReadOptions, path: string, cut = false): void {
  const { maxBytes, range } = request;
  if (maxBytes === undefined || size <= maxBytes || (range !== undefined && !cut)) return;
  throw tooLarge(path, size, maxBytes);
}

/** Writes a file under the conditions of `options`, whichever backend it is. */
export async function writeVia(
  backend: FsBackend,
  path: string,
  content: Uint8Array,
  options: WriteOptions = {},
): Promise<WriteResult> {
  if (backend.read !== undefined) return backend.writeBytes(path, content, options);
  checkSignal(options.signal, path);
  // `createDirs` goes on: where directories are only prefixes, what is below still misses them.
  const { ifVersion, ifAbsent, ...rest } = options;
  const there = await lstatOrNull(backend, path);
  if (ifAbsent === true && there !== null) throw failure("ALREADY_EXISTS", path);
  if (there?.isDir) throw failure("IS_DIRECTORY", path);
  if (ifVersion !== undefined) {
    const now = there === null ? null : await readVersioned(backend, path);
    if (now?.version !== ifVersion) throw failure("CONFLICT", path);
  }
  const made = there === null ? await parentFor(backend, path, options.createDirs === true) : [];
  try {
    await backend.writeBytes(path, content, rest);
  } catch (error) {
    // Each was made for this write; one that somebody has filled meanwhile stays.
    for (const directory of made) await Promise.resolve(backend.delete(directory)).catch(() => undefined);
    throw error;
  }
  const version = (await backend.stat(path)).version ?? engine().sha256(content);
  return Object.freeze({ version });
}

/** Sees to the parent of a new path; gives the directories it made, innermost first. */
async function parentFor(backend: FsBackend, path: string, create: boolean): Promise<readonly string[]> {
  const missing = await missingParents(backend, path);
  const at = parentOf(missing.at(-1) ?? path);
  if (at !== "/" && !(await backend.stat(at)).isDir) throw failure("NOT_DIRECTORY", path);
  if (missing.length === 0) return missing;
  if (!create) throw failure("NOT_FOUND", path, "the parent directory does not exist");
  await backend.mkdir(missing[0] as string, { parents: true, existOk: true });
  return missing;
}

/** Facts about the path itself. A backend without `lstat` has no links. */
export async function lstatVia(backend: FsBackend, path: string): Promise<FsStat> {
  return backend.lstat !== undefined ? backend.lstat(path) : backend.stat(path);
}

/** {@link lstatVia}, or null where nothing is there. */
export async function lstatOrNull(backend: FsBackend, path: string): Promise<FsStat | null> {
  try {
    return await lstatVia(backend, path);
  } catch (error) {
    if (error instanceof FilewrightError && (error.code === "NOT_FOUND" || error.code === "NOT_DIRECTORY")) {
      return null;
    }
    throw error;
  }
}

/** The path with every link resolved; the path itself where there are no links. */
export async function realpathVia(backend: FsBackend, path: string): Promise<string> {
  return backend.realpath !== undefined ? backend.realpath(path) : path;
}

/** The path of the entry itself: the links of its parents are resolved, its own is not. */
export async function entryPathVia(backend: FsBackend, path: string): Promise<string> {
  return path === "/" ? path : childOf(await realpathVia(backend, parentOf(path)), nameOf(path));
}

/** The parents of a path that do not exist, innermost first. */
export async function missingParents(backend: FsBackend, path: string): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/" && !(await backend.exists(at)); at = parentOf(at))
    missing.push(at);
  return missing;
}

/** Where a link points. @throws UNSUPPORTED_OPERATION where there are no links */
export async function readLinkVia(backend: FsBackend, path: string): Promise<string> {
  if (backend.readLink === undefined) throw unsupported(path, "symbolic links");
  return backend.readLink(path);
}

/** Makes a link. @throws UNSUPPORTED_OPERATION where there are no links */
export async function symlinkVia(backend: FsBackend, target: string, path: string): Promise<void> {
  if (backend.symlink === undefined) throw unsupported(path, "symbolic links");
  await backend.symlink(target, path);
}

/** Sets permission bits. @throws UNSUPPORTED_OPERATION where there are none */
export async function chmodVia(backend: FsBackend, path: string, mode: number): Promise<void> {
  if (backend.chmod === undefined) throw unsupported(path, "permission bits");
  await backend.chmod(path, mode);
}

function unsupported(path: string, what: string): FilewrightError {
  return failure("UNSUPPORTED_OPERATION", path, `this storage has no ${what}`);
}

/** One page of a directory, in the order of `listDir`. */
export interface ListPage {
  readonly entries: readonly FsEntry[];
  /** Where to go on; absent on the last page. */
  readonly next?: string;
}

/**
 * A directory in pages. The cursor names the last entry given, so that entries
 * which come or go between two pages are neither given twice nor skipped.
 */
export async function listPageVia(
  backend: FsBackend,
  path: string,
  options: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<ListPage> {
  const { cursor, limit } = options;
  if (!(Number.isSafeInteger(limit) && limit > 0)) {
    throw failure("INVALID_ARGUMENT", path, "limit must be a positive integer");
  }
  if (backend.listPage !== undefined) {
    return backend.listPage(path, cursor === undefined ? { limit } : { cursor, limit });
  }
  const all = sortEntries(await backend.listDir(path));
  const next =
    cursor === undefined ? 0 : all.findIndex((entry) => compareCodePoints(placeOf(entry), cursor) > 0);
  const from = next < 0 ? all.length : next;
  const entries = Object.freeze(all.slice(from, from + limit));
  const last = entries.at(-1);
  if (last === undefined || from + limit >= all.length) return Object.freeze({ entries });
  return Object.freeze({ entries, next: placeOf(last) });
}

/** Entries in the order of a listing: directories first, then by code point. */
export function sortEntries(entries: readonly FsEntry[]): readonly FsEntry[] {
  return [...entries].sort((a, b) => compareCodePoints(placeOf(a), placeOf(b)));
}

/** Where an entry stands in a listing: `d/` or `f/` and its name. */
function placeOf(entry: FsEntry): string {
  return `${entry.isDir ? "d" : "f"}/${entry.name}`;
}
