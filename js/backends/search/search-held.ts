/**
 * Searches of contents in memory. The walk is cached until an entry is added or removed; then only
 * the changed directories are walked again, and only the candidates are read. The answers are
 * those of a scan, counts included.
 */
import type { SearchQuery } from "../../engine/search.ts";
import { FilewrightError } from "../../engine/errors.ts";
import {
  BINARY_CODE,
  type Candidates,
  type ContentProvider,
  type HeldFile,
  NEVER_READ_CODE,
} from "./held.ts";
import type { GrepSearch } from "./search-grep.ts";
import { WalkCache } from "../walk/walk-memo.ts";
import { IGNORE_FILES } from "../walk/ignore-files.ts";
import type { WalkCounts } from "../walk/walk.ts";
import type { SearchWalk } from "./search-walk.ts";

/**
 * The number of files by which a walk is ahead of the search. The counts of a result include the walk up to there.
 */
export const WALK_AHEAD_FILES = 8;
/** The maximum number of cached walks of a backend. */
const MAX_VIEWS = 8;
/** The maximum number of files of a walk that is cached. */
const MAX_VIEW_FILES = 500_000;
/** The maximum number of files of a walk whose directories are cached as well. */
const MAX_REMEMBERED_PATHS = 100_000;
/** The number of skipped files after which the time limit is checked. */
const FILES_PER_CLOCK_CHECK = 1024;

type Counts = Pick<WalkCounts, "unreadable" | "ignored">;

/** A file, and the code of the content that it had when it was last looked at. */
interface WalkedFile {
  /** The content of the file, or an error where it could not be read. */
  readonly file: HeldFile | Error;
  content: Uint8Array | undefined;
  code: number;
  /** The generation of the index from which the code of the content is. */
  generation: number;
}

/** A cached walk: the files that a query searches, in path order, and the counts of the walk. */
class CachedWalk {
  readonly paths: string[] = [];
  readonly slots: WalkedFile[] = [];
  /** The counts of the walk at each file. */
  readonly #unreadable: number[] = [];
  readonly #ignored: number[] = [];
  total: Counts = { unreadable: 0, ignored: 0 };
  shape = "";
  /** The directories of the walk, for the next one. */
  readonly memo: WalkCache;

  constructor(held: ContentProvider, before: CachedWalk | undefined) {
    this.memo = before?.memo ?? new WalkCache(held.stamp);
  }

  add(path: string, slot: WalkedFile, counts: Counts): void {
    this.paths.push(path);
    this.slots.push(slot);
    this.#unreadable.push(counts.unreadable);
    this.#ignored.push(counts.ignored);
  }

  /** Returns the counts of a walk that ends at a file, as a search without the cache would have them. */
  countsAt(place: number): Counts {
    const ahead = place + WALK_AHEAD_FILES - 1;
    if (ahead >= this.paths.length) return this.total;
    return { unreadable: this.#unreadable[ahead] as number, ignored: this.#ignored[ahead] as number };
  }
}

/** The cached walks of each backend. */
const viewsByOwner = new WeakMap<object, Map<string, CachedWalk>>();

/** Returns the properties of a query that select its files, as a key. */
function viewKeyOf(root: string, query: SearchQuery, top: string | undefined, from: string): string {
  const { glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles } = query;
  return JSON.stringify([root, glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles, top, from]);
}

/** A search of a tree whose contents are held. */
export interface HeldSearch {
  readonly owner: object;
  readonly held: ContentProvider;
  readonly root: string;
  readonly query: SearchQuery;
  readonly top: string | undefined;
  walk(memo: WalkCache): SearchWalk;
}

/** Searches a tree; returns the counts of its walk, and whether the walk was cached. */
export async function searchHeld(
  search: GrepSearch,
  given: HeldSearch,
): Promise<Counts & { readonly kept: boolean }> {
  const { owner, held, root, query, top } = given;
  // `info/exclude` of git is an ignore file too, and these two lead to it.
  held.watch([...(query.ignoreFiles ?? IGNORE_FILES), "exclude", ".git", "commondir"]);
  const key = viewKeyOf(root, query, top, search.from.path);
  const views = viewsByOwner.get(owner) ?? new Map<string, CachedWalk>();
  viewsByOwner.set(owner, views);
  const known = views.get(key);
  if (known !== undefined) {
    views.delete(key);
    if (known.shape === held.shape()) {
      views.set(key, known);
      return { ...(await searchCached(search, held, known)), kept: true };
    }
  }
  const shape = held.shape();
  const fewer = known === undefined || known.paths.length <= MAX_REMEMBERED_PATHS;
  const view = new CachedWalk(held, fewer ? known : undefined);
  const walk = given.walk(view.memo);
  const whole = await walkAndSearch(search, held, view, walk, top);
  view.memo.over(whole);
  if (whole && view.paths.length <= MAX_VIEW_FILES && held.shape() === shape) {
    view.shape = shape;
    for (const old of [...views.keys()].slice(0, Math.max(0, views.size - MAX_VIEWS + 1))) views.delete(old);
    views.set(key, view);
  }
  return { ...walk.counts, kept: false };
}

/** Walks the tree and searches its files. Returns false when the search ended before the walk. */
async function walkAndSearch(
  search: GrepSearch,
  held: ContentProvider,
  view: CachedWalk,
  walk: SearchWalk,
  top: string | undefined,
): Promise<boolean> {
  const viewSearch = new ViewSearch(search, held, view);
  let at = 0;
  for await (const run of walk.runs(top)) {
    for (const found of run) {
      const unsigned = { content: undefined, code: NEVER_READ_CODE, generation: -1 };
      found.slot ??= { file: await fileOrError(held, found.entry.path), ...unsigned };
      view.add(found.path, found.slot as WalkedFile, walk.counts);
      if (view.paths.length - at < WALK_AHEAD_FILES) continue;
      const goesOn = viewSearch.next(at++);
      if (goesOn !== true && !(await goesOn)) return false;
    }
  }
  while (at < view.paths.length) if (!(await viewSearch.next(at++))) return false;
  view.total = { unreadable: walk.counts.unreadable, ignored: walk.counts.ignored };
  return true;
}

/** Searches those files of a cached walk that can match. */
async function searchCached(search: GrepSearch, held: ContentProvider, view: CachedWalk): Promise<Counts> {
  held.signs.tidy(view.paths.length);
  const viewSearch = new ViewSearch(search, held, view);
  for (let at = 0; at < view.paths.length; at++) {
    const goesOn = viewSearch.next(at);
    if (goesOn !== true && !(await goesOn)) return view.countsAt(at);
  }
  return view.total;
}

/** A search of the files of a view: it skips files that cannot match. */
class ViewSearch {
  readonly #search: GrepSearch;
  readonly #held: ContentProvider;
  readonly #view: CachedWalk;
  readonly #generation: number;
  readonly #candidates: Candidates | undefined;
  #looked = 0;

  constructor(search: GrepSearch, held: ContentProvider, view: CachedWalk) {
    this.#search = search;
    this.#held = held;
    this.#view = view;
    this.#generation = held.signs.generation;
    this.#candidates = callOrForgetSigns(held, () => held.signs.candidates(search.compiled));
  }

  /**
   * Searches the file at an index; returns false when the search has ended. The result is a promise only if
   * something must be awaited.
   */
  next(at: number): true | Promise<boolean> {
    const { signs } = this.#held;
    const slot = this.#view.slots[at] as WalkedFile;
    const code = codeOf(this.#held, slot);
    // Codes of a newer generation are no numbers of these candidates.
    const known = this.#generation === signs.generation;
    if (!known || !passesOver(this.#search, slot.file, code, this.#candidates)) return this.#read(at);
    return ++this.#looked % FILES_PER_CLOCK_CHECK !== 0 || this.#inTime(at);
  }

  async #inTime(at: number): Promise<boolean> {
    return !(await this.#search.isOver(this.#view.paths[at] as string));
  }

  async #read(at: number): Promise<boolean> {
    if (!(await this.#inTime(at))) return false;
    await readAt(this.#search, this.#held, this.#view, at, this.#candidates);
    return !this.#search.isFull;
  }
}

/** Counts a file that need not be read. Returns false for one that must be read. */
function passesOver(
  search: GrepSearch,
  file: HeldFile | Error,
  code: number,
  candidates: Candidates | undefined,
): boolean {
  if (file instanceof Error || file.bytes.length > search.maxFileBytes) return false;
  if (code === BINARY_CODE) {
    search.binary++;
    return true;
  }
  if (canMatch(code, candidates)) return false;
  search.searched++;
  return true;
}

/** Returns true when a content with this code can match; a binary one cannot. */
function canMatch(code: number, candidates: Candidates | undefined): boolean {
  if (code === BINARY_CODE) return false;
  if (candidates === undefined || code < 0 || code >= candidates.known) return true;
  return (((candidates.bits[code >> 3] as number) >> (code & 7)) & 1) === 1;
}

/** Returns the code of the current content of a file. */
function codeOf({ signs }: ContentProvider, slot: WalkedFile): number {
  const { file } = slot;
  if (file instanceof Error) return NEVER_READ_CODE;
  if (slot.content !== file.bytes || slot.generation !== signs.generation) {
    slot.content = file.bytes;
    slot.generation = signs.generation;
    slot.code = signs.codeOf(file.bytes);
  }
  return slot.code;
}

/** Searches a file and records that a query has read it. */
async function readAt(
  search: GrepSearch,
  held: ContentProvider,
  view: CachedWalk,
  at: number,
  candidates: Candidates | undefined,
): Promise<void> {
  const slot = view.slots[at] as WalkedFile;
  const { file } = slot;
  if (file instanceof Error) {
    search.failed(file);
    return;
  }
  const { bytes } = file;
  if (bytes.length > search.maxFileBytes) {
    search.large++;
    return;
  }
  await search.file(view.paths[at] as string, bytes, () => contentsAfter(search, held, view, at, candidates));
  const code = callOrForgetSigns(held, () => held.signs.read(bytes)) ?? NEVER_READ_CODE;
  if (slot.content === bytes && slot.generation === held.signs.generation) slot.code = code;
}

/** Yields the contents that the search probably reads after a file. */
function* contentsAfter(
  search: GrepSearch,
  held: ContentProvider,
  view: CachedWalk,
  at: number,
  candidates: Candidates | undefined,
): Iterable<Uint8Array> {
  for (let next = at + 1; next < view.slots.length; next++) {
    const slot = view.slots[next] as WalkedFile;
    const { file } = slot;
    if (file instanceof Error || file.bytes.length > search.maxFileBytes) continue;
    if (!canMatch(codeOf(held, slot), candidates)) continue;
    yield file.bytes;
  }
}

/**
 * Returns the result of a call of the index. If the engine failed or was replaced, the index is dropped and the
 * result is undefined, so that everything is read.
 */
function callOrForgetSigns<T>({ signs }: ContentProvider, call: () => T): T | undefined {
  try {
    return call();
  } catch {
    signs.forget();
    return undefined;
  }
}

async function fileOrError(held: ContentProvider, path: string): Promise<HeldFile | Error> {
  try {
    return await held.file(path);
  } catch (error) {
    return error instanceof Error ? error : new FilewrightError("INTERNAL", String(error));
  }
}
