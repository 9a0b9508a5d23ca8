/**
 * The known entries of a file store: a tree that `stat` and `list` refresh, and the log of its changes. A content is read
 * for its hash only if the known entry has another version or no hash. A listing has an unreadable file, with no hash;
 * a look at its path fails.
 */
import { concurrentGroups } from "../../backends/concurrent.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { childOf, isWithin, parentOf, sortCodePoints } from "../../backends/paths.ts";
import type { Actor, Entry, Version } from "../entry.ts";
import type { NodeChange } from "../memory/draft.ts";
import { CommitLog } from "../memory/log.ts";
import { isDirNode, nodeAt, nodesOf, type StoredDir, type StoredNode } from "../memory/nodes.ts";
import { type StorageTree, TreeDraft } from "../search/tree.ts";
import { entryOf, type FileStore, type FoundEntry, versionOf } from "./file-store.ts";

/** The origin of a change in the log. A change that was found by looking has neither. */
interface ChangeOrigin {
  readonly key?: string | undefined;
  readonly actor?: Actor | undefined;
}

/** The maximum number of contents of which a path is known: those that were noted last. */
const MAX_KNOWN_CONTENTS = 200_000;

/** The known entries of a store. */
export class KnownTree {
  readonly log: CommitLog;
  readonly #store: FileStore;
  #tree: StorageTree = new TreeDraft().finish("");
  /** A path at which each content was seen. */
  readonly #pathByHash = new Map<string, string>();

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
    const stats = new Map<string, FoundEntry | null>();
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
    this.note(found);
    return errors;
  }

  /** Looks at everything below a directory, down to some depth. */
  async scan(top: string, depth: number, signal?: AbortSignal): Promise<void> {
    for (const error of (await this.look([top], signal)).values()) throw error;
    const found: Entry[] = [];
    let level: readonly string[] = this.entry(top)?.type === "dir" ? [top] : [];
    for (let left = depth; left > 0 && level.length > 0; left--) {
      const entries = await this.#listAll(level, signal);
      for (const entry of entries) found.push(entry);
      level = entries.filter(({ type }) => type === "dir").map(({ path }) => path);
    }
    this.note(found);
  }

  async #listAll(directories: readonly string[], signal: AbortSignal | undefined): Promise<readonly Entry[]> {
    const found: (readonly Entry[])[] = [];
    for (const group of concurrentGroups(directories)) {
      checkAborted(signal);
      found.push(...(await Promise.all(group.map((path) => this.#list(path)))));
    }
    return found.flat();
  }

  /** Adds entries, `gone` for what is removed, and logs what is new of them. */
  note(entries: readonly Entry[], origin: ChangeOrigin = {}): void {
    const changed = entries.filter((entry) => isNews(entry, this.entry(entry.path)));
    if (changed.length === 0) return;
    const before = this.root;
    const draft = new TreeDraft(this.#tree);
    draft.apply(changed);
    this.#tree = draft.finish("");
    for (const { hash, path } of changed) if (hash !== undefined) this.#notePath(hash, path);
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

  /** Returns the entries of a directory, and `gone` for those that it had. */
  async #list(directory: string): Promise<readonly Entry[]> {
    const entries: Entry[] = [];
    const unknown: FoundEntry[] = [];
    for (const found of await this.#store.list(directory)) {
      const entry = this.#same(found);
      if (entry === undefined) unknown.push(found);
      else entries.push(entry);
    }
    for (const group of concurrentGroups(unknown)) {
      const read = await Promise.all(group.map((found) => this.#listed(found)));
      for (const entry of read) if (entry !== null) entries.push(entry);
    }
    const names = new Set(entries.map(({ path }) => path));
    const known = nodeAt(this.root, directory);
    const before = isDirNode(known) ? [...known.children.keys()] : [];
    const gone = before.map((name) => childOf(directory, name)).filter((path) => !names.has(path));
    return [...entries, ...gone.map((path) => this.gone(path))];
  }

  /** Returns the known entry, if it has the version of what is there and the hash of a file. */
  #same(found: FoundEntry): Entry | undefined {
    const known = this.entry(found.path);
    if (known?.version !== versionOf(found)) return undefined;
    return known.type === "file" && known.hash === undefined ? undefined : known;
  }

  /** Returns the entry of a listing: without a hash where the content of a file cannot be read. */
  async #listed(found: FoundEntry): Promise<Entry | null> {
    try {
      return await this.#entry(found);
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      return entryOf(found, undefined);
    }
  }

  async #entry(found: FoundEntry | null): Promise<Entry | null> {
    if (found === null) return null;
    const known = this.#same(found);
    if (known !== undefined) return known;
    if (found.type !== "file") return entryOf(found, undefined);
    try {
      const { hash, file } = await this.#store.hash(found.path);
      return entryOf(file, hash);
    } catch (error) {
      // It has vanished since it was found.
      if (error instanceof FilewrightError && error.code === "NOT_FOUND") return null;
      throw error;
    }
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
  return known?.version !== entry.version || known.type !== entry.type || known.hash !== entry.hash;
}

/** Returns the states of all changed paths before and after, with what lay below a removed or replaced directory. */
function changesBetween(
  before: StoredDir,
  after: StoredDir,
  changed: readonly Entry[],
): readonly NodeChange[] {
  const paths = new Set<string>();
  for (const { path, type } of changed) {
    paths.add(path);
    const old = nodeAt(before, path);
    if (type === "dir" || !isDirNode(old)) continue;
    for (const { entry } of nodesOf(old as StoredNode)) paths.add(entry.path);
  }
  return [...paths].map((path) => ({ path, before: nodeAt(before, path), after: nodeAt(after, path) }));
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
