/**
 * The walk of a search over a backend that cannot search itself, with the
 * answers of the native walk (`crates/fs/src/walk`): ignore files are found in
 * listings, `.git` is never entered, links are not followed, and paths come in
 * the order of their code points.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { IgnoreFile, IgnoreRules, PathGlobs, WalkQuery } from "../../engine/search.ts";
import type { FsBackend, FsEntry } from "../backend.ts";
import { ENTRIES_PER_CHECK, sortYielding, Yielder } from "../../engine/yielder.ts";
import { childOf, compareCodePoints, isWithin, parentOf } from "../paths.ts";
import {
  type DirectoriesAbove,
  type IgnoreFiles,
  type CachedItem,
  sameIgnoreFiles,
  type WalkCache,
} from "./search-memo.ts";

/** The names of ignore files, lowest precedence first. */
export const IGNORE_FILES: readonly string[] = Object.freeze([".gitignore", ".ignore", ".agentignore"]);
/** The maximum size of an ignore file, in bytes. A larger one is not applied. */
const MAX_IGNORE_BYTES = 1 << 20;
/** The maximum depth of a walk below its start, in directories. */
const MAX_DEPTH = 2048;
/** The maximum number of entries in ignored directories that are read, to count what is hidden there. */
const IGNORED_BUDGET = 200_000;

/** Context from the caller in addition to the query. */
export interface SearchPlace {
  /** The directory from which on ignore files apply. Default: the top of the repository. */
  readonly top?: string | undefined;
}

/** The options of a walk. */
export interface WalkRequest {
  readonly query: WalkQuery & { readonly signal?: AbortSignal | undefined };
  readonly globs: PathGlobs;
  /** Returns true when an entry is selected, by its path relative to the start. */
  readonly wants: (path: string, entry: FsEntry) => boolean;
  /** True when ignored directories are entered to count their entries. */
  readonly countIgnored: boolean;
  /** Paths that sort before this one are passed over. */
  readonly from: string;
  /** The cached directories of the last walk of the same query. */
  readonly memo?: WalkCache | undefined;
}

/** The counts of a walk. */
export interface WalkCounts {
  unreadable: number;
  ignored: number;
  ignoredSeen: number;
}

/** An entry that the walk selects. */
export type WalkEntry = Pick<CachedItem, "path" | "entry" | "slot">;

interface WalkLevel {
  /** The directory relative to the start, with a final slash; empty for the start. */
  readonly prefix: string;
  readonly rules: IgnoreRules;
  readonly ignored: boolean;
  readonly items: readonly CachedItem[];
  at: number;
}

/** A walk of the selected entries below a directory. */
export class SearchWalk {
  readonly counts: WalkCounts = { unreadable: 0, ignored: 0, ignoredSeen: 0 };
  readonly #backend: FsBackend;
  readonly #root: string;
  readonly #request: WalkRequest;
  readonly #names: readonly string[] | null;
  readonly #yielder: Yielder;

  constructor(backend: FsBackend, root: string, request: WalkRequest) {
    this.#backend = backend;
    this.#root = root;
    this.#request = request;
    this.#yielder = new Yielder(request.query);
    const { respectIgnore, ignoreFiles } = request.query;
    this.#names = respectIgnore === false ? null : (ignoreFiles ?? IGNORE_FILES);
  }

  /** Yields the selected entries in path order. `top` is the directory from which on ignore files apply. */
  async *entries(top?: string): AsyncGenerator<WalkEntry> {
    for await (const run of this.runs(top)) yield* run;
  }

  /** Yields the same entries in groups. Within a group no directory is opened and nothing is counted. */
  async *runs(top?: string): AsyncGenerator<readonly WalkEntry[]> {
    const above = await this.#above(top);
    const levels = [await this.#open("", above.rules, above.prefix, false)];
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const item = level.items[level.at++];
      if (item === undefined) {
        levels.pop();
        continue;
      }
      const { path } = item;
      if (!item.enter) {
        const from = level.at - 1;
        while (level.items[level.at]?.enter === false) level.at++;
        yield level.items.slice(from, level.at);
      } else if (levels.length > MAX_DEPTH) this.counts.unreadable++;
      else if (!(item.ignored && this.counts.ignoredSeen > IGNORED_BUDGET)) {
        try {
          levels.push(await this.#open(`${path}/`, level.rules, above.prefix, item.ignored));
        } catch (error) {
          if (error instanceof FilewrightError && error.code === "CANCELLED") throw error;
          this.counts.unreadable++;
        }
      }
    }
  }

  /** Lists a directory and decides which entries are yielded or entered. */
  async #open(prefix: string, outer: IgnoreRules, above: string, ignored: boolean): Promise<WalkLevel> {
    const { query, globs, wants, countIgnored, from, memo } = this.#request;
    const directory = prefix === "" ? this.#root : childOf(this.#root, prefix.slice(0, -1));
    const stamp = memo?.stampOf(directory);
    const before = memo?.get(directory);
    const known = before?.outer === outer && before.ignored === ignored ? before : undefined;
    if (known !== undefined && known.stamp === stamp) {
      memo?.keep(directory, known);
      this.#count(known);
      return { prefix, rules: known.rules, ignored, items: known.items, at: 0 };
    }
    const entries = await this.#backend.listDir(directory);
    const ignoreFiles = ignored ? NO_FILES : await this.#ignoreFiles(entries);
    // The rules of a directory whose ignore files are the same stay, and with them what is below it.
    const same = known !== undefined && sameIgnoreFiles(known.ignoreFiles, ignoreFiles);
    const rules = same ? known.rules : rulesInDirectory(outer, ignoreFiles, above + prefix);
    const items: CachedItem[] = [];
    let count = 0;
    for (const [at, entry] of entries.entries()) {
      if (at % ENTRIES_PER_CHECK === ENTRIES_PER_CHECK - 1) await this.#yielder.yieldIfDue();
      if (entry.name === ".git" || (query.hidden === false && entry.name.startsWith("."))) continue;
      const path = prefix + entry.name;
      const isDir = entry.type === "dir";
      const enter = isDir && globs.mayContain(path) && !globs.excluded(path, true);
      const wanted = wants(path, entry);
      if (!enter && !wanted) continue;
      const hidden = ignored || (this.#names !== null && rules.ignored(above + path, isDir));
      const passed = compareCodePoints(`${path}/`, from) < 0 && !from.startsWith(`${path}/`);
      if (enter && !passed && (!hidden || countIgnored)) {
        items.push({ key: `${entry.name}/`, path, entry, enter: true, ignored: hidden });
      }
      if (hidden) count += wanted || !countIgnored ? 1 : 0;
      else if (wanted && compareCodePoints(path, from) >= 0) {
        items.push({ key: entry.name, path, entry, enter: false, ignored: false });
      }
    }
    const sorted = await sortYielding(items, (a, b) => compareCodePoints(a.key, b.key), this.#yielder);
    const opened = {
      stamp,
      outer,
      ignored,
      ignoreFiles,
      rules,
      items: sorted,
      seen: entries.length,
      hidden: count,
    };
    memo?.keep(directory, opened);
    this.#count(opened);
    return { prefix, rules, ignored, items: sorted, at: 0 };
  }

  #count({ ignored, seen, hidden }: { ignored: boolean; seen: number; hidden: number }): void {
    if (ignored) this.counts.ignoredSeen += seen;
    this.counts.ignored += hidden;
  }

  /** Returns the ignore files of a listed directory. */
  async #ignoreFiles(entries: readonly FsEntry[]): Promise<IgnoreFiles> {
    const names = this.#names;
    if (names === null) return NO_FILES;
    const border = entries.some((entry) => entry.name === ".git");
    const files: IgnoreFile[] = [];
    for (const entry of entries) {
      const place = entry.type === "file" ? names.indexOf(entry.name) : -1;
      if (place < 0) continue;
      try {
        const content = await this.#backend.readBytes(entry.path);
        if (content.length <= MAX_IGNORE_BYTES) files.push({ place, content });
      } catch {
        // An ignore file that cannot be read hides nothing.
      }
    }
    return { files, border };
  }

  /** Returns the rules of the directories above the start, and the path of the start for these rules. */
  async #above(top: string | undefined): Promise<DirectoriesAbove> {
    const { memo } = this.#request;
    const known = memo?.above;
    if (known !== undefined) return known;
    const stamps = new Map<string, unknown>();
    const found = await this.#readAbove(top, (path) => stamps.set(path, memo?.stampOf(path)));
    memo?.keepAbove(found, stamps);
    return found;
  }

  async #readAbove(top: string | undefined, visit: (path: string) => void): Promise<DirectoriesAbove> {
    const none = { rules: engine().ignoreRules(), prefix: "" };
    if (this.#names === null) return none;
    const above: { readonly path: string; readonly entries: readonly FsEntry[] }[] = [];
    for (let at = this.#root; at !== "/" && (top === undefined || at !== top); ) {
      at = parentOf(at);
      if (top !== undefined && !isWithin(at, top)) break;
      visit(at);
      try {
        above.push({ path: at, entries: await this.#backend.listDir(at) });
      } catch {
        break;
      }
    }
    if (top === undefined && above.at(-1)?.path === "/") {
      // The walked directory belongs to a whole file system: ignore files above its repository do not apply, and none
      // above it apply without a repository.
      const repository = above.findIndex(({ entries }) => entries.some(({ name }) => name === ".git"));
      above.length = repository + 1;
    }
    const base = above.at(-1)?.path;
    if (base === undefined) return none;
    const relative = (path: string) => (path === base ? "" : path.slice(base === "/" ? 1 : base.length + 1));
    const prefix = `${relative(this.#root)}/`;
    let { rules } = none;
    for (const { path, entries } of above.reverse()) {
      // An ignored directory was named explicitly, so its entries are included.
      if (path !== base && rules.ignored(relative(path), true)) return { rules: none.rules, prefix };
      rules = rulesInDirectory(rules, await this.#ignoreFiles(entries), relative(path));
    }
    if (rules.ignored(relative(this.#root), true)) return { rules: none.rules, prefix };
    return { rules, prefix };
  }
}

const NO_FILES: IgnoreFiles = Object.freeze({ files: [], border: false });

/**
 * Returns the rules that apply in a directory: those of `outer` and those of its ignore files. The path may end in
 * a slash.
 */
function rulesInDirectory(
  outer: IgnoreRules,
  { files, border }: IgnoreFiles,
  directory: string,
): IgnoreRules {
  return outer.enter(directory.replace(/\/$/, ""), files, border);
}
