/**
 * A copy of the files of a storage on the disk of this machine, searched by the native engine and its index.
 *
 * A tree (`StorageTree`) is the list of all entries at one version. The copy is filled when the storage is first
 * searched, and is then brought to the tree of each later search. While it is being filled, and for searches that it
 * cannot answer, searches walk the storage: their answers are the same, but slower.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { debug } from "../../engine/debug.ts";
import { engine } from "../../engine/current.ts";
import { messageOf } from "../../engine/thrown.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { SearchResult } from "../../engine/search-types.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { LocalBackend } from "../../backends/local/local.node.ts";
import type { Entry, ReadEntry } from "../entry.ts";
import { changedPaths, nodeAt, nodesOf } from "../../backends/tree/nodes.ts";
import { endOfBatch, type TreeContents } from "../search/contents.ts";
import type { MirrorSearch, StorageMirror } from "../search/mirrored.ts";
import type { TreeStorage } from "../search/tree-storage.ts";
import type { StorageTree } from "../search/tree.ts";
import { divideForkSearch, searchFork } from "./fork-search.ts";
import { canAnswer } from "./can-answer.ts";
import { below, CopyDisks } from "./copy-disks.node.ts";
import { DiskCopy } from "./disk-copy.node.ts";
import { Gate } from "./gate.ts";
import type { MirrorPlace } from "./places.node.ts";
import { type MirrorUse, openMirrors, versionsBetween } from "./use.node.ts";

/**
 * The maximum number of changed files, and of their bytes, that a search waits for. When more have changed, the search
 * walks the storage while the copy is updated.
 */
const [MAX_AWAITED_FILES, MAX_AWAITED_BYTES] = [500, 4 << 20];
/** The number of bytes between two saves of the record while a copy is being filled. */
const BYTES_PER_SAVE = 64 << 20;
/** The time until a failed or emptied copy is filled again, and the time until the record is saved after a change. */
const [RETRY_MS, SAVE_MS] = [5000, 1000];
/** The maximum time that a search waits until the copy of an earlier process is opened and brought up to date. */
const MAX_OPENING_MS = 1000;
/** The maximum number of attempts to fill a copy while other writers change the storage. */
const MAX_TRIES = 4;
/** Errors that the query itself causes, so that a walk would fail with them as well. */
const QUERY_ERRORS: ReadonlySet<string> = new Set([
  ...["INVALID_ARGUMENT", "INVALID_REGEX", "INVALID_GLOB", "LIMIT_EXCEEDED", "CANCELLED"],
]);

/** The dependencies of a copy on its storage and its machine. */
export interface DiskMirrorParts {
  /** Reads contents from the storage. A file that a search is reading at the same time is read once for both. */
  readonly contents: Pick<TreeContents, "read">;
  /** Returns the present tree of the storage. */
  readonly fresh: () => Promise<StorageTree>;
  /** Returns the newest tree that a search has seen; undefined before the first one. */
  readonly newest: () => StorageTree | undefined;
  readonly place: MirrorPlace;
  /** The maximum number of bytes of all copies below the state directory. */
  readonly maxBytes: number;
}

/** The copy of one workspace of a storage. */
export class DiskMirror implements StorageMirror {
  readonly #contents: Pick<TreeContents, "read">;
  readonly #fresh: () => Promise<StorageTree>;
  readonly #newest: () => StorageTree | undefined;
  readonly #place: MirrorPlace;
  readonly #maxBytes: number;
  readonly #gate = new Gate();
  /** The tree whose files the copy has, exactly; undefined while it is being filled or updated. */
  #at: StorageTree | undefined;
  /** The newest tree that was asked for. */
  #wanted: StorageTree | undefined;
  #copy: DiskCopy | undefined;
  #opening: Promise<DiskCopy> | undefined;
  #following: Promise<void> | undefined;
  #retryAt = 0;
  #saveTimer: ReturnType<typeof setTimeout> | undefined;
  #notedAt = 0;
  #closed = false;
  readonly #disks: CopyDisks;

  constructor({ contents, fresh, newest, place, maxBytes }: DiskMirrorParts) {
    this.#contents = contents;
    this.#fresh = fresh;
    this.#newest = newest;
    this.#place = place;
    this.#maxBytes = maxBytes;
    this.#disks = new CopyDisks(place.directory);
    openMirrors.add(this);
  }

  /** The size of the copy, and how far it is behind. */
  get use(): MirrorUse {
    return {
      bytes: this.#copy?.bytes ?? 0,
      lagVersions: versionsBetween(this.#at?.version, this.#newest()?.version),
    };
  }

  /** The tree whose files the copy has; undefined while it is being filled or updated. */
  get at(): StorageTree | undefined {
    return this.#at;
  }

  /** Begins to bring the copy to a tree. The promise resolves when the attempt has ended, also when it failed. */
  follow(tree: StorageTree): Promise<void> {
    if (this.#wanted === undefined || tree.serial > this.#wanted.serial) this.#wanted = tree;
    if (this.#closed || performance.now() < this.#retryAt) return Promise.resolve();
    this.#following ??= this.#followAll().finally(() => {
      this.#following = undefined;
    });
    return this.#following;
  }

  prepare(): void {
    if (this.#closed || !this.#place.known) return;
    // A failure is told to the first search that needs the copy.
    this.#open().catch(() => undefined);
  }

  /** Opens the copy once. After a failure, the next call tries again. */
  #open(): Promise<DiskCopy> {
    this.#opening ??= this.#gate
      .write(() => DiskCopy.open(this.#place.directory))
      .catch((error: unknown) => {
        this.#opening = undefined;
        throw error;
      });
    return this.#opening;
  }

  near(entry: Entry): Promise<Uint8Array | undefined> {
    return this.#copy?.read(entry) ?? Promise.resolve(undefined);
  }

  async grep({ tree }: TreeStorage, search: MirrorSearch): Promise<SearchResult | undefined> {
    if (this.#closed) return undefined;
    if (this.#at === undefined) this.#disks.ask(search);
    if (!(await this.#reach(tree))) return undefined;
    return this.#search(search, ({ at, disk, files }) =>
      at.serial < tree.serial ? undefined : disk.grep(below(files, search.root), search.query),
    );
  }

  async grepFork(fork: TreeStorage, search: MirrorSearch): Promise<SearchResult | undefined> {
    if (this.#closed) return undefined;
    if (this.#at === undefined) {
      this.#disks.ask(search);
      await this.#soon(this.#following ?? this.#followNewest());
    }
    return this.#search(search, ({ at, disk, files }) => {
      const parts = divideForkSearch(at, fork, search);
      if (parts !== undefined)
        return searchFork(parts, search, (query) => disk.grep(below(files, search.root), query));
      // The fork differs in too much. It may be nearer to the present state of its parent.
      if (this.#following === undefined) void this.#followNewest();
      return undefined;
    });
  }

  /** Searches the copy in one state. Returns undefined where the copy cannot answer. */
  #search(
    search: MirrorSearch,
    run: (copy: SearchedCopy) => Promise<SearchResult> | undefined,
  ): Promise<SearchResult | undefined> {
    return this.#gate.read(async () => {
      const [copy, at] = [this.#copy, this.#at];
      if (copy === undefined || at === undefined) return undefined;
      const disk = canAnswer(at, copy.rest, search) ? this.#disks.for(search, copy.files) : undefined;
      if (disk === undefined) return undefined;
      this.#noteUse();
      try {
        return await run({ at, disk, files: copy.files });
      } catch (error) {
        if (!(error instanceof FilewrightError)) throw error;
        if (QUERY_ERRORS.has(error.code) && error.path === undefined) throw error;
        if (error.code === "CANCELLED") throw error;
        debug.search?.(`the copy on the disk cannot answer: ${error.code}`);
        return undefined;
      }
    });
  }

  /** Ends the use of the copy. It stays on the disk for the next process unless its place is temporary (`passing`). */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    openMirrors.delete(this);
    clearTimeout(this.#saveTimer);
    await this.#following?.catch(() => undefined);
    await this.#opening?.catch(() => undefined);
    await this.#gate.write(async () => {
      if (!this.#place.passing) this.#save();
      this.#disks.close();
      this.#place.release();
    });
  }

  /** Empties the copy to make room for other copies. Returns false, and does nothing, while the copy is in use. */
  evict(): boolean {
    if (this.#following !== undefined || this.#copy === undefined || !this.#gate.isIdle) return false;
    this.#at = undefined;
    this.#wanted = undefined;
    this.#disks.close();
    this.#copy.clear();
    this.#place.note(0);
    this.#retryAt = performance.now() + RETRY_MS;
    return true;
  }

  /** Brings the copy to a tree or a later one. Returns false where the search must not wait until that is done. */
  async #reach(tree: StorageTree): Promise<boolean> {
    const at = this.#at;
    if (at === undefined) {
      await this.#soon(this.follow(tree));
      return this.#isAt(tree);
    }
    if (at.serial >= tree.serial) return true;
    const changed = changedPaths(at.root, tree.root);
    const files = changed.map((path) => nodeAt(tree.root, path)?.entry).filter(isFile);
    const following = this.follow(tree);
    if (!isSmall(files)) return false;
    await following;
    return this.#isAt(tree);
  }

  /** Waits until the copy of an earlier process is opened: usually, a walk that reads the same files is slower. */
  async #soon(following: Promise<void>): Promise<void> {
    if (this.#place.known) await Promise.race([following, sleep(MAX_OPENING_MS, undefined, { ref: false })]);
  }

  /** Brings the copy to the present state of the storage. The promise resolves also when that failed. */
  async #followNewest(): Promise<void> {
    try {
      await this.follow(await this.#fresh());
    } catch (error) {
      debug.search?.(`the copy on the disk was not filled: ${messageOf(error)}`);
    }
  }

  #isAt({ serial }: StorageTree): boolean {
    return (this.#at?.serial ?? 0) >= serial;
  }

  async #followAll(): Promise<void> {
    try {
      this.#copy ??= await this.#open();
      let tries = 0;
      for (let next = this.#wanted; next !== undefined && next !== this.#at; next = this.#wanted) {
        if (this.#closed) return;
        if (await this.#bringTo(this.#copy, next)) continue;
        // A file was changed in the storage after the tree was made. Only the present state of a storage can be read.
        if (++tries === MAX_TRIES) return;
        this.#wanted = await this.#fresh();
      }
    } catch (error) {
      this.#retryAt = performance.now() + RETRY_MS;
      debug.search?.(`the copy on the disk was not filled: ${messageOf(error)}`);
    }
  }

  /** Makes the files of the copy those of a tree. Returns false when a file in the storage no longer has that state. */
  async #bringTo(copy: DiskCopy, tree: StorageTree): Promise<boolean> {
    const before = this.#at;
    const touched = before && changedPaths(before.root, tree.root);
    const entries =
      touched === undefined
        ? [...nodesOf(tree.root)].map(({ entry }) => entry)
        : touched.map((path) => nodeAt(tree.root, path)?.entry);
    const files = entries.filter(isFile);
    const stale = files.filter((entry) => !copy.holds(entry));
    const outdated = [...(touched ?? copy.paths)].filter((path) => !holdsFileOf(tree, copy, path));
    const bytes =
      copy.bytes +
      stale.reduce((sum, { size = 0 }) => sum + size, 0) -
      outdated.reduce((sum, path) => sum + copy.sizeOf(path), 0);
    if (stale.length > 0 && !this.#place.makeRoom(bytes, this.#maxBytes))
      throw new FilewrightError("NO_SPACE", "the storage is larger than the copies on this machine may be");
    const yielder = new Yielder({});
    /**
     * Removes files and directories that the tree does not have, and makes its missing directories. Files that change
     * are removed as well, so that the copy never takes more bytes than before or afterwards.
     */
    const matchStructure = async (): Promise<void> => {
      for (const path of outdated) {
        copy.remove(path);
        await yielder.yieldIfDue();
      }
      // What the tree still has below such a path stays missing, also where this update does not touch it.
      for (const path of copy.rest) if (!isKept(typeIn(tree, path))) copy.remove(path);
      for (const path of touched ?? [...copy.directories])
        if (typeIn(tree, path) !== "dir") copy.dropDirectory(path);
      for (const entry of entries) if (entry?.type === "dir") copy.addDirectory(entry.path);
    };
    if (before !== undefined && isSmall(stale)) {
      const found = await this.#read(stale);
      if (found === undefined) return false;
      await this.#gate.write(async () => {
        // If a step fails, the files belong to two trees, so the copy is of none until all steps are done.
        this.#at = undefined;
        await matchStructure();
        for (const one of found) await writeChecked(copy, one);
        this.#at = tree;
      });
      this.#saveSoon();
      return true;
    }
    // No search may use the copy from now on: once the running ones have ended, the files change without the gate.
    await this.#gate.write(async () => {
      this.#at = undefined;
    });
    await matchStructure();
    let unsaved = 0;
    const toBatch = stale.map((entry) => ({ entry }));
    let next = this.#read(stale.slice(0, endOfBatch(toBatch, 0)));
    for (let from = 0; from < stale.length; ) {
      const found = await next;
      from = endOfBatch(toBatch, from);
      if (found === undefined || this.#closed) return false;
      // The next batch is read from the storage while this one is written.
      next = this.#read(stale.slice(from, endOfBatch(toBatch, from)));
      next.catch(() => undefined);
      for (const one of found) {
        unsaved += await writeChecked(copy, one);
        await yielder.yieldIfDue();
      }
      if (unsaved > BYTES_PER_SAVE) {
        this.#save();
        unsaved = 0;
      }
    }
    this.#at = tree;
    this.#save();
    this.#disks.openAsked(copy.files);
    return true;
  }

  /** Reads files with their contents; undefined when one of them is no longer in the state of its entry. */
  async #read(entries: readonly Entry[]): Promise<readonly ReadEntry[] | undefined> {
    if (entries.length === 0) return [];
    const results = await this.#contents.read(entries);
    const found: ReadEntry[] = [];
    for (const [index, wanted] of entries.entries()) {
      const one = results[index] ?? null;
      if (one instanceof FilewrightError) throw one;
      if (one?.entry.hash !== wanted.hash) return undefined;
      found.push(one as ReadEntry);
    }
    return found;
  }

  #save(): void {
    this.#copy?.save();
    if (this.#copy !== undefined) this.#place.note(this.#copy.bytes);
  }

  #saveSoon(): void {
    if (this.#saveTimer !== undefined || this.#closed) return;
    this.#saveTimer = setTimeout(() => {
      this.#saveTimer = undefined;
      // A failure is harmless: after a crash, the files since the last save are read from the storage again.
      try {
        this.#save();
      } catch (error) {
        debug.search?.(`the record of the copy was not saved: ${messageOf(error)}`);
      }
    }, SAVE_MS);
    this.#saveTimer.unref();
  }

  /** Notes once a minute that the copy is in use, so that another one is evicted first. */
  #noteUse(): void {
    const now = performance.now();
    if (now - this.#notedAt < 60_000 || this.#copy === undefined) return;
    this.#notedAt = now;
    this.#place.note(this.#copy.bytes);
  }
}

/** Returns true for changes that are small enough for a search to wait for. */
function isSmall(files: readonly Entry[]): boolean {
  const bytes = files.reduce((sum, { size = 0 }) => sum + size, 0);
  return files.length <= MAX_AWAITED_FILES && bytes <= MAX_AWAITED_BYTES;
}

/** The copy in one state, as a search uses it. */
interface SearchedCopy {
  /** The tree whose files the copy has. */
  readonly at: StorageTree;
  /** The files of the copy that the search may see. */
  readonly disk: LocalBackend;
  /** The directory of the files. */
  readonly files: string;
}

/**
 * Writes a content that the storage returned, and returns its number of bytes.
 * @throws IO_ERROR when the content does not have the hash of its entry
 */
async function writeChecked(copy: DiskCopy, { entry, body }: ReadEntry): Promise<number> {
  const { path, hash = "" } = entry;
  const bytes = body ?? new Uint8Array(0);
  const actual =
    bytes.length < MIN_ASYNC_HASH_BYTES ? engine().sha256(bytes) : await engine().onThreads.sha256(bytes);
  if (actual !== hash)
    throw new FilewrightError("IO_ERROR", "the storage gave a content that is not that of its hash");
  copy.write(path, hash, bytes);
  return bytes.length;
}

/** The minimum size in bytes of a content that is hashed on another thread. */
const MIN_ASYNC_HASH_BYTES = 256 * 1024;

function isFile(entry: Entry | undefined): entry is Entry {
  return entry?.type === "file";
}

/** Returns true when the copy has the file at a path as it is in a tree. */
function holdsFileOf(tree: StorageTree, copy: DiskCopy, path: string): boolean {
  const entry = nodeAt(tree.root, path)?.entry;
  return isFile(entry) && copy.holds(entry);
}

/** Returns true for the types of entries that copies have. */
function isKept(type: Entry["type"] | undefined): boolean {
  return type === "file" || type === "dir";
}

/** Returns the type of an entry of a tree; undefined where there is none. */
function typeIn(tree: StorageTree, path: string): Entry["type"] | undefined {
  return nodeAt(tree.root, path)?.entry.type;
}
