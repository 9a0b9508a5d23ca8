/**
 * The known entries of a file store: a tree that `look` and `scan` refresh, and the log of its changes. A content is read
 * for its hash only if the known entry has another version or no hash. A listing has an unreadable file, with no hash,
 * and an unreadable directory, with the code of its error; a look at the path of the file, and a listing of the
 * directory itself, fail.
 *
 * Looks run concurrently. A path that another look has found changed since this one began is looked at once more: the
 * order of the two answers is unknown.
 */
import { concurrentGroups } from "../../backends/concurrent.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { childOf, isWithin, parentOf, sortCodePoints } from "../../backends/paths.ts";
import type { Actor, Entry, StoredDir, StoredNode, Version } from "../entry.ts";
import { unlistedError } from "../failure.ts";
import type { Changed } from "../../backends/entry.ts";
import { changedAt } from "../draft.ts";
import { CommitLog } from "../memory/log.ts";
import { isDirNode, nodeAt, nodesOf } from "../../backends/tree/nodes.ts";
import { type StorageTree, EntriesDraft } from "../search/tree.ts";
import type { FileStore } from "./file-store.ts";

/** The origin of a change in the log. A change that was found by looking has neither. */
interface ChangeOrigin {
  readonly key?: string | undefined;
  readonly actor?: Actor | undefined;
}

/** The maximum number of contents of which a path is known: those that were noted last. */
const MAX_KNOWN_CONTENTS = 200_000;

/** The number of looks at a path that others find changed meanwhile; the last one counts, even if it is older. */
const MAX_LOOKS = 10;

/** The time after which a listing tries to read an unreadable file again, in milliseconds. */
const RETRY_MS = 5000;

/** The number of unreadable files of which that time is known. */
const MAX_TRIED = 10_000;

/** The entries of a directory, `gone` for those that it had; with the error of one that cannot be listed. */
interface Listed {
  readonly directory: Entry;
  readonly entries: readonly Entry[];
  readonly failure: FilewrightError | null;
}

/** The known entries of a store. */
export class KnownTree {
  readonly log: CommitLog;
  readonly #store: FileStore;
  #tree: StorageTree = new EntriesDraft().finish("");
  /** A path at which each content was seen. */
  readonly #pathByHash = new Map<string, string>();
  /** The times at which unreadable files were tried. */
  readonly #triedAt = new Map<string, number>();
  /** The directories that could not be listed. Some of them may be gone or other entries by now. */
  readonly #unlisted = new Set<string>();

  constructor(store: FileStore, keep: number) {
    this.#store = store;
    this.log = new CommitLog(keep);
  }

  get root(): StoredDir {
    return this.#tree.root;
  }

  entry(path: string): Entry | undefined {
    return nodeAt(this.root, path)?.entry;
  }

  /** Returns a path at which a content was seen. */
  pathOf(hash: string): string | undefined {
    return this.#pathByHash.get(hash);
  }

  /**
   * Looks at some paths and the directories above them, and brings the tree to what is there. Nothing is below a link
   * or a file. Returns the errors of paths that cannot be read.
   */
  async look(paths: Iterable<string>, signal?: AbortSignal): Promise<ReadonlyMap<string, FilewrightError>> {
    const errors = new Map<string, FilewrightError>();
    let left: readonly string[] = [...paths];
    for (let looks = 1; ; looks++) {
      const since = this.log.head;
      for (const path of left) errors.delete(path);
      const found = await this.#found(left, errors, signal);
      const unsure = looks === MAX_LOOKS ? [] : this.#unsure(found, since);
      const again = new Set(unsure);
      this.note(found.filter(({ path }) => !again.has(path)));
      if (unsure.length === 0) return errors;
      left = unsure;
    }
  }

  /** Notes entries that were found since a version, or looks at them again. */
  async see(entries: readonly Entry[], since: Version, signal?: AbortSignal): Promise<void> {
    const unsure = new Set(this.#unsure(entries, since));
    this.note(entries.filter(({ path }) => !unsure.has(path)));
    // What cannot be read stays as it is known.
    if (unsure.size > 0) await this.look(unsure, signal);
  }

  /** Returns the paths of those entries that differ from the known ones and may be older: others have noted changes. */
  #unsure(entries: readonly Entry[], since: Version): readonly string[] {
    const changed = this.log.pathsSince(since);
    if (changed?.size === 0) return [];
    const news = entries.filter((entry) => isNews(entry, this.entry(entry.path))).map(({ path }) => path);
    if (changed === undefined) return news;
    const above = withParents(changed);
    return news.filter((path) => above.has(path) || [...withParents([path])].some((at) => changed.has(at)));
  }

  /** Returns what is at some paths and above them. Errors are added to `errors`. */
  async #found(
    paths: Iterable<string>,
    errors: Map<string, FilewrightError>,
    signal: AbortSignal | undefined,
  ): Promise<readonly Entry[]> {
    const each = async <T>(
      items: readonly T[],
      pathOf: (item: T) => string,
      run: (item: T) => Promise<void>,
    ) => {
      for (const group of concurrentGroups(items)) {
        checkAborted(signal);
        await Promise.all(group.map((item) => notingError(errors, pathOf(item), () => run(item))));
      }
    };
    const stats = new Map<string, Entry | null>();
    const asked = [...withParents(paths)];
    const itself = (path: string): string => path;
    await each(asked, itself, async (path) => void stats.set(path, await this.#store.stat(path)));
    for (const path of sortCodePoints(asked))
      if (
        path !== "/" &&
        (stats.get(parentOf(path))?.type ?? "gone") !== "dir" &&
        !errors.has(parentOf(path))
      )
        stats.set(path, null);
    const found: Entry[] = [];
    await each(
      [...stats],
      ([path]) => path,
      async ([path, one]) => {
        found.push((await this.#entry(one)) ?? this.gone(path));
      },
    );
    return found;
  }

  /** Looks at everything below a directory, down to some depth. @throws the error of one that cannot be listed */
  async scan(top: string, depth: number, signal?: AbortSignal): Promise<void> {
    for (const error of (await this.look([top], signal)).values()) throw error;
    const since = this.log.head;
    const found: Entry[] = [];
    const first = this.entry(top);
    let level: readonly Entry[] = first?.type === "dir" ? [first] : [];
    for (let left = depth; left > 0 && level.length > 0; left--) {
      const listed = await this.#listAll(level, signal);
      const failure = level[0] === first ? (listed[0]?.failure ?? null) : null;
      if (failure !== null) throw failure;
      for (const entry of entriesOf(listed)) found.push(entry);
      level = listed.flatMap(({ entries }) => entries.filter(({ type }) => type === "dir"));
    }
    await this.see(found, since, signal);
  }

  async #listAll(directories: readonly Entry[], signal: AbortSignal | undefined): Promise<readonly Listed[]> {
    const found: Listed[] = [];
    for (const group of concurrentGroups(directories)) {
      checkAborted(signal);
      found.push(...(await Promise.all(group.map((directory) => this.#list(directory)))));
    }
    return found;
  }

  /** Looks at everything below the directories that could not be listed, where that is possible now. */
  async scanUnlisted(signal?: AbortSignal): Promise<void> {
    for (const path of [...this.#unlisted]) {
      if (this.entry(path)?.unreadable === undefined) this.#unlisted.delete(path);
      else
        await this.scan(path, Number.POSITIVE_INFINITY, signal).catch((error: unknown) => {
          if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
        });
    }
  }

  /** Checks that every known directory at and below a path can be listed. @throws its error */
  assertListed(path: string): void {
    const top = nodeAt(this.root, path);
    if (top === undefined) return;
    for (const { entry } of nodesOf(top))
      if (entry.unreadable !== undefined) throw unlistedError(entry.path, entry.unreadable);
  }

  /** Adds entries, `gone` for what is removed, and logs what is new of them. */
  note(entries: readonly Entry[], origin: ChangeOrigin = {}): void {
    const changed = entries.filter((entry) => isNews(entry, this.entry(entry.path)));
    if (changed.length === 0) return;
    const before = this.root;
    const draft = new EntriesDraft(this.#tree);
    draft.apply(changed);
    this.#tree = draft.finish("");
    for (const { hash, path, unreadable } of changed) {
      if (hash !== undefined) this.#notePath(hash, path);
      if (unreadable !== undefined) this.#unlisted.add(path);
    }
    const changes = changesBetween(before, this.root, changed);
    this.log.add({ at: Date.now(), key: origin.key, actor: origin.actor, changes });
  }

  #notePath(hash: string, path: string): void {
    this.#pathByHash.delete(hash);
    this.#pathByHash.set(hash, path);
    if (this.#pathByHash.size > MAX_KNOWN_CONTENTS)
      this.#pathByHash.delete(this.#pathByHash.keys().next().value as string);
  }

  /** Returns the entry of a path that has nothing. */
  gone(path: string): Entry {
    return Object.freeze({ path, type: "gone", version: this.log.nextVersion, mtime: Date.now() });
  }

  async #list(directory: Entry): Promise<Listed> {
    const { path } = directory;
    const known = nodeAt(this.root, path);
    const before = isDirNode(known) ? [...known.children.keys()].map((name) => childOf(path, name)) : [];
    let failure: FilewrightError | null = null;
    const there = await this.#store.list(path).catch((error: unknown) => {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      failure = error;
      return this.#stillThere(before);
    });
    const entries: Entry[] = [];
    const unknown: Entry[] = [];
    for (const found of there) {
      const entry = this.#same(found) ?? this.#untried(found);
      if (entry === undefined) unknown.push(found);
      else entries.push(entry);
    }
    for (const group of concurrentGroups(unknown)) {
      const read = await Promise.all(group.map((found) => this.#listed(found)));
      for (const entry of read) if (entry !== null) entries.push(entry);
    }
    const names = new Set(entries.map((entry) => entry.path));
    for (const one of before) if (!names.has(one)) entries.push(this.gone(one));
    return { directory, entries, failure };
  }

  /** Returns those known entries of an unreadable directory that can still be looked at. The others are gone. */
  async #stillThere(paths: readonly string[]): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (const group of concurrentGroups(paths)) {
      const stats = await Promise.all(group.map((path) => this.#store.stat(path).catch(nullUnlessCancelled)));
      for (const one of stats) if (one !== null) found.push(one);
    }
    return found;
  }

  /** Returns the known entry, if it has the version of what is there and the hash of a file. */
  #same(found: Entry): Entry | undefined {
    const known = this.entry(found.path);
    if (known?.version !== found.version) return undefined;
    return known.type === "file" && known.hash === undefined ? undefined : known;
  }

  /** Returns the known entry of an unreadable file that a listing does not try to read again yet. */
  #untried(found: Entry): Entry | undefined {
    const triedAt = this.#triedAt.get(found.path);
    if (triedAt === undefined || performance.now() - triedAt >= RETRY_MS) return undefined;
    const known = this.entry(found.path);
    return known?.version === found.version ? known : undefined;
  }

  /** Returns the entry of a listing: without a hash where the content of a file cannot be read. */
  async #listed(found: Entry): Promise<Entry | null> {
    this.#triedAt.delete(found.path);
    try {
      return await this.#entry(found);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      if (this.#triedAt.size >= MAX_TRIED) this.#triedAt.clear();
      this.#triedAt.set(found.path, performance.now());
      return found;
    }
  }

  async #entry(found: Entry | null): Promise<Entry | null> {
    if (found === null) return null;
    const known = this.#same(found);
    if (known !== undefined) return known;
    if (found.type !== "file" || found.hash !== undefined) return found;
    try {
      return await this.#store.hash(found.path);
    } catch (error) {
      // It has vanished since it was found.
      if (error instanceof FilewrightError && error.code === "NOT_FOUND") return null;
      throw error;
    }
  }
}

/** Returns null for what cannot be looked at. @throws CANCELLED, and what is no error of a storage */
function nullUnlessCancelled(error: unknown): null {
  if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
  return null;
}

/** Yields the entries of listed directories, and of those that can be listed again, or no more. */
function* entriesOf(listed: readonly Listed[]): Generator<Entry> {
  for (const { directory, entries, failure } of listed) {
    if (failure?.code !== directory.unreadable) yield withFailure(directory, failure);
    yield* entries;
  }
}

/** Runs a part of a look, and notes its error under its path. */
async function notingError(
  errors: Map<string, FilewrightError>,
  path: string,
  run: () => Promise<void>,
): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    errors.set(path, error);
  }
}

/** Returns true for an entry that is not known yet. */
function isNews(entry: Entry, known: Entry | undefined): boolean {
  // The root of a tree is always there.
  if (entry.type === "gone") return known !== undefined && entry.path !== "/";
  return (
    known?.version !== entry.version ||
    known.type !== entry.type ||
    known.hash !== entry.hash ||
    known.unreadable !== entry.unreadable
  );
}

/** Returns the entry of a directory with the code of the error with which it cannot be listed. */
function withFailure(directory: Entry, failure: FilewrightError | null): Entry {
  const { unreadable: _unreadable, ...entry } = directory;
  return Object.freeze(failure === null ? entry : { ...entry, unreadable: failure.code });
}

/** Returns the states of all changed paths before and after, with what lay below a removed or replaced directory. */
function changesBetween(
  before: StoredDir,
  after: StoredDir,
  changed: readonly Entry[],
): readonly Changed<StoredNode>[] {
  const paths = new Set<string>();
  for (const { path, type } of changed) {
    paths.add(path);
    const old = nodeAt(before, path);
    if (type === "dir" || !isDirNode(old)) continue;
    for (const { entry } of nodesOf(old as StoredNode)) paths.add(entry.path);
  }
  return [...paths].map((path) => changedAt(path, before, after));
}

/** Returns the paths on the way to some paths, and these. */
function withParents(paths: Iterable<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const path of paths) for (let at = path; !found.has(at); at = parentOf(at)) found.add(at);
  return found;
}

/** Returns the version of the last change at or below a path since a version; undefined for none. */
export function lastChangeBelow(log: CommitLog, path: string, since: Version): Version | undefined {
  return log.lastChange(since, (changed) => isWithin(changed, path));
}
