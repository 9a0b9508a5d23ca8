/**
 * The walk of a tree in TypeScript: the order of entries, ignore files, filters, limits and counts, with the
 * answers of the native walk (`crates/fs/src/walk`). Searches, listings and {@link walkTree} are options of it.
 *
 * It does no I/O. It asks for each directory when it reaches it, and `drive.ts` answers from a backend. Links are never
 * entered. A directory that vanished since it was listed is empty; the caller chooses
 * whether one that cannot be read is counted or ends the walk.
 */
import { isMissing } from "../failure.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { IgnoreRules, PathGlobs } from "../../engine/search.ts";
import { WALK_LIMITS } from "../../engine/generated/records.ts";
import { STEPS_PER_YIELD_CHECK } from "../../engine/yielder.ts";
import type { FsEntry } from "../entry.ts";
import { childOf, compareCodePoints } from "../paths.ts";
import { isTempName } from "./temp-name.ts";
import {
  type DirectoriesAbove,
  type IgnoreFiles,
  type OpenedDirectory,
  sameIgnoreFiles,
  type WalkCache,
  type WalkItem,
} from "./walk-memo.ts";

/** The part of an entry that the walk uses. */
export type WalkedEntry = Pick<FsEntry, "name" | "path" | "type">;

/** The options of a walk. Without any, it selects every entry at any depth. */
export interface WalkRequest<E extends WalkedEntry> {
  /**
   * The reaction to a directory that cannot be read. `throw` is for callers of the whole tree, such as a removal
   * or a check; then no depth is too deep either. `count` goes on, and counts it and every directory that is deeper
   * than {@link WALK_LIMITS}.maxDepth.
   */
  readonly unreadable: "throw" | "count";
  /** True to select Filewright's temporary files too, which users never see. */
  readonly temporary: boolean;
  /** False to leave out names that begin with a dot. Default true. */
  readonly hidden?: boolean | undefined;
  /** True to leave out every `.git`. */
  readonly skipGit?: boolean | undefined;
  /** The rules of ignore files above the start. Absent when ignore files do not apply. */
  readonly ignore?: DirectoriesAbove | undefined;
  /** Directories without a possible match are not entered, and excluded entries are left out. */
  readonly globs?: PathGlobs | undefined;
  /** Returns true when an entry is selected, by its path relative to the start. Default: those not excluded. */
  readonly wants?: ((path: string, entry: E) => boolean) | undefined;
  /** Returns false for a directory that is not entered. It is asked after the directory was selected. */
  readonly enters?: ((entry: E) => boolean) | undefined;
  /** The number of levels that are listed; 1 is the start alone. */
  readonly depth?: number | undefined;
  /** Returns false for an entry that is not counted if it is ignored. Default: true. */
  readonly counted?: ((entry: E) => boolean) | undefined;
  /** The walk passes over paths that sort before this one. */
  readonly from?: string | undefined;
  /**
   * The order of the entries of a directory; what is in a directory then comes directly after it. Without it, all
   * paths are in the order of their code points.
   */
  readonly compare?: ((a: E, b: E) => number) | undefined;
  /** The cached directories of the last walk of the same query. */
  readonly memo?: WalkCache<E> | undefined;
}

/** The counts of a walk. */
export interface WalkCounts {
  /** The number of directories that could not be read, or were too deep. */
  unreadable: number;
  /** The number of entries that ignore files exclude. A directory counts as one. */
  ignored: number;
  /** The number of those that would be selected. */
  ignoredMatches: number;
  /** The paths of the directories that ignore files exclude and that may contain selected entries. */
  readonly ignoredDirectories: string[];
}

/**
 * The next request of the walk, or its finding. Its driver stores the answer in the step and resumes the walk, or
 * throws into it.
 */
export type WalkStep<E extends WalkedEntry> =
  | { readonly kind: "found"; readonly run: readonly WalkItem<E>[] }
  | ListStep<E>
  | { readonly kind: "ignore"; readonly entries: readonly E[]; files: IgnoreFiles }
  | SortStep<E>
  | { readonly kind: "pause" };

/** Asks for the entries of a directory, in any order. */
interface ListStep<E> {
  readonly kind: "list";
  readonly directory: string;
  /** The entry of the directory to list; undefined for the start of the walk. */
  readonly entry: E | undefined;
  entries: readonly E[];
}

/** Asks for the items in order. */
interface SortStep<E> {
  readonly kind: "sort";
  items: readonly WalkItem<E>[];
  readonly compare: (a: WalkItem<E>, b: WalkItem<E>) => number;
}

/** The items of a directory, and the numbers of its entries that {@link WalkCounts} counts. */
type FoundInDirectory<E> = Omit<WalkCounts, "unreadable"> & {
  readonly items: WalkItem<E>[];
};

/** A directory whose entries are looked at, and what was found in it. */
interface EnteredDirectory<E> {
  /** The directory relative to the start, with a final slash; empty for the start. */
  readonly prefix: string;
  /** The start relative to the directory from which on ignore files apply, in the same form. */
  readonly above: string;
  readonly rules: IgnoreRules | undefined;
  /** True if directories in it may be entered. */
  readonly mayEnter: boolean;
  readonly found: FoundInDirectory<E>;
}

interface WalkLevel<E> {
  /** The directory relative to the start, with a final slash; empty for the start. */
  readonly prefix: string;
  readonly rules: IgnoreRules | undefined;
  readonly items: readonly WalkItem<E>[];
  at: number;
}

const NO_FILES: IgnoreFiles = Object.freeze({ files: [], border: false });
const PAUSE = { kind: "pause" } as const;

/** Returns true for a name that a walk with these options sees. */
export function seesName(
  name: string,
  { hidden, skipGit, temporary }: Pick<WalkRequest<WalkedEntry>, "hidden" | "skipGit" | "temporary">,
): boolean {
  if (hidden === false && name.startsWith(".")) return false;
  return !(skipGit === true && name === ".git") && (temporary || !isTempName(name));
}

/** A walk of the selected entries below a directory. */
export class TreeWalk<E extends WalkedEntry> {
  readonly counts: WalkCounts = { unreadable: 0, ignored: 0, ignoredMatches: 0, ignoredDirectories: [] };
  readonly #root: string;
  readonly #request: WalkRequest<E>;

  constructor(root: string, request: WalkRequest<E>) {
    this.#root = root;
    this.#request = request;
  }

  /** Walks the tree. Between two steps with found entries nothing is counted. */
  *steps(): Generator<WalkStep<E>, void, void> {
    const { ignore, depth = Number.POSITIVE_INFINITY, unreadable, enters } = this.#request;
    const limit = unreadable === "throw" ? Number.POSITIVE_INFINITY : WALK_LIMITS.maxDepth;
    const levels = [yield* this.#open(undefined, ignore?.rules, depth > 1)];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const from = level.at;
      let next = level.items[from];
      while (next?.enter === false) next = level.items[++level.at];
      if (next !== undefined) level.at++;
      const to = next?.selected === false ? level.at - 1 : level.at;
      if (to > from) yield { kind: "found", run: level.items.slice(from, to) };
      if (next === undefined) levels.pop();
      else if (enters?.(next.entry) === false) continue;
      else if (levels.length > limit) this.counts.unreadable++;
      else {
        try {
          levels.push(yield* this.#open(next, level.rules, levels.length + 1 < depth));
        } catch (error) {
          if (isMissing(error)) continue;
          if (unreadable === "throw" || isCancelled(error)) throw error;
          this.counts.unreadable++;
        }
      }
    }
  }

  /** Lists a directory and decides which entries are selected or entered. */
  *#open(
    at: WalkItem<E> | undefined,
    outer: IgnoreRules | undefined,
    mayEnter: boolean,
  ): Generator<WalkStep<E>, WalkLevel<E>, void> {
    const { ignore, memo } = this.#request;
    const prefix = at === undefined ? "" : `${at.path}/`;
    const directory = at === undefined ? this.#root : childOf(this.#root, at.path);
    const stamp = memo?.stampOf(directory);
    const before = memo?.get(directory);
    const known = before?.outer === outer ? before : undefined;
    const reuse = (opened: OpenedDirectory<E>): WalkLevel<E> => {
      memo?.keep(directory, opened);
      this.counts.ignored += opened.ignored;
      this.counts.ignoredMatches += opened.ignoredMatches;
      for (const path of opened.ignoredDirectories) this.counts.ignoredDirectories.push(path);
      return { prefix, rules: opened.rules, items: opened.items, at: 0 };
    };
    // `.git/info/exclude` can change while the directory that holds `.git` stays as it is.
    const mayReuse = known !== undefined && known.stamp === stamp;
    if (mayReuse && !known.ignoreFiles.border) return reuse(known);
    const list: ListStep<E> = { kind: "list", directory, entry: at?.entry, entries: [] };
    yield list;
    const { entries } = list;
    let ignoreFiles = NO_FILES;
    if (outer !== undefined) {
      const step = { kind: "ignore" as const, entries, files: NO_FILES };
      yield step;
      ignoreFiles = step.files;
    }
    // The rules of a directory whose ignore files are the same stay, and with them what is below it.
    const same = known !== undefined && sameIgnoreFiles(known.ignoreFiles, ignoreFiles);
    if (mayReuse && same) return reuse(known);
    const above = ignore?.prefix ?? "";
    const rules = same ? known.rules : outer && rulesInside(outer, ignoreFiles, above + prefix);
    const found: FoundInDirectory<E> = { items: [], ignored: 0, ignoredMatches: 0, ignoredDirectories: [] };
    const entered = { prefix, above, rules, mayEnter, found };
    let index = 0;
    for (const entry of entries) {
      if (++index % STEPS_PER_YIELD_CHECK === 0) yield PAUSE;
      this.#add(entry, entered);
    }
    const compare = this.#request.compare;
    const sort: SortStep<E> = {
      kind: "sort",
      items: found.items,
      compare:
        compare === undefined
          ? (a, b) => compareCodePoints(a.key, b.key)
          : (a, b) => compare(a.entry, b.entry),
    };
    yield sort;
    return reuse({ stamp, outer, ignoreFiles, rules, ...found, items: sort.items });
  }

  /** Adds the items of an entry, if it is selected or entered; counts it, if it is ignored. */
  #add(entry: E, { prefix, above, rules, mayEnter, found }: EnteredDirectory<E>): void {
    if (!seesName(entry.name, this.#request)) return;
    const { globs, wants } = this.#request;
    const { name, type } = entry;
    const path = prefix + name;
    const isDir = type === "dir";
    const enter =
      mayEnter && isDir && (globs === undefined || (globs.mayContain(path) && !globs.excluded(path, true)));
    const selected = wants === undefined ? globs?.excluded(path, isDir) !== true : wants(path, entry);
    if (!enter && !selected) return;
    // Ignore files do not apply to special files.
    const item = { key: "", path, entry, selected, enter };
    if (type !== "other" && rules?.ignored(above + path, isDir) === true) this.#countIgnored(item, found);
    else this.#addItems(item, found.items);
  }

  #countIgnored({ path, entry, selected, enter }: WalkItem<E>, found: FoundInDirectory<E>): void {
    if (this.#request.counted?.(entry) !== false) found.ignored++;
    if (selected) found.ignoredMatches++;
    if (enter) found.ignoredDirectories.push(path);
  }

  #addItems(item: WalkItem<E>, items: WalkItem<E>[]): void {
    const { from = "", compare } = this.#request;
    if (compare !== undefined) {
      items.push(item);
      return;
    }
    const { path, entry, selected, enter } = item;
    const passed = enter && compareCodePoints(`${path}/`, from) < 0 && !from.startsWith(`${path}/`);
    // What sorts between a directory and its content comes between them.
    if (enter && !passed) items.push({ key: `${entry.name}/`, path, entry, selected: false, enter: true });
    if (selected && compareCodePoints(path, from) >= 0)
      items.push({ key: entry.name, path, entry, selected: true, enter: false });
  }
}

/**
 * Returns the rules that apply in a directory: those of `outer` and those of its ignore files. The path may end in
 * a slash.
 */
export function rulesInside(
  outer: IgnoreRules,
  { files, border }: IgnoreFiles,
  directory: string,
): IgnoreRules {
  return outer.enter(directory.replace(/\/$/u, ""), files, border);
}

function isCancelled(error: unknown): boolean {
  return error instanceof FilewrightError && error.code === "CANCELLED";
}
