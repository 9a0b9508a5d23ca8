/**
 * A storage in memory: the reference implementation of the contract `Storage`, for tests, demos and development. Only
 * its own process can use it, and its content is lost when the process ends. A commit runs without interruption, so
 * no reader sees half of it.
 */
import { checkStorageCalls } from "../call-options.ts";
import { DEFAULT_DIR_MODE } from "../../backends/entry.ts";
import { engine } from "../../engine/current.ts";
import { checkAborted, FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import { compareCodePoints, isWithin } from "../../backends/paths.ts";
import { callback, optionChecker, type Options, options as described } from "../../schema/option.ts";
import { checkOps, checkStoredPath, unmetBy } from "../check.ts";
import { closedError, conflictError, unknownVersionError } from "../failure.ts";
import { mergeCommit, mergeFork, type MergeSide, toPlanned } from "../merge.ts";
import { probeStorage } from "../probe.ts";
import type {
  ContentName,
  ChangePage,
  ChangesOptions,
  Committed,
  CommitOptions,
  Entry,
  EntryPage,
  Expect,
  ForkOptions,
  ListRequest,
  LockAllOptions,
  LockedPaths,
  LockPath,
  Merged,
  MergeOfForkOptions,
  Op,
  Past,
  PastRequest,
  ProbeOptions,
  ReadEntry,
  ReadMany,
  ReadManyOptions,
  Snapshot,
  Storage,
  StorageCall,
  StorageFacts,
  UnmetExpect,
  Version,
} from "../storage.ts";
import { Contents } from "./contents.ts";
import { Draft, type HeldContent, type ReadyOp } from "../draft.ts";
import { LeaseLocks } from "./locks.ts";
import { CommitLog } from "./log.ts";
import {
  changedPaths,
  emptyDirectory,
  entriesPage,
  isDirNode,
  isFileNode,
  nodeAt,
} from "../../backends/tree/nodes.ts";
import type { StoredDir, StoredNode } from "../entry.ts";
import { MemoryRecords } from "../../records/memory.ts";

/** Options of a storage in memory. */
export interface MemoryStorageOptions {
  /** The clock of a storage in memory, which returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * The table of the options of {@link memoryStorage}, with the type and the check of each.
 *
 * @printed
 */
export const MEMORY_STORAGE_OPTIONS: Options<MemoryStorageOptions> = described("MemoryStorageOptions", {
  now: callback(),
});

const checkOptions = optionChecker("memoryStorage", MEMORY_STORAGE_OPTIONS);

/** The number of commits that are kept for `changes` and the history. */
const KEPT_COMMITS = 10_000;
/** The time in milliseconds for which the answer to an idempotency key is kept. */
const KEY_MS = 24 * 60 * 60 * 1000;
/** The size in bytes from which a content is hashed on another thread. */
const MIN_ASYNC_HASH_BYTES = 64 * 1024;

const FACTS: StorageFacts = Object.freeze({
  cas: true,
  atomic: true,
  shared: false,
  locks: "process",
  forks: true,
  history: true,
  links: true,
  modes: true,
  empty_dirs: true,
  durable: false,
  limits: Object.freeze({
    bodyBytes: 1024 * 1024 * 1024,
    commitOps: 100_000,
    commitBytes: 1024 * 1024 * 1024,
    listPage: 100_000,
  }),
});

/** The data that a storage and all of its forks share. */
interface Family {
  readonly contents: Contents;
  /** The names of the open forks. The first storage has no name. */
  readonly names: Set<string>;
  readonly now: () => number;
}

/**
 * Makes an empty storage in memory.
 *
 * @example
 * const storage = memoryStorage();
 * const ws = await openWorkspace({ storage, root: "/repo" });
 */
export function memoryStorage(options: MemoryStorageOptions = {}): MemoryStorage {
  const { now = Date.now } = checkOptions(options);
  const entry: Entry = Object.freeze({
    path: "/",
    type: "dir",
    version: "0",
    mode: DEFAULT_DIR_MODE,
    mtime: now(),
  });
  const family = { contents: new Contents(), names: new Set<string>(), now };
  return new MemoryStorageEngine(family, emptyDirectory(entry), new CommitLog(KEPT_COMMITS));
}

/** A storage in memory: every optional method of the contract but `search`. */
export type MemoryStorage = Storage &
  Required<
    Pick<
      Storage,
      "statMany" | "lockAll" | "snapshot" | "fork" | "merge" | "drop" | "history" | "readContents" | "records"
    >
  >;

class MemoryStorageEngine implements MemoryStorage {
  readonly #family: Family;
  readonly #log: CommitLog;
  readonly #locks = new LeaseLocks();
  readonly #snapshots = new Map<Version, { readonly root: StoredDir; holders: number }>();
  readonly #keys = new Map<string, { readonly answer: Committed; readonly until: number }>();
  readonly #name: string | undefined;
  declare readonly forkedAt?: Version;
  /**
   * The base of the next three-way merge from each fork of this storage and from its parent: the state at the fork,
   * later the state of the other storage when it was last merged into this one.
   */
  readonly #merged = new Map<Storage, StoredDir>();
  #root: StoredDir;
  #closed = false;
  readonly records: MemoryRecords;

  constructor(family: Family, root: StoredDir, log: CommitLog, name?: string) {
    if (name !== undefined) this.forkedAt = log.head;
    this.#family = family;
    this.#root = root;
    this.#log = log;
    this.#name = name;
    this.records = new MemoryRecords(family.now);
  }

  async probe(options: ProbeOptions = {}): Promise<StorageFacts> {
    this.#check(options);
    // The probe writes, so it tries the same code on a storage of its own.
    const scratch = memoryStorage({ now: this.#family.now });
    await probeStorage(scratch, options);
    return FACTS;
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    this.#check(options);
    const root = this.#at(options.at);
    let remainingBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
    const results = paths.map((path): ReadEntry | FilewrightError | null => {
      try {
        checkStoredPath(path);
      } catch (error) {
        return error as FilewrightError;
      }
      const node = nodeAt(root, path);
      if (node === undefined) return null;
      const { entry } = node;
      if (options.bodies === false || !isFileNode(node)) return { entry };
      if (node.bytes.length > remainingBytes) {
        // Every later file is left out as well, even an empty one.
        remainingBytes = -1;
        return { entry, left: true };
      }
      remainingBytes -= node.bytes.length;
      return { entry, body: new Uint8Array(node.bytes) };
    });
    return { version: options.at ?? this.#log.head, results };
  }

  async statMany(paths: readonly string[], options: StorageCall = {}): Promise<readonly (Entry | null)[]> {
    this.#check(options);
    for (const path of paths) checkStoredPath(path);
    return paths.map((path) => nodeAt(this.#root, path)?.entry ?? null);
  }

  async list(request: ListRequest): Promise<EntryPage> {
    this.#check(request);
    const { prefix = "/", depth = Number.POSITIVE_INFINITY, after = "", limit } = request;
    const node = nodeAt(this.#at(request.at), prefix);
    const version = request.at ?? this.#log.head;
    const page = entriesPage(node, { depth, after, limit: Math.min(limit, FACTS.limits.listPage) });
    return { ...page, top: node?.entry ?? null, version };
  }

  async changes(since: Version | null, options: ChangesOptions): Promise<ChangePage> {
    this.#check(options);
    return this.#log.changes(since, options.limit, this.#root);
  }

  async commit(ops: readonly Op[], options: CommitOptions = {}): Promise<Committed> {
    this.#check(options);
    checkOps(ops, FACTS.limits);
    const ready: ReadyOp<HeldContent>[] = [];
    for (const op of ops) ready.push(await this.#prepare(op));
    this.#check(options);
    // From here on nothing is awaited, so no other call runs between the check of the conditions and the changes.
    return this.#commit(ready, options);
  }

  async readContents(
    contents: readonly ContentName[],
    options: StorageCall = {},
  ): Promise<readonly (Uint8Array | null)[]> {
    this.#check(options);
    return contents.map(({ hash }) => this.#family.contents.get(hash)?.slice() ?? null);
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#name !== undefined) this.#family.names.delete(this.#name);
  }

  async lockAll(paths: readonly LockPath[], options: LockAllOptions): Promise<LockedPaths> {
    this.#check(options);
    const token = await this.#locks.acquire(paths, options);
    const release = async (): Promise<void> => this.#locks.release(token);
    if (options.read === undefined) return { token, release };
    try {
      return { token, release, read: await this.readMany(options.read, { maxBytes: options.maxBytes }) };
    } catch (error) {
      await release();
      throw error;
    }
  }

  async snapshot(options: StorageCall = {}): Promise<Snapshot> {
    this.#check(options);
    const at = this.#log.head;
    const kept = this.#snapshots.get(at) ?? { root: this.#root, holders: 0 };
    kept.holders++;
    this.#snapshots.set(at, kept);
    let released = false;
    const release = async (): Promise<void> => {
      if (released) return;
      released = true;
      kept.holders--;
      if (kept.holders === 0) this.#snapshots.delete(at);
    };
    return { at, release };
  }

  async fork(name: string, options: ForkOptions = {}): Promise<MemoryStorage> {
    this.#check(options);
    if (typeof name !== "string" || name === "")
      throw new FilewrightError("INVALID_ARGUMENT", "a fork needs a name");
    const { names } = this.#family;
    if (names.has(name)) throw new FilewrightError("ALREADY_EXISTS", `there is a workspace '${name}'`);
    const root = this.#at(options.at);
    const version = options.at ?? this.#log.head;
    names.add(name);
    const fork = new MemoryStorageEngine(this.#family, root, this.#log.forkedAt(version), name);
    this.#merged.set(fork, root);
    fork.#merged.set(this, root);
    return fork;
  }

  async merge(from: Storage, options: MergeOfForkOptions = {}): Promise<Merged> {
    this.#check(options);
    const origin = this.#merged.get(from);
    if (origin === undefined || !(from instanceof MemoryStorageEngine))
      throw new FilewrightError("INVALID_ARGUMENT", "this is neither a fork of the storage nor its parent");
    const repeated = options.key === undefined ? undefined : this.#earlierAnswer(options.key);
    if (repeated !== undefined) return { ...repeated, conflicts: [] };
    const theirs = from.#root;
    const changed = changedPaths(origin, theirs);
    return mergeFork(options, async () => {
      const ours = this.#root;
      const sides = {
        base: sideOf(origin),
        ours: { ...sideOf(ours), children: async (path: string) => childPaths(ours, path) },
        theirs: sideOf(theirs),
      };
      return {
        version: this.#log.head,
        changed,
        sides,
        planned: (plan) => toPlanned(plan, sides),
        commit: async (plan) => {
          const answer = await this.commit(plan.ops, mergeCommit(plan, options));
          this.#merged.set(from, theirs);
          return answer;
        },
      };
    });
  }

  async drop(options: StorageCall = {}): Promise<void> {
    this.#check(options);
    // Its forks share its nodes, which the garbage collector frees with the last of them.
    await this.close();
    for (const relative of this.#merged.keys())
      if (relative instanceof MemoryStorageEngine) relative.#merged.delete(this);
    this.#merged.clear();
  }

  async history(request: PastRequest): Promise<readonly Past[]> {
    this.#check(request);
    return this.#log.history(request);
  }

  #check(options: StorageCall): void {
    if (this.#closed) throw closedError();
    checkAborted(options.signal);
  }

  /** Returns the tree of a snapshot; without a version, the present tree. */
  #at(version: Version | undefined): StoredDir {
    if (version === undefined) return this.#root;
    const kept = this.#snapshots.get(version);
    if (kept === undefined) throw unknownVersionError(version);
    return kept.root;
  }

  /** Prepares an operation for a {@link Draft}: finds or copies its content and computes the hash. */
  async #prepare(op: Op): Promise<ReadyOp<HeldContent>> {
    const { contents } = this.#family;
    // `link` names a known content by its hash. It makes no symbolic link.
    if (op.op === "link") {
      const body = contents.get(op.hash);
      if (body === undefined || body.length !== op.size)
        throw backendError("NOT_FOUND", op.path, "the storage has no such content");
      return { op: "put", path: op.path, body, hash: op.hash, size: op.size, mode: op.mode };
    }
    if (op.op !== "put") return op;
    // The caller may change its array while a large content is hashed, and after the commit.
    const own = new Uint8Array(op.body);
    const hash =
      own.length < MIN_ASYNC_HASH_BYTES ? engine().sha256(own) : await engine().onThreads.sha256(own);
    if (op.hash !== undefined && op.hash !== hash)
      throw backendError("INVALID_ARGUMENT", op.path, "the hash is not that of the content");
    const body = contents.add(hash, own);
    return { op: "put", path: op.path, body, hash, size: body.length, mode: op.mode };
  }

  #commit(ops: readonly ReadyOp<HeldContent>[], options: CommitOptions): Committed {
    const { key, expect = [], token, release, records = [], actor } = options;
    const repeated = key === undefined ? undefined : this.#earlierAnswer(key);
    if (repeated !== undefined) return repeated;
    if (token !== undefined) this.#locks.check(token);
    const unmet = [...expect.flatMap((one) => this.#unmet(one) ?? []), ...this.records.unmet(records)];
    if (unmet.length > 0) throw conflictError(unmet);
    const now = this.#family.now();
    const { nextVersion } = this.#log;
    const draft = new Draft(this.#root, () => nextVersion, now);
    for (const op of ops) draft.apply(op);
    this.records.apply(records);
    const changes = draft.changes();
    if (changes.length > 0) {
      this.#root = draft.root;
      this.#log.add({ at: now, key, actor, changes });
    }
    const answer = Object.freeze({ version: this.#log.head, entries: Object.freeze(draft.entries()) });
    if (key !== undefined) this.#saveAnswer(key, answer, now);
    if (release === true && token !== undefined) this.#locks.release(token);
    return answer;
  }

  /** Returns the answer to an earlier commit with this idempotency key, unless the key has expired. */
  #earlierAnswer(key: string): Committed | undefined {
    const known = this.#keys.get(key);
    if (known === undefined || known.until <= this.#family.now()) return undefined;
    return { ...known.answer, repeated: true };
  }

  #saveAnswer(key: string, answer: Committed, now: number): void {
    this.#keys.delete(key);
    this.#keys.set(key, { answer, until: now + KEY_MS });
    // A map yields its keys in the order in which they were added, so the expired ones come first.
    for (const [old, { until }] of this.#keys) {
      if (until > now) break;
      this.#keys.delete(old);
    }
  }

  /** Returns the condition with what was found instead; undefined if it holds. */
  #unmet(expect: Expect): UnmetExpect | undefined {
    const { path } = expect;
    const changed =
      "tree" in expect ? this.#log.lastChange(expect.tree, (one) => isWithin(one, path)) : undefined;
    return unmetBy(expect, nodeAt(this.#root, path)?.entry, changed);
  }
}

checkStorageCalls(MemoryStorageEngine.prototype, "memoryStorage");

/** Returns the functions by which `planMerge` reads one of the three states of a merge. */
function sideOf(root: StoredDir): MergeSide {
  const body = (node: StoredNode | undefined): Uint8Array =>
    isFileNode(node) ? node.bytes : new Uint8Array(0);
  return {
    entries: async (paths) => paths.map((path) => nodeAt(root, path)?.entry ?? null),
    bodies: async (paths) => paths.map((path) => body(nodeAt(root, path))),
  };
}

/** Returns the sorted paths directly below a directory; none for any other path. */
function childPaths(root: StoredDir, path: string): readonly string[] {
  const node = nodeAt(root, path);
  if (!isDirNode(node)) return [];
  return [...node.children.values()].map(({ entry }) => entry.path).sort(compareCodePoints);
}
