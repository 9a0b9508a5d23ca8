/**
 * Searches over any backend, through `listDir` and `readBytes` and the engine's
 * matchers: the same answers as the native search gives on a disk.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { fileTypeGlobs } from "../../engine/file-types.ts";
import type { Counting, PathGlobs, SearchQuery, SearchResult } from "../../engine/search.ts";
import type { FsBackend, FsEntry } from "../backend.ts";
import { backendError } from "../failure.ts";
import { contentsOf } from "./held.ts";
import { globsOf, GrepSearch, type Signalled } from "./search-grep.ts";
import { searchHeld, WALK_AHEAD_FILES } from "./search-held.ts";
import type { WalkCache } from "../walk/walk-memo.ts";
import { type SearchPlace, SearchWalk, type WalkEntry } from "./search-walk.ts";

export { findBackend, timeOf } from "./search-find.ts";
export type { SearchPlace } from "./search-walk.ts";

/**
 * Searches contents below a directory, or in one file. Paths in results are
 * relative to `root`; where it is a file, its path is empty. A backend that can
 * search itself does so.
 */
export async function grepBackend(
  backend: FsBackend,
  root: string,
  query: SearchQuery & Signalled & Counting,
  place: SearchPlace = {},
): Promise<SearchResult> {
  if (backend.grep !== undefined) return backend.grep(root, query);
  const search = new GrepSearch(query);
  await search.compiles();
  const stat = await backend.stat(root);
  if (stat.type === "other") throw backendError("NOT_REGULAR_FILE", root);
  if (!stat.isDir) {
    const limit = search.maxFileBytes;
    if (stat.size > limit) {
      const message = `the file has ${stat.size} bytes, more than ${limit} are not searched`;
      throw backendError("TOO_LARGE", root, message, { details: { size: stat.size, limit } });
    }
    await search.file("", await backend.readBytes(root));
    return search.result();
  }
  const { globs, matches } = fileFilterOf(query);
  const wants = (path: string, entry: FsEntry) => entry.type === "file" && matches(path);
  const { path: from } = search.from;
  const held = query.index === "off" ? undefined : contentsOf(backend);
  // Without its size in the listing a file is read up to the limit, and no call for its facts is needed.
  const facts = held !== undefined || backend.read === undefined;
  const walk = (memo?: WalkCache) =>
    new SearchWalk(backend, root, { query, globs, wants, countIgnored: false, from, facts, memo });
  if (held !== undefined) {
    const given = { owner: backend, held, root, query, top: place.top, walk };
    const { kept, ...counts } = await searchHeld(search, given);
    return search.result(counts, kept ? "watch" : "scan");
  }
  const walked = walk();
  await searchFiles(search, backend, walked.entries(place.top));
  return search.result(walked.counts);
}

/** The files that a query searches, by their paths. */
export interface FileFilter {
  readonly globs: PathGlobs;
  /** Returns true for the path of a file that is searched, relative to the start. */
  matches(path: string): boolean;
}

/** Compiles the globs and file types of a query. @throws INVALID_GLOB, LIMIT_EXCEEDED */
export function fileFilterOf(query: SearchQuery): FileFilter {
  const globs = globsOf(query.glob, query);
  const types = fileTypeGlobs(query.fileTypes);
  const typed = types.length > 0 ? engine().glob(types, { caseSensitive: false }) : undefined;
  return { globs, matches: (path) => globs.matches(path) && typed?.matches(path) !== false };
}

/** A file to search. Its size may be missing. */
export type SearchedFile = Pick<WalkEntry, "path"> & { readonly entry: Pick<FsEntry, "path" | "size"> };

interface PendingRead {
  readonly file: SearchedFile;
  /** The content, or the error of its read; undefined for a file that is too large. */
  readonly content: Promise<Uint8Array | Error | undefined> | undefined;
}

/** Searches files in the order in which they are given. Some are read ahead. */
export async function searchFiles(
  search: GrepSearch,
  backend: FsBackend,
  files: AsyncIterable<SearchedFile>,
): Promise<void> {
  const ahead: PendingRead[] = [];
  for await (const file of files) {
    const { path, size } = file.entry;
    const large = (size ?? 0) > search.maxFileBytes;
    const most = size === undefined ? search.maxFileBytes : undefined;
    ahead.push({ file, content: large ? undefined : readOrError(backend, path, most) });
    const next = ahead.length >= WALK_AHEAD_FILES ? ahead.shift() : undefined;
    if (next !== undefined && !(await searchFile(search, next))) return;
  }
  for (const next of ahead) if (!(await searchFile(search, next))) return;
}

/** Searches one file. Returns false when the search has ended. */
async function searchFile(search: GrepSearch, { file, content }: PendingRead): Promise<boolean> {
  if (await search.isOver(file.path)) return false;
  const bytes = await content;
  if (bytes instanceof Error) search.failed(bytes);
  else if (bytes === undefined || bytes.length > search.maxFileBytes) search.large++;
  else await search.file(file.path, bytes);
  return !search.isFull;
}

/**
 * Returns the content of a file, or the error of the read, which the search handles when it reaches the file;
 * undefined for a file of more than `most` bytes.
 */
async function readOrError(
  backend: FsBackend,
  path: string,
  most: number | undefined,
): Promise<Uint8Array | Error | undefined> {
  try {
    if (most === undefined || backend.read === undefined) return await backend.readBytes(path);
    return (await backend.read(path, { maxBytes: most }))?.bytes;
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "TOO_LARGE") return undefined;
    return error instanceof Error ? error : new Error(String(error));
  }
}
