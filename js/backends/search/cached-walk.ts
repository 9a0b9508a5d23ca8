/**
 * The cached walks of a backend that knows all of its files: the files that a query searches, each with the code of its
 * content, which is its number in the index, or a negative state (`held.ts`).
 */
import { WalkCache, type StampOf } from "../walk/walk-memo.ts";
import type { WalkCounts } from "../walk/walk.ts";
import type { HeldFile } from "./held-file.ts";

/**
 * The number of files by which a walk is ahead of the search. The counts of a result include the walk up to there.
 */
export const WALK_AHEAD_FILES = 8;
/** The maximum number of cached walks of a backend, of all queries under all policies. */
const MAX_WALKS = 32;
/** The maximum number of files of a walk that is cached. */
const MAX_WALK_FILES = 500_000;
/** The maximum number of files of a walk whose cached directories the next walk of the query reuses. */
const MAX_REMEMBERED_PATHS = 100_000;

/** The counts of a walk besides its files. */
export type Counts = Pick<WalkCounts, "unreadable" | "ignored">;

/** A file, and the code of the content that it had when it was last looked at. */
export interface WalkedFile {
  /** The file, or an error where it may not be read. */
  readonly file: HeldFile | Error;
  content: object | undefined;
  code: number;
  /** The generation of the index from which the code of the content is. */
  generation: number;
}

/** The files that a query searches, in path order, and the counts of the walk that found them. */
export class CachedWalk {
  readonly paths: string[] = [];
  readonly slots: WalkedFile[] = [];
  /** The counts of the walk from its start up to each file. */
  readonly #unreadable: number[] = [];
  readonly #ignored: number[] = [];
  total: Counts = { unreadable: 0, ignored: 0 };
  /** The shape of the tree that was walked. */
  shape = "";
  /** The directories of the walk, for the next one. */
  readonly memo: WalkCache;

  /** `before` is the last walk of the same query, whose unchanged directories are taken over. */
  constructor(stampOf: StampOf, before: CachedWalk | undefined) {
    const isSmall = before !== undefined && before.paths.length <= MAX_REMEMBERED_PATHS;
    this.memo = isSmall ? before.memo.continued(stampOf) : new WalkCache(stampOf);
  }

  add(path: string, slot: WalkedFile, counts: Counts): void {
    this.paths.push(path);
    this.slots.push(slot);
    this.#unreadable.push(counts.unreadable);
    this.#ignored.push(counts.ignored);
  }

  /**
   * Returns the counts for a search that ends at the file with this index. A search without the cache walks
   * `WALK_AHEAD_FILES` ahead, so the counts are those of the walk that far ahead.
   */
  countsAt(place: number): Counts {
    const ahead = place + WALK_AHEAD_FILES - 1;
    if (ahead >= this.paths.length) return this.total;
    return { unreadable: this.#unreadable[ahead] as number, ignored: this.#ignored[ahead] as number };
  }
}

/** The cached walks of a backend by key, the one that was used last at the end. */
export class CachedWalks {
  readonly #walks = new Map<string, CachedWalk>();
  readonly #origin: CachedWalks | undefined;

  /** `origin` has the walks of a tree with which this one shares directories. */
  constructor(origin?: CachedWalks) {
    this.#origin = origin;
  }

  get(key: string): CachedWalk | undefined {
    return this.#walks.get(key) ?? this.#origin?.get(key);
  }

  /** Keeps a walk, unless it is too large; the one that was not used for longest makes room for it. */
  keep(key: string, walk: CachedWalk): void {
    this.#walks.delete(key);
    if (walk.paths.length > MAX_WALK_FILES) return;
    this.#walks.set(key, walk);
    for (const oldest of this.#walks.keys()) {
      if (this.#walks.size <= MAX_WALKS) break;
      this.#walks.delete(oldest);
    }
  }
}
