/**
 * Searches over any files, through `listDir` and reads and the engine's
 * matchers: the same answers as the native search gives on a disk.
 */
import { engine } from "../../engine/current.ts";
import { fileTypeGlobs } from "../../engine/file-types.ts";
import type { Counting, PathGlobs, SearchQuery, SearchResult } from "../../engine/search.ts";
import type { FsEntry } from "../backend.ts";
import type { Files } from "../files.ts";
import { shortcutsOf, contentsOf } from "../abilities.ts";
import { backendError } from "../failure.ts";
import { globsOf, GrepSearch, type Signalled } from "./search-grep.ts";
import { inBatches } from "./read-ahead.ts";
import { readSearched, searchFiles } from "./search-files.ts";
import { searchHeld } from "./search-held.ts";
import type { WalkCache } from "../walk/walk-memo.ts";
import { type SearchPlace, SearchWalk } from "./search-walk.ts";

export { findByWalk, timeOf } from "./search-find.ts";
export type { SearchPlace } from "./search-walk.ts";

/**
 * Searches contents below a directory, or in one file, by their listings and contents. Paths in results are
 * relative to `root`; where it is a file, its path is empty.
 */
export async function grepByWalk(
  backend: Files,
  root: string,
  query: SearchQuery & Signalled & Counting,
  place: SearchPlace = {},
): Promise<SearchResult> {
  const search = new GrepSearch(query);
  await search.compiles();
  const stat = await backend.stat(root);
  if (stat.type === "other") throw backendError("NOT_REGULAR_FILE", root);
  if (!stat.isDir) {
    await searchNamedFile(search, backend, root, stat.size);
    return search.result();
  }
  const { globs, matches } = fileFilterOf(query);
  const wants = (path: string, entry: FsEntry) => entry.type === "file" && matches(path);
  const { path: from } = search.from;
  const held = query.index === "off" ? undefined : contentsOf(backend);
  // Without its size in the listing a file is read up to the limit, and no call for its facts is needed.
  const facts = held !== undefined || !backend.abilities.ranges;
  const walk = (memo?: WalkCache) =>
    new SearchWalk(backend, root, { query, globs, wants, from, facts, memo });
  const ahead = await shortcutsOf(backend).readAhead?.(root);
  if (held !== undefined) {
    const given = { held, root, query, top: place.top, ahead, walk };
    const { kept, ...counts } = await searchHeld(search, given);
    return search.result(counts, kept ? held.fresh : "scan");
  }
  const walked = walk();
  const files = walked.entries(place.top);
  const { maxFileBytes, signal } = search;
  await searchFiles(
    search,
    backend,
    ahead === undefined ? files : inBatches(files, ahead, { maxFileBytes, signal }),
  );
  return search.result(walked.counts);
}

/** Searches the file that a search names as its start. @throws TOO_LARGE */
async function searchNamedFile(
  search: GrepSearch,
  backend: Files,
  path: string,
  size: number,
): Promise<void> {
  const { maxFileBytes: most } = search;
  if (size > most) {
    const message = `the file has ${size} bytes, more than ${most} are not searched`;
    throw backendError("TOO_LARGE", path, message, { details: { size, limit: most } });
  }
  const bytes = await readSearched(backend, path, { size, most });
  // The file may have grown since.
  if (bytes === undefined) search.large++;
  else await search.file("", bytes);
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
