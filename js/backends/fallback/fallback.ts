/**
 * Small operations over any files: facts about an entry that may be missing, the path of an entry, pages of a listing.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { FsBackend, FsEntry, FsStat, ReadOptions, VersionedBytes } from "../backend.ts";
import { backendError, checkRange, checkSignal, isMissing, tooLargeError } from "../failure.ts";
import type { Files } from "../files.ts";
import type { Standing } from "../tree/checks.ts";
import { childOf, compareCodePoints, nameOf, normalise, parentOf } from "../paths.ts";

/** Returns the facts about the entry itself; null when nothing exists. */
export async function lstatOrNull(files: Pick<Files, "lstat">, path: string): Promise<FsStat | null> {
  try {
    return await files.lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Returns the `sha256:` hash of a file's content, which some files know without a read. */
export async function hashOf(files: Files, path: string, signal?: AbortSignal): Promise<string> {
  return (await files.hash(path, { signal })).hash;
}

/**
 * Returns content with its version from files that are read as a whole: the version of their facts, or else the hash of
 * the content. Null when the version is still `ifNoneMatch`.
 */
export async function readWhole(
  files: Pick<FsBackend, "stat" | "readBytes">,
  path: string,
  request: ReadOptions,
): Promise<VersionedBytes | null> {
  checkSignal(request.signal, path);
  // Reads `stat` before the content: a change in between makes the version too old, which is a conflict
  // later, and never too new.
  const stat = await files.stat(path);
  if (stat.isDir) throw backendError("IS_DIRECTORY", path);
  const { range } = request;
  // A range may reduce the size.
  if (range === undefined) assertSize(stat.size, request, path);
  const whole = await files.readBytes(path);
  const version = stat.version ?? engine().sha256(whole);
  if (request.ifNoneMatch === version) return null;
  checkRange(range, path);
  const bytes = range === undefined ? whole : whole.slice(range.start, range.end);
  assertSize(bytes.length, request, path);
  return Object.freeze({ bytes, version, stat });
}

/** Refuses a content of more than `maxBytes`. */
function assertSize(size: number, { maxBytes }: ReadOptions, path: string): void {
  if (maxBytes !== undefined && size > maxBytes) throw tooLargeError(path, size, maxBytes);
}

/** Returns the path of the entry itself: links of its parents are resolved, its own is not. */
export async function entryPath(files: Files, path: string): Promise<string> {
  return path === "/" ? path : childOf(await files.realpath(parentOf(path)), nameOf(path));
}

/**
 * Returns the other names of a file. Empty for a path that cannot be used: the use of it reports the reason.
 * @throws FilewrightError LIMIT_EXCEEDED where there are too many entries to look through
 */
export async function otherNamesOf(files: Files, path: string): Promise<readonly string[]> {
  try {
    return await files.otherNames(path);
  } catch (error) {
    if (error instanceof FilewrightError && error.code !== "LIMIT_EXCEEDED") return [];
    throw error;
  }
}

/**
 * Returns the directories above a path that do not exist, innermost first; `look` returns what stands at a path.
 * @throws NOT_DIRECTORY, under the path as it was typed
 */
export async function missingAbove(
  look: (path: string) => Promise<Pick<FsStat, "isDir"> | null>,
  path: string,
  typed: string = path,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
    const there = await look(at);
    if (there?.isDir === true) break;
    if (there !== null) throw backendError("NOT_DIRECTORY", typed);
    missing.push(at);
  }
  return missing;
}

/** Returns the directories above a path that do not exist, innermost first; links are followed. @throws NOT_DIRECTORY */
export function missingParents(files: Pick<Files, "stat">, path: string): Promise<readonly string[]> {
  return missingAbove((at) => lstatOrNull({ lstat: (one) => files.stat(one) }, at), path);
}

/** The place of a path, and the facts about what stands there; undefined where nothing does. */
export interface FoundPlace extends Standing {
  readonly stat: FsStat | undefined;
  /** The missing directories above, innermost first. */
  readonly missing: readonly string[];
}

/** Returns the place of a path. The version is that of the facts. */
export function placeOfStat(
  path: string,
  stat: FsStat | null | undefined,
  missing: readonly string[] = [],
): FoundPlace {
  const entry = stat ? { type: stat.type, mode: stat.mode, version: stat.version ?? "" } : undefined;
  return { path, stat: stat ?? undefined, entry, missing, hasParent: missing.length === 0 };
}

/**
 * Compares the version of an entry, for files whose changes do not compare it themselves. `known` are its facts, where
 * the caller has them.
 * @throws CONFLICT unless it has the expected version
 */
export async function assertVersion(
  files: Files,
  path: string,
  wanted: string | undefined,
  known?: FsStat | null,
): Promise<void> {
  if (wanted === undefined) return;
  const stat = known === undefined ? await lstatOrNull(files, path) : known;
  // Files without versions are compared by content.
  const now = stat?.version ?? (stat?.isFile === true ? (await files.read(path))?.version : undefined);
  if (now !== wanted) throw backendError("CONFLICT", path);
}

/** Returns facts with the path that the caller gave. */
export function statWithPath(stat: FsStat, path: string): FsStat {
  const asked = normalise(path).path;
  return stat.path === asked ? stat : Object.freeze({ ...stat, path: asked });
}

/** A page of the entries of a directory. */
export interface ListPage {
  /** The entries of the page, in the order of `listDir`. */
  readonly entries: readonly FsEntry[];
  /** The cursor of the next page. Absent on the last page. */
  readonly next?: string;
}

/**
 * Returns a page of a listing. The cursor names the last returned entry, so that entries which
 * appear or vanish between two pages are neither repeated nor skipped.
 */
export async function pageOfListing(
  path: string,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  list: () => Promise<readonly FsEntry[]> | readonly FsEntry[],
): Promise<ListPage> {
  if (!(Number.isSafeInteger(limit) && limit > 0)) {
    throw backendError("INVALID_ARGUMENT", path, "limit must be a positive integer");
  }
  const all = sortEntries(await list());
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
