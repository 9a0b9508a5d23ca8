/**
 * What one call has read of a storage: every path once, and with the first read all paths that the call names. It
 * tells the conditions of a commit: nothing that the call was decided on has changed since.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { compareCodePoints } from "../../backends/paths.ts";
import type {
  Entry,
  EntryPage,
  Expect,
  ListRequest,
  ReadEntry,
  ReadMany,
  Storage,
  Version,
} from "../storage.ts";

/** The calls of a storage by which it is read. */
export type ReadableStorage = Pick<Storage, "readMany" | "list">;

/** The result of a read of one path. */
export type Found = ReadEntry | FilewrightError | null;

/** The contents that are read with the paths that a call names. Larger ones are read when they are asked for. */
export const MAX_NAMED_BYTES: number = 16 * 1024 * 1024;
/** The number of entries up to which a tree that a call names is listed at once. */
const MAX_TREE_ENTRIES = 10_000;

/** The state of one path as it was read. */
interface KnownPath {
  readonly found: Found;
  /** The version of the workspace that was read. Empty for what is only assumed. */
  readonly version: Version;
  /** The time at which the read began. */
  readonly at: number;
  /** True once the call has seen it: then it is a condition of the commit. */
  used: boolean;
}

/** A path and how it is read. */
export interface PathToRead {
  readonly path: string;
  /** True when the content of a file is needed. */
  readonly body: boolean;
}

/** How the paths of a read are read. */
export interface ReadHow {
  readonly bodies: boolean;
  readonly maxBytes?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The reads of one call. */
export class StagedReads {
  readonly #storage: ReadableStorage;
  readonly #known = new Map<string, KnownPath>();
  /** The paths that are read with the next read, and whether their contents are. */
  #named = new Map<string, boolean>();
  /** The directories that are listed as a whole where a part of them is listed. */
  #trees: readonly string[] = [];
  /** The whole trees that were listed, by their paths, and the version of the workspace of each. */
  readonly #listed = new Map<string, { readonly entries: readonly Entry[]; readonly page: EntryPage }>();
  /** The trees that nothing may have changed in, and the version of each. */
  readonly #unchanged = new Map<string, Version>();
  /** The paths of the next round trip, which begins once all reads of this turn have named theirs. */
  #wanted = new Map<string, boolean>();
  #gathering: Promise<void> | undefined;
  /** The paths of the round trips under way, and whether their contents come with them. */
  readonly #coming = new Map<string, { readonly body: boolean; readonly read: Promise<void> }>();

  constructor(storage: ReadableStorage) {
    this.#storage = storage;
  }

  /** Names paths that are read with the next read. */
  name(paths: Iterable<PathToRead>): void {
    for (const { path, body } of paths) this.#named.set(path, body || this.#named.get(path) === true);
  }

  /** Names directories whose content the call is about: they are listed as a whole, and are conditions. */
  nameTrees(paths: readonly string[]): void {
    this.#trees = [...this.#trees, ...paths];
  }

  /** Returns what the call has seen and what it names, which a lock reads together. */
  toRead(): readonly string[] {
    const paths = new Set(this.#named.keys());
    for (const [path, { used }] of this.#known) if (used) paths.add(path);
    return [...paths];
  }

  /** Replaces everything that was read by the answer of one read of these paths. */
  replace(paths: readonly string[], { results, version }: ReadMany): void {
    const at = performance.now();
    this.refresh();
    for (const [index, path] of paths.entries()) {
      const found = results[index] ?? null;
      this.#known.set(path, { found, version, at, used: false });
      this.#named.delete(path);
    }
  }

  /** Takes the state of a path as given, without a read. The commit fails if it is another one. */
  assume(path: string, entry: Entry | null): void {
    this.#known.set(path, { found: entry && { entry }, version: "", at: performance.now(), used: false });
  }

  /** Forgets what was read. What the call has seen is read again with the next read. */
  refresh(): void {
    const named = new Map(this.#named);
    for (const [path, { found, used }] of this.#known) {
      const hadBody = found !== null && !(found instanceof FilewrightError) && found.body !== undefined;
      if (used || hadBody) named.set(path, hadBody || named.get(path) === true);
    }
    this.#known.clear();
    this.#listed.clear();
    this.#unchanged.clear();
    this.#named = named;
  }

  /** Replaces what is known of a path by what a commit made of it. */
  made(path: string, found: ReadEntry | null, version: Version): void {
    this.#known.set(path, { found, version, at: performance.now(), used: false });
  }

  /** Forgets everything at and below a path. */
  forget(top: string): void {
    for (const path of this.#known.keys())
      if (path === top || path.startsWith(`${top}/`)) this.#known.delete(path);
  }

  /** Forgets the listings, which a commit has made outdated. */
  forgetListings(): void {
    this.#listed.clear();
    this.#unchanged.clear();
    for (const one of this.#known.values()) one.used = false;
  }

  /** Returns the paths that the call has seen, with what it found and the time of the read. */
  *seen(): Generator<readonly [path: string, found: Found, at: number]> {
    for (const [path, { found, at, used }] of this.#known) if (used) yield [path, found, at];
  }

  /** Returns what is at some paths, in their order. The first read is one round trip with all named paths. */
  async read(paths: readonly string[], how: ReadHow): Promise<readonly Found[]> {
    const tried = new Set<string>();
    for (;;) {
      const missing = paths.filter((path) => this.#isMissing(path, how));
      if (missing.length === 0) break;
      const alone = missing.filter((path) => tried.has(path));
      if (alone.length > 0) {
        // A content that did not fit with the others is read by itself.
        await this.#fetch(new Map(alone.map((path) => [path, how.bodies])), undefined, how.signal);
        continue;
      }
      const coming = missing.flatMap((path) => this.#comingFor(path, how));
      if (coming.length === missing.length) {
        await Promise.all(coming);
        continue;
      }
      for (const path of missing) {
        if (this.#comingFor(path, how).length > 0) continue;
        tried.add(path);
        this.#wanted.set(path, how.bodies || this.#wanted.get(path) === true);
      }
      this.#gathering ??= this.#readWanted(how);
      await this.#gathering;
    }
    return paths.map((path) => {
      const known = this.#known.get(path) as KnownPath;
      known.used = true;
      return known.found;
    });
  }

  /** Lists a directory: a part of a tree that was listed as a whole, or a page of the storage. */
  async list(request: ListRequest): Promise<EntryPage> {
    const { prefix = "/", signal } = request;
    const top = this.#trees.find((tree) => prefix === tree || prefix.startsWith(`${tree}/`));
    const whole = top === undefined ? undefined : await this.#listTree(top, signal);
    if (whole === undefined) {
      const page = await this.#storage.list(request);
      if (top !== undefined) this.#noteUnchanged(prefix, page.version);
      this.#noteEntries(page.entries, page.version);
      return page;
    }
    const { entries, page } = whole;
    const own = prefix === top ? page.top : (entries.find(({ path }) => path === prefix) ?? null);
    return { ...pageOf(entries, request), top: own, version: page.version };
  }

  /** Returns the conditions of a commit: what the call has seen is still there. */
  conditions(): readonly Expect[] {
    const found: Expect[] = [];
    for (const [path, tree] of this.#unchanged) found.push({ path, tree });
    for (const [path, { found: there, version, used }] of this.#known) {
      if (!used || path === "/" || there instanceof FilewrightError) continue;
      if (this.#isWithinUnchanged(path, version)) continue;
      if (there === null) found.push({ path, version: null });
      // What changes below a directory is no change of it, and its mode decides nothing.
      else if (there.entry.type === "dir") found.push({ path, type: "dir" });
      else found.push({ path, version: there.entry.version });
    }
    return found;
  }

  /** Returns true when a tree that may not change covers a path that was read in the same moment. */
  #isWithinUnchanged(path: string, version: Version): boolean {
    for (const [top, tree] of this.#unchanged)
      if (tree === version && (path === top || path.startsWith(`${top}/`))) return true;
    return false;
  }

  #isMissing(path: string, { bodies, maxBytes }: ReadHow): boolean {
    const known = this.#known.get(path);
    if (known === undefined) return true;
    const { found } = known;
    if (!bodies || found === null || found instanceof FilewrightError) return false;
    const { entry, body } = found;
    if (entry.type !== "file" || body !== undefined) return false;
    return maxBytes === undefined || (entry.size ?? 0) <= maxBytes;
  }

  /** Reads what all reads of this turn have asked for, in one round trip. */
  async #readWanted({ maxBytes, signal }: ReadHow): Promise<void> {
    await Promise.resolve();
    this.#gathering = undefined;
    const paths = this.#wanted;
    const isNamed = this.#named.size > 0;
    for (const [path, body] of this.#named)
      if (!this.#known.has(path)) paths.set(path, body || paths.get(path) === true);
    this.#wanted = new Map();
    this.#named = new Map();
    const limit = isNamed || paths.size > 1 ? Math.max(maxBytes ?? 0, MAX_NAMED_BYTES) : maxBytes;
    const read = this.#fetch(paths, limit, signal);
    for (const [path, body] of paths) this.#coming.set(path, { body, read });
    try {
      await read;
    } finally {
      for (const path of paths.keys()) if (this.#coming.get(path)?.read === read) this.#coming.delete(path);
    }
  }

  /** Returns the round trip under way that brings a path, if one does. */
  #comingFor(path: string, { bodies }: ReadHow): readonly Promise<void>[] {
    const coming = this.#coming.get(path);
    return coming === undefined || (bodies && !coming.body) ? [] : [coming.read];
  }

  async #fetch(
    paths: ReadonlyMap<string, boolean>,
    maxBytes: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const names = [...paths.keys()];
    const bodies = [...paths.values()].some(Boolean);
    const at = performance.now();
    const { results, version } = await this.#storage.readMany(names, { bodies, maxBytes, signal });
    for (const [index, path] of names.entries()) {
      const used = this.#known.get(path)?.used ?? false;
      this.#known.set(path, { found: results[index] ?? null, version, at, used });
    }
  }

  async #listTree(
    top: string,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly entries: readonly Entry[]; readonly page: EntryPage } | undefined> {
    const known = this.#listed.get(top);
    if (known !== undefined) return known;
    const page = await this.#storage.list({ prefix: top, limit: MAX_TREE_ENTRIES, signal });
    if (page.next !== undefined) {
      // Too large to be kept: it is listed directory by directory.
      this.#trees = this.#trees.filter((tree) => tree !== top);
      return undefined;
    }
    const whole = { entries: page.entries, page };
    this.#listed.set(top, whole);
    this.#noteUnchanged(top, page.version);
    this.#noteEntries(page.entries, page.version);
    return whole;
  }

  #noteUnchanged(top: string, version: Version): void {
    if (top !== "/" && !this.#unchanged.has(top)) this.#unchanged.set(top, version);
  }

  #noteEntries(entries: readonly Entry[], version: Version): void {
    const at = performance.now();
    for (const entry of entries)
      if (!this.#known.has(entry.path))
        this.#known.set(entry.path, { found: { entry }, version, at, used: false });
  }
}

/** Returns the page of a listing from entries that are sorted by path. */
export function pageOf(
  sorted: readonly Entry[],
  { prefix = "/", depth = Number.POSITIVE_INFINITY, after = "", limit }: ListRequest,
): Pick<EntryPage, "entries" | "next"> {
  const below = prefix === "/" ? "/" : `${prefix}/`;
  const level = below.split("/").length - 1;
  const found = sorted.filter(
    ({ path }) =>
      path.startsWith(below) && compareCodePoints(path, after) > 0 && path.split("/").length - level <= depth,
  );
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return found.length > entries.length && last !== undefined ? { entries, next: last.path } : { entries };
}
