/**
 * Searches of contents that a backend holds: the walk is kept until an entry
 * comes or goes, and only what can match is read. The answers are those of a
 * scan, counts included.
 */
import type { SearchQuery } from "../engine/search.ts";
import { FilewrightError } from "../engine/errors.ts";
import { BINARY, type Candidates, type HeldContents, type HeldFile, NEVER } from "./held.ts";
import type { Search } from "./search-grep.ts";
import { IGNORE_FILES, type SearchWalk, type WalkCounts } from "./search-walk.ts";

/** How many files a walk is ahead of the search: what it counted until then is told. */
export const WINDOW = 8;
/** How many walks of a backend are kept. */
const MOST_VIEWS = 8;
/** Walks with more files are not kept. */
const MOST_FILES = 500_000;
/** Files that are passed over between two looks at the clock. */
const STRIDE = 1024;

type Counts = Pick<WalkCounts, "unreadable" | "ignored">;

/** The files that a query sees, in path order, and what their walk counted. */
class View {
  readonly paths: string[] = [];
  /** Undefined where a file could not be read. */
  readonly files: (HeldFile | Error)[] = [];
  /** The contents that the codes are of. */
  readonly contents: (Uint8Array | undefined)[] = [];
  readonly codes: number[] = [];
  /** What the walk had counted when it came to each file. */
  readonly #unreadable: number[] = [];
  readonly #ignored: number[] = [];
  total: Counts = { unreadable: 0, ignored: 0 };
  shape = "";
  generation = -1;

  add(path: string, file: HeldFile | Error, counts: Counts): void {
    this.paths.push(path);
    this.files.push(file);
    this.contents.push(undefined);
    this.codes.push(NEVER);
    this.#unreadable.push(counts.unreadable);
    this.#ignored.push(counts.ignored);
  }

  /** What the walk of a scan has counted when the search ends at a file. */
  countsAt(place: number): Counts {
    const ahead = place + WINDOW - 1;
    if (ahead >= this.paths.length) return this.total;
    return { unreadable: this.#unreadable[ahead] as number, ignored: this.#ignored[ahead] as number };
  }
}

const kept = new WeakMap<object, Map<string, View>>();

/** What decides which files a query sees. */
function keyOf(root: string, query: SearchQuery, top: string | undefined, from: string): string {
  const { glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles } = query;
  return JSON.stringify([root, glob, exclude, fileTypes, hidden, respectIgnore, ignoreFiles, top, from]);
}

/** A search of a tree whose contents are held. */
export interface HeldSearch {
  readonly owner: object;
  readonly held: HeldContents;
  readonly root: string;
  readonly query: SearchQuery;
  readonly top: string | undefined;
  walk(): SearchWalk;
}

/** Searches a tree; gives what its walk counted, and whether the walk was one that was kept. */
export async function searchHeld(
  search: Search,
  given: HeldSearch,
): Promise<Counts & { readonly kept: boolean }> {
  const { owner, held, root, query, top } = given;
  held.watch(query.ignoreFiles ?? IGNORE_FILES);
  const key = keyOf(root, query, top, search.from.path);
  const views = kept.get(owner) ?? new Map<string, View>();
  kept.set(owner, views);
  const known = views.get(key);
  if (known !== undefined) {
    views.delete(key);
    if (known.shape === held.shape()) {
      views.set(key, known);
      return { ...(await again(search, held, known)), kept: true };
    }
  }
  const shape = held.shape();
  const walk = given.walk();
  const view = await first(search, held, walk, top);
  if (view !== undefined && view.paths.length <= MOST_FILES && held.shape() === shape) {
    view.shape = shape;
    for (const old of [...views.keys()].slice(0, Math.max(0, views.size - MOST_VIEWS + 1))) views.delete(old);
    views.set(key, view);
  }
  return { ...walk.counts, kept: false };
}

/** Walks and searches; gives the view, or undefined where the search ended before the walk. */
async function first(
  search: Search,
  held: HeldContents,
  walk: SearchWalk,
  top: string | undefined,
): Promise<View | undefined> {
  const view = new View();
  let at = 0;
  const next = async (): Promise<boolean> => {
    if (await search.isOver(view.paths[at] as string)) return false;
    await readAt(search, held, view, at++);
    return !search.isFull;
  };
  for await (const { path, entry } of walk.entries(top)) {
    view.add(path, await fileOrError(held, entry.path), walk.counts);
    if (view.paths.length - at >= WINDOW && !(await next())) return undefined;
  }
  while (at < view.paths.length) if (!(await next())) return undefined;
  view.total = { unreadable: walk.counts.unreadable, ignored: walk.counts.ignored };
  return view;
}

/** Searches what can match of a walk that was kept. */
async function again(search: Search, held: HeldContents, view: View): Promise<Counts> {
  const { signs } = held;
  signs.tidy(view.paths.length);
  const { generation } = signs;
  const candidates = orForget(held, () => signs.candidates(search.compiled));
  for (let at = 0, looked = 0; at < view.paths.length; at++) {
    const code = codeAt(held, view, at);
    // Codes of a generation that began meanwhile are no numbers of these candidates.
    if (generation === signs.generation && passesOver(search, view.files[at] as HeldFile, code, candidates)) {
      if (++looked % STRIDE !== 0) continue;
      if (await search.isOver(view.paths[at] as string)) return view.countsAt(at);
      continue;
    }
    if (await search.isOver(view.paths[at] as string)) return view.countsAt(at);
    await readAt(search, held, view, at);
    if (search.isFull) return view.countsAt(at);
  }
  return view.total;
}

/** Counts a file that need not be read; false for one that has to be. */
function passesOver(
  search: Search,
  file: HeldFile | Error,
  code: number,
  candidates: Candidates | undefined,
): boolean {
  if (file instanceof Error || file.bytes.length > search.maxFileBytes) return false;
  if (code === BINARY) {
    search.binary++;
    return true;
  }
  if (candidates === undefined || code < 0 || code >= candidates.known) return false;
  if (((candidates.bits[code >> 3] as number) >> (code & 7)) & 1) return false;
  search.searched++;
  return true;
}

/** The code of the content that a file has now. */
function codeAt({ signs }: HeldContents, view: View, at: number): number {
  const file = view.files[at] as HeldFile | Error;
  if (file instanceof Error) return NEVER;
  if (view.generation !== signs.generation) {
    view.contents.fill(undefined);
    view.generation = signs.generation;
  }
  if (view.contents[at] !== file.bytes) {
    view.contents[at] = file.bytes;
    view.codes[at] = signs.codeOf(file.bytes);
  }
  return view.codes[at] as number;
}

/** Searches a file, and takes note that it was read. */
async function readAt(search: Search, held: HeldContents, view: View, at: number): Promise<void> {
  const file = view.files[at] as HeldFile | Error;
  if (file instanceof Error) {
    search.failed(file);
    return;
  }
  const { bytes } = file;
  if (bytes.length > search.maxFileBytes) {
    search.large++;
    return;
  }
  await search.file(view.paths[at] as string, bytes);
  codeAt(held, view, at);
  view.codes[at] = orForget(held, () => held.signs.read(bytes)) ?? NEVER;
}

/** An engine that broke down, or is another one by now, has no signatures: then everything is read. */
function orForget<T>({ signs }: HeldContents, call: () => T): T | undefined {
  try {
    return call();
  } catch {
    signs.forget();
    return undefined;
  }
}

async function fileOrError(held: HeldContents, path: string): Promise<HeldFile | Error> {
  try {
    return await held.file(path);
  } catch (error) {
    return error instanceof Error ? error : new FilewrightError("INTERNAL", String(error));
  }
}
