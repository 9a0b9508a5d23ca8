/**
 * Searches of contents that a backend knows (`held.ts`). The walk is cached until an entry is added or removed; then only
 * the changed directories are walked again, and only the candidates are read. The answers are those of a scan, counts
 * included.
 */
import type { SearchQuery } from "../../engine/search.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { CachedWalk, type Counts, WALK_AHEAD_FILES, type WalkedFile } from "./cached-walk.ts";
import { BINARY_CODE, type Candidates, type ContentProvider, NEVER_READ_CODE } from "./held.ts";
import type { HeldContent, HeldFile } from "./held-file.ts";
import { BATCH_FILES, type FileAhead, GroupsAhead, type ReadAhead } from "./read-ahead.ts";
import type { GrepSearch } from "./search-grep.ts";
import type { WalkCache } from "../walk/walk-memo.ts";
import { IGNORE_FILES } from "../walk/ignore-files.ts";
import type { SearchWalk } from "./search-walk.ts";

/** The number of skipped files after which the time limit is checked. */
const FILES_PER_CLOCK_CHECK = 1024;

/** A search of a tree whose contents are held. */
export interface HeldSearch {
  readonly held: ContentProvider;
  readonly root: string;
  readonly query: SearchQuery;
  readonly top: string | undefined;
  /** Reads files ahead; undefined where each of them is read at no cost of its own. */
  readonly ahead: ReadAhead | undefined;
  walk(memo: WalkCache): SearchWalk;
}

/** Returns what selects the files of a search, as a key. */
function walkKeyOf({ held, root, query, top }: HeldSearch, from: string): string {
  const { glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles } = query;
  const selection = [glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles];
  return JSON.stringify([held.view, root, ...selection, top, from]);
}

/** Searches a tree; returns the counts of its walk, and whether the walk was cached. */
export async function searchHeld(
  search: GrepSearch,
  given: HeldSearch,
): Promise<Counts & { readonly kept: boolean }> {
  const { held, query, top } = given;
  const ahead = given.ahead && new GroupsAhead(given.ahead, search.signal);
  // `info/exclude` of git is an ignore file too, and these two lead to it.
  held.watch([...(query.ignoreFiles ?? IGNORE_FILES), "exclude", ".git", "commondir"]);
  const key = walkKeyOf(given, search.from.path);
  const known = held.walks.get(key);
  if (known !== undefined && known.shape === held.shape()) {
    held.walks.keep(key, known);
    return { ...(await searchCached({ search, held, view: known, ahead })), kept: true };
  }
  const shape = held.shape();
  const view = new CachedWalk(held.stamp, known);
  const walk = given.walk(view.memo);
  const ended = await walkAndSearch({ search, held, view, ahead }, walk, top);
  view.memo.over(ended === undefined);
  if (ended === undefined && held.shape() === shape) {
    view.shape = shape;
    held.walks.keep(key, view);
    held.signs.tidy(view.paths.length);
  }
  return { ...(ended ?? view.total), kept: false };
}

/** A search of the files of a walk. */
interface ViewedSearch {
  readonly search: GrepSearch;
  readonly held: ContentProvider;
  readonly view: CachedWalk;
  readonly ahead: GroupsAhead | undefined;
}

/** Walks the tree and searches its files. Returns the counts of the walk where the search ended before it. */
async function walkAndSearch(
  viewed: ViewedSearch,
  walk: SearchWalk,
  top: string | undefined,
): Promise<Counts | undefined> {
  const { held, view, ahead } = viewed;
  const viewSearch = new ViewSearch(viewed);
  const lead = ahead === undefined ? WALK_AHEAD_FILES : BATCH_FILES;
  let at = 0;
  for await (const run of walk.runs(top)) {
    for (const found of run) {
      const unsigned = { content: undefined, code: NEVER_READ_CODE, generation: -1 };
      found.slot ??= { file: await fileOrError(held, found.entry.path), ...unsigned };
      view.add(found.path, found.slot as WalkedFile, walk.counts);
      if (view.paths.length - at < lead) continue;
      const goesOn = viewSearch.next(at++);
      if (goesOn !== true && !(await goesOn)) return view.countsAt(at - 1);
    }
  }
  view.total = { unreadable: walk.counts.unreadable, ignored: walk.counts.ignored };
  return viewSearch.rest(at);
}

/** Searches those files of a cached walk that can match. */
async function searchCached(viewed: ViewedSearch): Promise<Counts> {
  const { held, view } = viewed;
  held.signs.tidy(view.paths.length);
  return (await new ViewSearch(viewed).rest(0)) ?? view.total;
}

/** A search of the files of a view: it skips files that cannot match. */
class ViewSearch {
  readonly #search: GrepSearch;
  readonly #held: ContentProvider;
  readonly #view: CachedWalk;
  readonly #ahead: GroupsAhead | undefined;
  readonly #generation: number;
  readonly #candidates: Candidates | undefined;
  #looked = 0;

  constructor({ search, held, view, ahead }: ViewedSearch) {
    this.#search = search;
    this.#held = held;
    this.#view = view;
    this.#ahead = ahead;
    this.#generation = held.signs.generation;
    this.#candidates = callOrForgetSigns(held, () => held.signs.candidates(search.compiled));
  }

  /** Searches the files from an index on. Returns the counts of the walk where the search ended before the last one. */
  async rest(from: number): Promise<Counts | undefined> {
    for (let at = from; at < this.#view.paths.length; at++) {
      const goesOn = this.next(at);
      if (goesOn !== true && !(await goesOn)) return this.#view.countsAt(at);
    }
    return undefined;
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
    await this.#ahead?.before(at, this.#view.paths.length, (place) => this.#fileAhead(place));
    await this.#searchAt(at);
    return !this.#search.isFull;
  }

  /** Searches a file and records that a query has read it. */
  async #searchAt(at: number): Promise<void> {
    const search = this.#search;
    const slot = this.#view.slots[at] as WalkedFile;
    const { file } = slot;
    if (file instanceof Error) {
      search.failed(file);
      return;
    }
    const found = file.size > search.maxFileBytes ? undefined : await this.#readOrError(file);
    if (found instanceof Error) {
      search.failed(found);
      return;
    }
    if (found === undefined || found.bytes.length > search.maxFileBytes) {
      search.large++;
      return;
    }
    const { bytes, content } = found;
    await search.file(this.#view.paths[at] as string, bytes, () => this.#contentsAfter(at));
    if (content === undefined) return;
    const held = this.#held;
    const code = callOrForgetSigns(held, () => held.signs.read(content, bytes)) ?? NEVER_READ_CODE;
    if (slot.content === content && slot.generation === held.signs.generation) slot.code = code;
  }

  /** Returns the content of a file, or the error of its read. @throws CANCELLED */
  async #readOrError(file: HeldFile): Promise<HeldContent | Error> {
    try {
      return await file.read(this.#held.source, this.#search.signal);
    } catch (error) {
      if (!(error instanceof Error) || (error as { readonly code?: unknown }).code === "CANCELLED")
        throw error;
      return error;
    }
  }

  /** Returns the file at an index; undefined for one that the search does not read. */
  #readable(at: number): HeldFile | undefined {
    const slot = this.#view.slots[at] as WalkedFile;
    const { file } = slot;
    if (file instanceof Error || file.size > this.#search.maxFileBytes) return undefined;
    return canMatch(codeOf(this.#held, slot), this.#candidates) ? file : undefined;
  }

  #fileAhead(at: number): FileAhead | undefined {
    const file = this.#readable(at);
    if (file === undefined || file.near(this.#held.source) !== undefined) return undefined;
    return { path: this.#view.paths[at] as string, size: file.size };
  }

  /** Yields the contents that the search probably reads after a file, as far as they are in memory. */
  *#contentsAfter(at: number): Iterable<Uint8Array> {
    for (let next = at + 1; next < this.#view.slots.length; next++) {
      const near = this.#readable(next)?.near(this.#held.source);
      if (near !== undefined) yield near;
    }
  }
}

/** Counts a file that need not be read. Returns false for one that must be read. */
function passesOver(
  search: GrepSearch,
  file: HeldFile | Error,
  code: number,
  candidates: Candidates | undefined,
): boolean {
  if (file instanceof Error || file.size > search.maxFileBytes) return false;
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
  const { content } = file;
  if (slot.content !== content || slot.generation !== signs.generation) {
    slot.content = content;
    slot.generation = signs.generation;
    slot.code = signs.codeOf(content);
  }
  return slot.code;
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
