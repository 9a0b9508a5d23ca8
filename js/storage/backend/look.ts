/** Resolves paths with links over a storage, which follows none itself. One round trip where no link is met. */
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import { LinkWalk, toFoundEntry } from "../../backends/fallback/links.ts";
import { childOf, checkPath, isLongName, normalise } from "../../backends/paths.ts";
import type { Standing } from "../../backends/tree/checks.ts";
import { unlistedError } from "../failure.ts";
import type { Entry, ReadEntry, ReadManyOptions, Storage } from "../storage.ts";

/** The calls of a storage by which a backend reads and writes. */
export type StorageView = Pick<Storage, "readMany" | "list" | "commit">;

/** The place to which a path leads. */
export interface StoredPlace extends Standing {
  readonly entry: Entry | undefined;
  /** The entry with its content, where that was read; null where nothing exists. */
  readonly found: ReadEntry | null;
}

/** A place where something exists. */
export type FoundStoredPlace = StoredPlace & { readonly entry: Entry; readonly found: ReadEntry };

/** How a path is resolved. */
export interface LookOptions extends ReadManyOptions {
  /** True when a link that is the last name of the path is followed. */
  readonly follow: boolean;
  /** With true, the missing end of a path that ends in a slash is kept. Default: it is NOT_FOUND. */
  readonly keepMissingDirectory?: boolean | undefined;
}

/** Resolves several paths at once: all of them are read in one moment, unless one of them has links. */
export async function lookAll(
  view: StorageView,
  requests: readonly (readonly [path: string, options: LookOptions])[],
  shared: ReadManyOptions = {},
): Promise<readonly StoredPlace[]> {
  const wanted = new Set<string>();
  for (const [path] of requests) {
    checkPath(path);
    for (const prefix of prefixesOf(normalise(path).path)) wanted.add(prefix);
  }
  const entries = new ReadEntries(view, shared);
  await entries.read([...wanted]);
  const places: StoredPlace[] = [];
  for (const [path, options] of requests) {
    let place = placeOf(path, options, entries);
    while ("unread" in place) {
      await entries.read([place.unread]);
      place = placeOf(path, options, entries);
    }
    places.push(place);
  }
  return places;
}

/** The entries that a look has read. */
class ReadEntries {
  readonly #view: StorageView;
  readonly #options: ReadManyOptions;
  readonly #known = new Map<string, ReadEntry | FilewrightError | null>();

  constructor(view: StorageView, options: ReadManyOptions) {
    this.#view = view;
    this.#options = options;
  }

  async read(paths: readonly string[]): Promise<void> {
    const { results } = await this.#view.readMany(paths, this.#options);
    for (const [index, path] of paths.entries()) this.#known.set(path, results[index] ?? null);
  }

  /** Returns an entry that was read; null where nothing exists. @throws its error */
  known(path: string): ReadEntry | null {
    const found = this.#known.get(path) ?? null;
    if (found instanceof FilewrightError) throw found;
    return found;
  }

  has(path: string): boolean {
    return this.#known.has(path);
  }
}

/** Resolves a path name by name, or returns the path of an entry that has to be read before, as behind a link. */
function placeOf(
  path: string,
  options: LookOptions,
  entries: ReadEntries,
): StoredPlace | { readonly unread: string } {
  const walk = new LinkWalk(path, options.follow);
  let last = entries.known("/") as ReadEntry;
  for (let name = walk.next(); name !== undefined; name = walk.next()) {
    const at = childOf(walk.reached, name);
    // The walk itself refuses a long name.
    if (!isLongName(name) && !entries.has(at)) return { unread: at };
    const found = isLongName(name) ? null : entries.known(at);
    walk.found(found === null ? null : toFoundEntry(found.entry));
    if (found !== null) last = found;
  }
  const { beyond } = walk;
  const real = walk.resolved(options.keepMissingDirectory === true);
  const hasParent = beyond === undefined || beyond.length === 0;
  if (beyond !== undefined) return { path: real, entry: undefined, found: null, hasParent };
  // `..` can lead back to a directory that was passed.
  const there = last.entry.path === real ? last : entries.known(real);
  return { path: real, entry: there?.entry, found: there, hasParent };
}

/** Resolves one path. */
export async function look(view: StorageView, path: string, options: LookOptions): Promise<StoredPlace> {
  const { follow: _, keepMissingDirectory: __, ...shared } = options;
  const [place] = await lookAll(view, [[path, options]], shared);
  return place as StoredPlace;
}

/** Returns a place where something exists. @throws NOT_FOUND */
export function assertFound(place: StoredPlace, path: string): FoundStoredPlace {
  if (place.found === null) throw backendError("NOT_FOUND", path);
  return place as FoundStoredPlace;
}

/** The number of entries that are asked for at once. */
const PAGE_ENTRIES = 10_000;

/** Yields the entries below a directory in path order. @throws the error of a directory in it that cannot be listed */
export async function* entriesBelow(
  view: StorageView,
  prefix: string,
  depth?: number,
  signal?: AbortSignal,
): AsyncGenerator<Entry> {
  for (let after: string | undefined; ; ) {
    const page = await view.list({ prefix, depth, after, limit: PAGE_ENTRIES, signal });
    for (const entry of page.entries) {
      if (depth === undefined && entry.unreadable !== undefined)
        throw unlistedError(entry.path, entry.unreadable);
      yield entry;
    }
    if (page.next === undefined) return;
    after = page.next;
  }
}

/** Returns `/` and every directory on the way to a path, then the path itself. */
function prefixesOf(path: string): readonly string[] {
  const found = ["/"];
  if (path === "/") return found;
  let at = "";
  for (const name of path.slice(1).split("/")) {
    at += `/${name}`;
    found.push(at);
  }
  return found;
}
