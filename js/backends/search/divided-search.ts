/**
 * Searches that are divided: something else searches most of a tree with its index and leaves out the places in which
 * the tree differs, those are walked, and both results are merged in path order. The answer is that of a walk of the
 * whole tree. A layer over a disk is searched in this way, and a fork beside the copy of its parent's files.
 */
import type { SearchQuery, SearchResult, WalkQuery } from "../../engine/search.ts";
import { decodeCursor } from "../../engine/wire/cursor.ts";
import type { FsEntry, MaybePromise } from "../backend.ts";
import { compareCodePoints, isWithin, literalGlob, nameOf, parentOf, relativeTo } from "../paths.ts";
import { IGNORE_FILES } from "../walk/ignore-files.ts";
import type { WalkCounts } from "../walk/walk.ts";
import { GrepSearch, type Signalled } from "./search-grep.ts";
import type { SearchedFile, SearchWalkRequest } from "./search-walk.ts";
import { fileFilterOf } from "./search.ts";

/** The largest number of places that are left out of a search; with more, the directories of some are left out whole. */
const MAX_LEFT_OUT = 500;

/** How a search is divided. */
export interface SearchParts {
  /** The real path of the searched directory. */
  readonly real: string;
  /** The places below it that differ; none is below another. */
  readonly changed: readonly string[];
  /** The globs that leave them out, relative to the searched directory. */
  readonly exclude: readonly string[];
}

/**
 * Returns how a search below a real directory is divided when a tree differs in some paths, given in any order;
 * undefined where the whole tree must be walked.
 */
export function divideSearch(
  differing: Iterable<string>,
  real: string,
  { respectIgnore, ignoreFiles = IGNORE_FILES }: WalkQuery,
): SearchParts | undefined {
  const places = new Set<string>();
  for (const path of differing) {
    if (isWithin(real, path)) return undefined;
    if (isWithin(path, real)) places.add(path);
    // An ignore file that differs changes what a search sees in its whole directory.
    const directory = respectIgnore === false ? undefined : directoryOfRules(path, ignoreFiles);
    if (directory === undefined) continue;
    if (isWithin(real, directory)) return undefined;
    if (isWithin(directory, real)) places.add(directory);
  }
  const changed = joinPlaces(outermost(places, real), real);
  if (changed === undefined) return undefined;
  const relative = changed.map((path) => relativeTo(path, real) as string);
  // A backslash may stand for a byte of a name that is no text: no glob is made of it.
  if (relative.some((path) => path.includes("\\"))) return undefined;
  return { real, changed, exclude: relative.map((path) => `/${literalGlob(path)}`) };
}

/** Returns the places that are not below another one. */
function outermost(places: ReadonlySet<string>, real: string): readonly string[] {
  return [...places].filter((path) => !isBelowOther(path, places, real));
}

/**
 * Puts the directories of the deepest places in their stead until there are few enough; undefined where the searched
 * directory itself would be one.
 */
function joinPlaces(places: readonly string[], real: string): readonly string[] | undefined {
  let joined = places;
  while (joined.length > MAX_LEFT_OUT) {
    const depths = joined.map((path) => path.split("/").length);
    const deepest = depths.reduce((a, b) => Math.max(a, b), 0);
    const lifted = joined.map((path, at) => (depths[at] === deepest ? parentOf(path) : path));
    if (lifted.includes(real)) return undefined;
    joined = outermost(new Set(lifted), real);
  }
  return joined;
}

/** Returns a function that says whether a real path is one of the places that differ, or below one. */
export function isChangedIn({ real, changed }: SearchParts): (path: string) => boolean {
  const places = new Set(changed);
  return (path) => places.has(path) || isBelowOther(path, places, real);
}

/** Returns the names in each directory above the places that differ, up to the searched one, that lead to one. */
export function namesToChanges({ real, changed }: SearchParts): ReadonlyMap<string, ReadonlySet<string>> {
  const leading = new Map<string, Set<string>>();
  for (const place of changed)
    for (let at = place; at !== real; at = parentOf(at)) {
      const names = leading.get(parentOf(at)) ?? new Set();
      leading.set(parentOf(at), names.add(nameOf(at)));
    }
  return leading;
}

/** The entries of the places that differ, as a walk finds them. */
export interface ChangedEntries {
  entries(): AsyncIterable<SearchedFile>;
  counts(): WalkCounts;
}

/** How the walk of the places that differ finds the files of a search. */
export type ChangedRequest = Pick<SearchWalkRequest, "query" | "globs" | "from" | "wants"> & {
  /** The size in bytes from which on a file is not read. Default: none. */
  readonly maxFileBytes?: number;
};

/** The two halves of a divided search of contents. */
export interface DividedGrep {
  /** Searches what does not differ. The query leaves out the rest. */
  below(query: SearchQuery & Signalled): MaybePromise<SearchResult>;
  /** Walks what differs. */
  changes(request: ChangedRequest): Promise<ChangedEntries>;
  /** Returns the content of a file that the walk found. */
  read(path: string): MaybePromise<Uint8Array>;
}

/** Searches contents in both halves at once, and merges what they find. */
export async function dividedGrep(
  { exclude }: SearchParts,
  query: SearchQuery & Signalled,
  { below: searchBelow, changes: walkChanges, read }: DividedGrep,
): Promise<SearchResult> {
  const search = new GrepSearch(query);
  const { maxResults, exclude: own = [] } = query;
  // Both run at once. A failure of the other half is thrown when it is awaited.
  const searching = Promise.resolve(
    searchBelow({
      ...query,
      exclude: [...own, ...exclude],
      // One result above the limit shows that there are more.
      maxResults: maxResults === undefined ? undefined : maxResults + 1,
    }),
  );
  searching.catch(() => undefined);
  const filter = fileFilterOf(query);
  const wants = (path: string, entry: FsEntry): boolean => entry.type === "file" && filter.matches(path);
  const { globs } = filter;
  const { from, maxFileBytes } = search;
  const request = { query, globs, wants, from: from.path, maxFileBytes };
  const changes = await walkChanges(request);
  const below = await searching;
  await mergeInto(search, below, changes.entries(), read);
  search.searched += below.filesSearched;
  search.binary += below.skippedBinary;
  search.large += below.skippedLarge;
  const { unreadable, ignored } = changes.counts();
  return search.result(
    { unreadable: unreadable + below.unreadable, ignored: ignored + below.ignored },
    below.fresh,
  );
}

/** Returns the directory whose rules a path is a part of; undefined for any other path. */
function directoryOfRules(path: string, ignoreFiles: readonly string[]): string | undefined {
  const name = nameOf(path);
  if (ignoreFiles.includes(name) || name === ".git") return parentOf(path);
  const git = /^(.*)\/\.git\/info(?:\/exclude)?$/u.exec(path)?.[1];
  return git === undefined ? undefined : git === "" ? "/" : git;
}

/** Returns true when a path is below one of the places, up to the searched directory. */
function isBelowOther(path: string, places: ReadonlySet<string>, real: string): boolean {
  for (let at = path; at !== real && at !== "/"; ) {
    at = parentOf(at);
    if (at !== real && places.has(at)) return true;
  }
  return false;
}

/** Searches the changed files, and adds them and the files of the lower search in path order. */
async function mergeInto(
  search: GrepSearch,
  below: SearchResult,
  changed: AsyncIterable<SearchedFile>,
  read: (path: string) => MaybePromise<Uint8Array>,
): Promise<void> {
  const lower = filesOf(below);
  // Of a lower search that ended early, nothing after its end is known.
  const end = below.incompleteReason === "timeout" ? positionOf(below, search.from) : undefined;
  let at = 0;
  const addLower = async (before: string | undefined): Promise<void> => {
    for (let file = lower[at]; file !== undefined && !search.isFull; file = lower[at]) {
      if (before !== undefined && compareCodePoints(file.path, before) > 0) return;
      await search.addHits(file.path, file.hits);
      at++;
    }
  };
  for await (const { path, entry } of changed) {
    await addLower(path);
    if (search.isFull) return;
    if (search.isFull || (end !== undefined && compareCodePoints(path, end.path) > 0)) break;
    if (await search.isOver(path)) return;
    await searchOne(search, { path, entry }, read);
  }
  await addLower(undefined);
  if (search.isFull) return;
  const rest = below.totalMatches - lower.reduce((sum, { hits }) => sum + hits.total, 0);
  if (end !== undefined) search.endAt(end);
  else if (rest > 0) search.more(rest, below.filesWithMatches - lower.length);
}

/** Returns the position at which a search continues. */
function positionOf({ nextCursor }: SearchResult, from: GrepSearch["from"]): GrepSearch["from"] {
  return nextCursor === undefined ? from : decodeCursor("grep", nextCursor);
}

async function searchOne(
  search: GrepSearch,
  { path, entry }: SearchedFile,
  read: (path: string) => MaybePromise<Uint8Array>,
): Promise<void> {
  const { maxFileBytes } = search;
  try {
    const bytes = (entry.size ?? 0) > maxFileBytes ? undefined : await read(entry.path);
    if (bytes === undefined || bytes.length > maxFileBytes) search.large++;
    else await search.file(path, bytes);
  } catch (error) {
    if (!(error instanceof Error) || (error as { readonly code?: unknown }).code === "CANCELLED") throw error;
    search.failed(error);
  }
}

/** Returns the hits of a result by file, in path order. */
function filesOf({ counts, matches, incompleteReason }: SearchResult): readonly LowerFile[] {
  let at = 0;
  return counts.map(({ path, count }) => {
    const from = at;
    while (matches[at]?.path === path) at++;
    const more = incompleteReason === "max_per_file";
    return { path, hits: { matches: matches.slice(from, at), total: count, binary: false, more } };
  });
}

/** A file of the lower search. */
interface LowerFile {
  readonly path: string;
  readonly hits: Parameters<GrepSearch["addHits"]>[1];
}
