/**
 * Searches of an overlay: the backend below searches with its index, without the changed paths; those are searched
 * here; both are merged in path order. The answers are those of a search of the merged tree.
 */
import type { FindQuery, FindResult, SearchQuery, SearchResult, WalkQuery } from "../../engine/search.ts";
import { decodeCursor } from "../../engine/wire/cursor.ts";
import type { FsBackend, FsEntry, ListOptions, MaybePromise } from "../backend.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { childOf, compareCodePoints, isWithin, literalGlob, nameOf, parentOf, relativeTo } from "../paths.ts";
import { findBackend, FindPage } from "../search/search-find.ts";
import { globsOf, GrepSearch, type Signalled } from "../search/search-grep.ts";
import { SearchWalk, type SearchWalkRequest, type WalkEntry } from "../search/search-walk.ts";
import { fileFilterOf, grepBackend } from "../search/search.ts";
import { IGNORE_FILES } from "../walk/ignore-files.ts";
import type { WalkCounts } from "../walk/walk.ts";
import { entryOfStat, type OverlayLayer } from "./overlay-layer.ts";

/** The largest number of changed places that the backend below is asked to leave out; with more the tree is walked. */
const MAX_LEFT_OUT = 500;
/** The number of directories whose ignore files are looked up one by one. With more, one search finds those of all. */
const MAX_DIRECTORIES_LOOKED_AT = 4;

/** The parts of an overlay that a walk of it reads. */
export type WalkedOverlay = Pick<FsBackend, "listDir" | "readBytes" | "read" | "stat" | "lstat">;

/** How one search is divided. */
interface SearchParts {
  /** The real path of the searched directory. */
  readonly real: string;
  /** The changed places below it; none is below another. */
  readonly changed: readonly string[];
  /** The globs that leave them out, relative to the searched directory. */
  readonly exclude: readonly string[];
}

/** The searches of an overlay whose lower backend searches. */
export class OverlaySearch {
  readonly #layer: OverlayLayer;
  readonly #overlay: FsBackend;

  constructor(layer: OverlayLayer, overlay: WalkedOverlay) {
    this.#layer = layer;
    this.#overlay = overlay as FsBackend;
  }

  /** Searches contents as the merged tree has them. */
  async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    const { lower } = this.#layer;
    const parts = await this.#partsOf(root, query);
    if (parts === undefined || lower.grep === undefined) return grepBackend(this.#overlay, root, query);
    const { real, changed, exclude } = parts;
    if (changed.length === 0) return lower.grep(real, query);
    const search = new GrepSearch(query);
    const { maxResults, exclude: own = [] } = query;
    // Both run at once. A failure of the lower search is told when it is awaited.
    const searching = Promise.resolve(
      lower.grep(real, {
        ...query,
        exclude: [...own, ...exclude],
        // One result above the limit shows that there are more.
        maxResults: maxResults === undefined ? undefined : maxResults + 1,
      }),
    );
    searching.catch(() => undefined);
    const filter = fileFilterOf(query);
    const wants = (path: string, entry: FsEntry): boolean => entry.type === "file" && filter.matches(path);
    const more = { globs: filter.globs, countIgnored: false, from: search.from.path };
    const changes = await this.#changes(parts, { query, ...more }, wants);
    const below = await searching;
    await mergeInto(search, below, changes.entries(), (path) => this.#layer.bytes(path));
    search.searched += below.filesSearched;
    search.binary += below.skippedBinary;
    search.large += below.skippedLarge;
    const { unreadable, ignored } = changes.counts();
    return search.result(
      { unreadable: unreadable + below.unreadable, ignored: ignored + below.ignored },
      below.fresh,
    );
  }

  /** Finds entries by name as the merged tree has them. */
  async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    const { lower } = this.#layer;
    const isDirect = (query.sort ?? "path") === "path" && query.caseSensitive !== false;
    const parts = isDirect ? await this.#partsOf(root, query) : undefined;
    if (parts === undefined || lower.find === undefined) return findBackend(this.#overlay, root, query);
    const { real, changed, exclude } = parts;
    if (changed.length === 0) return lower.find(real, query);
    const { pattern, type = "file" } = query;
    const page = new FindPage(query);
    const searching = Promise.resolve(
      lower.find(real, { ...query, exclude: [...(query.exclude ?? []), ...exclude] }),
    );
    searching.catch(() => undefined);
    const globs = globsOf(pattern, query);
    const kinds: readonly string[] = type === "any" ? ["file", "dir", "symlink"] : [type];
    const wants = (path: string, entry: FsEntry): boolean =>
      kinds.includes(entry.type) && globs.matches(path, entry.isDir);
    const changes = await this.#changes(parts, { query, globs, countIgnored: true, from: "" }, wants);
    const below = await searching;
    const here: string[] = [];
    let { complete } = below;
    for await (const { path } of changes.entries()) {
      if (await page.isOver()) {
        complete = false;
        break;
      }
      here.push(path);
    }
    let at = 0;
    for (const path of below.paths) {
      for (; at < here.length && compareCodePoints(here[at] as string, path) < 0; at++)
        page.add({ path: here[at] as string, time: -1 });
      page.add({ path, time: -1 });
    }
    // What is after the end of the lower page comes after it in this one, too.
    for (; at < here.length && !below.truncated; at++) page.add({ path: here[at] as string, time: -1 });
    const { ignored, unreadable } = changes.counts();
    const counts = { ignored: ignored + below.ignored, unreadable: unreadable + below.unreadable, complete };
    const result = await page.result(counts, below.truncated);
    return { ...result, total: below.total + here.length };
  }

  /** Returns how a search is divided; undefined where the merged tree must be walked. */
  async #partsOf(root: string, query: WalkQuery): Promise<SearchParts | undefined> {
    const layer = this.#layer;
    const real = await layer.real(root, true);
    if (real !== "/" && layer.touched(real)) return undefined;
    if (layer.upper.size === 0) return { real, changed: [], exclude: [] };
    const { respectIgnore, ignoreFiles = IGNORE_FILES } = query;
    const places = new Set<string>();
    for (const path of layer.upper.keys()) {
      if (layer.cover(path) !== undefined) continue;
      if (isWithin(path, real)) places.add(path);
      // A changed ignore file changes what a search sees in its whole directory.
      const directory = respectIgnore === false ? undefined : directoryOfRules(path, ignoreFiles);
      if (directory === undefined) continue;
      if (isWithin(real, directory)) return undefined;
      if (isWithin(directory, real)) places.add(directory);
    }
    const changed = [...places].filter((path) => !isBelowOther(path, places, real));
    if (changed.length > MAX_LEFT_OUT) return undefined;
    if (changed.length > 0 && !(await layer.lower.stat(real)).isDir) return undefined;
    const relative = changed.map((path) => relativeTo(path, real) as string);
    // A backslash may stand for a byte of a name that is no text: no glob is made of it.
    if (relative.some((path) => path.includes("\\"))) return undefined;
    return { real, changed, exclude: relative.map((path) => `/${literalGlob(path)}`) };
  }

  /** Yields the changed entries that are searched, and counts what it leaves out. */
  async #changes(
    { real, changed }: SearchParts,
    request: Omit<SearchWalkRequest, "wants" | "counted">,
    wants: (path: string, entry: FsEntry) => boolean,
  ): Promise<ChangedEntries> {
    const places = new Set(changed);
    const isChanged = (path: string): boolean => places.has(path) || isBelowOther(path, places, real);
    /** The names in each directory above a changed place that lead to one. */
    const leading = new Map<string, Set<string>>();
    for (const place of changed)
      for (let at = place; at !== real; at = parentOf(at)) {
        const names = leading.get(parentOf(at)) ?? new Set();
        leading.set(parentOf(at), names.add(nameOf(at)));
      }
    const { respectIgnore, ignoreFiles = IGNORE_FILES } = request.query;
    const rules =
      respectIgnore === false
        ? new Map<string, readonly FsEntry[]>()
        : await rulesOf(this.#layer, real, [...leading.keys()], ignoreFiles);
    const listDir = async (directory: string, options?: ListOptions): Promise<readonly FsEntry[]> => {
      // Above the start only ignore files count; listing a large directory takes long.
      if (!isWithin(directory, real))
        return (await rulesOf(this.#layer, real, [directory], ignoreFiles)).get(directory) ?? [];
      const names = leading.get(directory);
      if (names === undefined) return this.#layer.entries(directory, options);
      const entries = new Map((rules.get(directory) ?? []).map((entry) => [entry.name, entry]));
      for (const name of names) {
        const entry = this.#entryAt(childOf(directory, name));
        if (entry === null) entries.delete(name);
        else entries.set(name, entry);
      }
      return [...entries.values()];
    };
    const readBytes = (path: string): Promise<Uint8Array> => this.#layer.bytes(path);
    const walk = new SearchWalk({ ...this.#overlay, listDir, readBytes }, real, {
      ...request,
      wants: (path, entry) => isChanged(entry.path) && wants(path, entry),
      counted: (entry) => isChanged(entry.path),
    });
    // No ignore file above a repository applies.
    const isRepository = rules.get(real)?.some(({ name }) => name === ".git") === true;
    return { entries: () => walk.entries(isRepository ? real : undefined), counts: () => walk.counts };
  }

  /** Returns a changed entry, or a directory that leads to one; null where the entry was removed. */
  #entryAt(path: string): FsEntry | null {
    const node = this.#layer.upper.get(path);
    if (node === null) return null;
    if (node !== undefined) return entryOfStat(node.stat);
    return { name: nameOf(path), path, type: "dir", isDir: true, isFile: false };
  }
}

/** The changed entries of a search. */
interface ChangedEntries {
  entries(): AsyncGenerator<WalkEntry>;
  counts(): WalkCounts;
}

/**
 * Returns the ignore files, and `.git`, of unchanged directories: by one search for names where that takes fewer calls.
 */
async function rulesOf(
  { lower }: OverlayLayer,
  real: string,
  directories: readonly string[],
  ignoreFiles: readonly string[],
): Promise<ReadonlyMap<string, readonly FsEntry[]>> {
  const found = new Map<string, FsEntry[]>(directories.map((directory) => [directory, []]));
  const bySearch = lower.find !== undefined && directories.length > MAX_DIRECTORIES_LOOKED_AT;
  const looked = bySearch ? [".git"] : [...ignoreFiles, ".git"];
  const look = async (directory: string, name: string): Promise<void> => {
    const stat = await lstatOrNull(lower, childOf(directory, name));
    if (stat !== null) found.get(directory)?.push(entryOfStat(stat));
  };
  const search = async (): Promise<void> => {
    const names = { pattern: ignoreFiles.map(literalGlob), respectIgnore: false } as const;
    for (const relative of (await lower.find?.(real, names))?.paths ?? []) {
      const path = childOf(real, relative);
      const entry = { name: nameOf(path), path, type: "file", isDir: false, isFile: true } as const;
      found.get(parentOf(path))?.push(entry);
    }
  };
  await Promise.all([
    ...directories.flatMap((directory) => looked.map((name) => look(directory, name))),
    ...(bySearch ? [search()] : []),
  ]);
  return found;
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
  changed: AsyncIterable<WalkEntry>,
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

/** Returns the position at which a search goes on. */
function positionOf({ nextCursor }: SearchResult, from: GrepSearch["from"]): GrepSearch["from"] {
  return nextCursor === undefined ? from : decodeCursor("grep", nextCursor);
}

async function searchOne(
  search: GrepSearch,
  { path, entry }: Pick<WalkEntry, "path" | "entry">,
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
