/**
 * The walk of a search over a backend that cannot search itself: the walk of trees (`../walk`) with the ignore files
 * that apply to a query. `.git` is never entered, and paths come in the order of their code points.
 */
import type { FindResult, PathGlobs, WalkQuery } from "../../engine/search.ts";
import { Yielder } from "../../engine/yielder.ts";
import { WALK_LIMITS } from "../../engine/generated/records.ts";
import type { FsEntry } from "../backend.ts";
import { childOf } from "../paths.ts";
import { walkRuns } from "../walk/drive.ts";
import { IGNORE_FILES, type IgnoreSource, readIgnoreFiles, rulesAbove } from "../walk/ignore-files.ts";
import { seesName, TreeWalk, type WalkCounts } from "../walk/walk.ts";
import type { DirectoriesAbove, WalkCache, WalkItem } from "../walk/walk-memo.ts";

/** Context from the caller in addition to the query. */
export interface SearchPlace {
  /** The directory from which on ignore files apply to a search. Default: the top of the repository. */
  readonly top?: string | undefined;
}

/** The counts of a search for names besides the entries that it finds. */
export type FindCounts = Pick<FindResult, "ignored" | "ignoredDirectories" | "unreadable">;

/** The options of a search's walk. */
export interface SearchWalkRequest {
  readonly query: WalkQuery & { readonly signal?: AbortSignal | undefined };
  readonly globs: PathGlobs;
  /** Returns true when an entry is selected, by its path relative to the start. */
  readonly wants: (path: string, entry: FsEntry) => boolean;
  /** Returns false for an entry that another walk counts if it is ignored. Default: true. */
  readonly counted?: ((entry: FsEntry) => boolean) | undefined;
  /** The walk passes over paths that sort before this one. */
  readonly from: string;
  /** With false, a backend may leave out sizes and times, which cost a call for each entry. Default true. */
  readonly facts?: boolean | undefined;
  /** The cached directories of the last walk of the same query. */
  readonly memo?: WalkCache | undefined;
}

/** An entry that the walk selects. */
type WalkEntry = Pick<WalkItem, "path" | "entry" | "slot">;

/** A file to search. Its size may be missing. */
export type SearchedFile = Pick<WalkEntry, "path"> & { readonly entry: Pick<FsEntry, "path" | "size"> };

/** The names that no search sees. */
const SEEN = { skipGit: true, temporary: false } as const;

/** A walk of the selected entries below a directory. */
export class SearchWalk {
  /** The counts so far. */
  counts: WalkCounts = { unreadable: 0, ignored: 0, ignoredMatches: 0, ignoredDirectories: [] };
  readonly #backend: IgnoreSource;
  readonly #root: string;
  readonly #request: SearchWalkRequest;
  readonly #names: readonly string[] | undefined;

  constructor(backend: IgnoreSource, root: string, request: SearchWalkRequest) {
    this.#backend = backend;
    this.#root = root;
    this.#request = request;
    const { respectIgnore, ignoreFiles } = request.query;
    this.#names = respectIgnore === false ? undefined : (ignoreFiles ?? IGNORE_FILES);
  }

  /** Yields the selected entries in path order. `top` is the directory from which on ignore files apply. */
  async *entries(top?: string): AsyncGenerator<WalkEntry> {
    for await (const run of this.runs(top)) yield* run;
  }

  /** Yields the same entries in groups. Within a group no directory is opened and nothing is counted. */
  async *runs(top?: string): AsyncGenerator<readonly WalkEntry[]> {
    const { query, globs, wants, counted, from, facts, memo } = this.#request;
    const [backend, names] = [this.#backend, this.#names];
    const walk = new TreeWalk<FsEntry>(this.#root, {
      unreadable: "count",
      ...SEEN,
      hidden: query.hidden,
      ignore: names && (await this.#above(names, top)),
      globs,
      wants,
      counted,
      from,
      memo,
    });
    this.counts = walk.counts;
    const source = {
      list: (directory: string) => backend.listDir(directory, { facts: facts ?? true }),
      ...(names && {
        ignoreFiles: (entries: readonly FsEntry[]) => readIgnoreFiles(backend, entries, names),
      }),
    };
    yield* walkRuns(walk, source, new Yielder(query));
  }

  /** Returns the counts of a search for names, after the entries. `complete` is false where its time is up. */
  async findCounts(complete: boolean): Promise<FindCounts> {
    const { unreadable, ignoredMatches, ignoredDirectories } = this.counts;
    const found = complete ? await this.#matchesIn(ignoredDirectories) : undefined;
    if (found === undefined)
      return { unreadable, ignored: ignoredMatches, ignoredDirectories: ignoredDirectories.length };
    return { unreadable, ignored: ignoredMatches + found, ignoredDirectories: 0 };
  }

  /** Returns the number of matches in ignored directories; undefined where these have many entries, or cannot be read. */
  async #matchesIn(directories: readonly string[]): Promise<number | undefined> {
    const { query, globs, wants } = this.#request;
    const left = [...directories];
    const yielder = new Yielder(query);
    const names = { ...SEEN, hidden: query.hidden };
    let [seen, found] = [0, 0];
    for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
      const place = childOf(this.#root, directory);
      const entries = await this.#backend.listDir(place, { facts: false }).catch(() => undefined);
      await yielder.yieldIfDue();
      seen += entries?.length ?? 0;
      if (entries === undefined || seen > WALK_LIMITS.maxIgnoredEntries) return undefined;
      for (const entry of entries.filter(({ name }) => seesName(name, names))) {
        const path = `${directory}/${entry.name}`;
        if (wants(path, entry)) found++;
        const enters = entry.type === "dir" && globs.mayContain(path) && !globs.excluded(path, true);
        if (enters) left.push(path);
      }
    }
    return found;
  }

  /** Returns the rules of the directories above the start. */
  async #above(names: readonly string[], top: string | undefined): Promise<DirectoriesAbove> {
    const { memo } = this.#request;
    const known = memo?.above;
    if (known !== undefined) return known;
    const stamps = new Map<string, unknown>();
    const visit = (path: string) => stamps.set(path, memo?.stampOf(path));
    const found = await rulesAbove(this.#backend, this.#root, names, top, visit);
    memo?.keepAbove(found, stamps);
    return found;
  }
}
