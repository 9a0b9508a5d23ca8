/**
 * The newest tree of a storage, kept in memory: it is listed once, and then asked for what has changed. So a search or
 * a listing costs one round trip, however many directories it reads.
 */
import { debug } from "../../engine/debug.ts";
import { messageOf } from "../../engine/thrown.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import type { Entry, Version } from "../entry.ts";
import type { Storage } from "../storage.ts";
import { type StorageTree, EntriesDraft } from "./tree.ts";

/** The parts of a storage that its trees are made from. */
export type ListedStorage = Pick<Storage, "list" | "readMany"> & Partial<Pick<Storage, "changes">>;

/** The number of entries of a page. */
const PAGE_ENTRIES = 10_000;
/** The number of changes of a page. */
const PAGE_CHANGES = 1000;
/** The number of pages of changes after which listing again costs less. */
const MAX_CHANGE_PAGES = 20;
/** The number of entries that are read at once for the first tree of a fork. */
const ENTRIES_PER_READ = 2000;
/** The number of gaps in a row after which a storage is listed without being asked for changes first. */
const MAX_GAPS = 2;
/** The number of entries that are kept in memory, about 250 bytes each. A larger storage is listed by each search. */
const MAX_KEPT_ENTRIES = 1_000_000;

/** How old a tree may be. */
export interface FreshOptions {
  readonly signal?: AbortSignal | undefined;
  /** The age in milliseconds up to which a tree is used without asking the storage. Default 0. */
  readonly maxAgeMs?: number | undefined;
}

/** The beginning of a fork. */
interface TreeOrigin {
  /** The trees of the storage from which it was forked. */
  readonly trees: StorageTrees;
  /** The version of that storage at which the fork began. */
  readonly at: Version;
}

/** The trees of one storage. */
export class StorageTrees {
  readonly #storage: ListedStorage;
  #kept: StorageTree | undefined;
  /** The time at which the kept tree was asked for. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #running: Promise<StorageTree> | undefined;
  #next: Promise<StorageTree> | undefined;
  #gaps = 0;
  /** The origin of a fork, from which its first tree is made. */
  readonly #origin: TreeOrigin | undefined;

  constructor(storage: ListedStorage, origin?: TreeOrigin) {
    this.#storage = storage;
    this.#origin = origin;
  }

  /** The tree that was answered last; undefined before the first one. */
  get last(): StorageTree | undefined {
    return this.#kept;
  }

  /** Records a change that this process has made: the next search asks the storage, however fresh the tree is. */
  changed(): void {
    this.#askedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Returns a tree with every change that was made before this call, or before `maxAgeMs`. Callers at the same time
   * share a round trip. @throws CANCELLED, IO_ERROR
   */
  async fresh({ signal, maxAgeMs = 0 }: FreshOptions = {}): Promise<StorageTree> {
    if (this.#kept !== undefined && performance.now() - this.#askedAt < maxAgeMs) return this.#kept;
    return untilAborted(this.#ask(), signal);
  }

  /** Asks once more after the question that is under way, which may be older than the caller. */
  #ask(): Promise<StorageTree> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(
      () => this.#begin(),
      () => this.#begin(),
    );
    return this.#next;
  }

  #begin(): Promise<StorageTree> {
    this.#next = undefined;
    const askedAt = performance.now();
    const running = this.#read().then((tree) => {
      this.#kept = tree.count <= MAX_KEPT_ENTRIES ? tree : undefined;
      this.#askedAt = askedAt;
      return tree;
    });
    this.#running = running;
    const ended = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(ended, ended);
    return running;
  }

  async #read(): Promise<StorageTree> {
    const { changes } = this.#storage;
    const before = this.#kept;
    if (before !== undefined && changes !== undefined && this.#gaps < MAX_GAPS) {
      const tree = await this.#follow(before);
      if (tree !== undefined) {
        this.#gaps = 0;
        return tree;
      }
      this.#gaps++;
    }
    return (before === undefined ? await this.#derive() : undefined) ?? this.#list();
  }

  /**
   * Returns the tree of a fork, made from a tree of its origin: what neither side has changed since the fork is shared.
   * Undefined where listing is needed or costs less.
   */
  async #derive(): Promise<StorageTree | undefined> {
    if (this.#origin === undefined || this.#storage.changes === undefined) return undefined;
    const { trees, at } = this.#origin;
    try {
      let known = trees.last;
      // A newer tree is as good: what the origin has changed since the fork is read from the fork.
      if (known?.version !== at) known = await trees.fresh();
      const draft = new EntriesDraft(known);
      if (known.version !== at) {
        const changed = await trees.#changes(at);
        if (changed === undefined) return undefined;
        draft.apply(await this.#entriesAt(changed.entries.map(({ path }) => path)));
      }
      return await this.#follow(draft.finish(at));
    } catch (error) {
      // The origin may be closed.
      debug.search?.(`no tree of the origin: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Returns the entries of some paths, `gone` for what is not there. */
  async #entriesAt(paths: readonly string[]): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (let from = 0; from < paths.length; from += ENTRIES_PER_READ) {
      const wanted = paths.slice(from, from + ENTRIES_PER_READ);
      const { results } = await this.#storage.readMany(wanted, { bodies: false });
      for (const [index, path] of wanted.entries()) {
        const one = results[index] ?? null;
        if (one instanceof FilewrightError) throw one;
        found.push(one?.entry ?? { path, type: "gone", version: "" });
      }
    }
    return found;
  }

  /** Brings a tree to the present; undefined where listing again is needed or costs less. */
  async #follow(before: StorageTree): Promise<StorageTree | undefined> {
    const changed = await this.#changes(before.version);
    if (changed === undefined) return undefined;
    const { entries, head } = changed;
    if (entries.length === 0 && head === before.version) return before;
    const draft = new EntriesDraft(before);
    draft.apply(entries);
    return draft.finish(head);
  }

  /** Returns all changes since a version; undefined where it is not kept, or listing costs less. */
  async #changes(
    version: Version,
  ): Promise<{ readonly entries: readonly Entry[]; readonly head: Version } | undefined> {
    const entries: Entry[] = [];
    let since = version;
    for (let pages = 0; pages < MAX_CHANGE_PAGES; pages++) {
      const page = await this.#storage.changes?.(since, { limit: PAGE_CHANGES });
      if (page === undefined || page.gap === true) return undefined;
      entries.push(...page.entries);
      if (page.next === undefined) return { entries, head: page.head };
      since = page.next;
    }
    return undefined;
  }

  async #list(): Promise<StorageTree> {
    const draft = new EntriesDraft();
    let first: Version | undefined;
    let torn = false;
    for (let after: string | undefined; ; ) {
      const page = await this.#storage.list({ prefix: "/", after, limit: PAGE_ENTRIES });
      first ??= page.version;
      torn ||= page.version !== first;
      if (page.top !== null) draft.top(page.top);
      draft.apply(page.entries);
      if (page.next === undefined) break;
      after = page.next;
    }
    const tree = draft.finish(first);
    // Pages of several moments become one by the changes since the first.
    return torn ? ((await this.#follow(tree)) ?? tree) : tree;
  }
}

/** Returns the result of work that other callers share, or CANCELLED for this one. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(backendError("CANCELLED", "/"));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
