/**
 * Searches of an overlay: the backend below searches with its index, without the changed paths; those are searched
 * here; both are merged in path order. The answers are those of a search of the merged tree.
 */
import type { Files } from "../files.ts";
import type { FindQuery, FindResult, SearchQuery, SearchResult, WalkQuery } from "../../engine/search.ts";
import type { FsEntry, ListOptions } from "../backend.ts";
import { lstatOrNull } from "../fallback/fallback.ts";
import { childOf, compareCodePoints, isWithin, literalGlob, nameOf, parentOf } from "../paths.ts";
import {
  type ChangedEntries,
  type ChangedRequest,
  dividedGrep,
  divideSearch,
  isChangedIn,
  namesToChanges,
  type SearchParts,
} from "../search/divided-search.ts";
import { FindPage } from "../search/search-find.ts";
import { globsOf, type Signalled } from "../search/search-grep.ts";
import { type FindCounts, SearchWalk } from "../search/search-walk.ts";
import { IGNORE_FILES, ignoreSourceOf } from "../walk/ignore-files.ts";
import type { OwnSearches, SearchUnder } from "../abilities.ts";
import { ignoreCodes } from "../failure.ts";
import type { SandboxPolicy } from "../policy.ts";
import { entryOfStat, type OverlayLayer } from "./overlay-layer.ts";

/** The number of directories whose ignore files are looked up one by one. With more, one search finds those of all. */
const MAX_DIRECTORIES_LOOKED_AT = 4;

/** The searches of an overlay whose lower files search. Undefined stands for a merged tree that has to be walked. */
export class OverlaySearch implements OwnSearches {
  readonly #layer: OverlayLayer;
  /** The merged tree, as the same policy confines it. */
  readonly #merged: Files;
  readonly #lower: Files;

  /** `lower` are the lower files, or those as a policy confines them. */
  constructor(layer: OverlayLayer, merged: Files, lower: Files) {
    this.#layer = layer;
    this.#merged = merged;
    this.#lower = lower;
  }

  /** Searches contents as the merged tree has them. */
  async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult | undefined> {
    const parts = await this.#partsOf(root, query);
    if (parts === undefined) return undefined;
    const search = this.#lower.grep.bind(this.#lower, parts.real);
    if (parts.changed.length === 0) return search(query);
    return dividedGrep(parts, query, {
      below: search,
      changes: (request) => this.#changes(parts, request),
      read: (path) => this.#layer.bytes(path),
    });
  }

  /** Finds entries by name as the merged tree has them. */
  async find(root: string, query: FindQuery & Signalled): Promise<FindResult | undefined> {
    const lower = this.#lower;
    const isDirect = (query.sort ?? "path") === "path" && query.caseSensitive !== false;
    const parts = isDirect ? await this.#partsOf(root, query) : undefined;
    if (parts === undefined) return undefined;
    const { real, changed, exclude } = parts;
    if (changed.length === 0) return lower.find(real, query);
    const { pattern, type = "file" } = query;
    const page = new FindPage(query);
    const searching = Promise.resolve(
      lower.find(real, { ...query, exclude: [...(query.exclude ?? []), ...exclude] }),
    );
    searching.catch(() => undefined);
    const globs = globsOf(pattern, query);
    const kinds: readonly string[] = type === "any" ? ["file", "dir", "symlink"] : [type];
    const wants = (path: string, entry: FsEntry): boolean =>
      kinds.includes(entry.type) && globs.matches(path, entry.isDir);
    const changes = await this.#changes(parts, { query, globs, from: "", wants });
    const below = await searching;
    const here: string[] = [];
    let { complete } = below;
    for await (const { path } of changes.entries()) {
      if (await page.isOver()) {
        complete = false;
        break;
      }
      here.push(path);
    }
    let at = 0;
    for (const path of below.paths) {
      for (; at < here.length && compareCodePoints(here[at] as string, path) < 0; at++)
        page.add({ path: here[at] as string, time: -1 });
      page.add({ path, time: -1 });
    }
    // What is after the end of the lower page comes after it in this one, too.
    for (; at < here.length && !below.truncated; at++) page.add({ path: here[at] as string, time: -1 });
    const { ignored, ignoredDirectories, unreadable } = await changes.findCounts(complete);
    const counts = {
      ignored: ignored + below.ignored,
      ignoredDirectories: ignoredDirectories + below.ignoredDirectories,
      unreadable: unreadable + below.unreadable,
    };
    const result = await page.result(counts, complete, below.truncated);
    return { ...result, total: below.total + here.length };
  }

  /** Returns how a search is divided; undefined where the merged tree must be walked. */
  async #partsOf(root: string, query: WalkQuery): Promise<SearchParts | undefined> {
    const layer = this.#layer;
    const real = await layer.real(root, true);
    if (real !== "/" && layer.draft.isCovered(real)) return undefined;
    if (layer.draft.isEmpty) return { real, changed: [], exclude: [] };
    const parts = divideSearch(uncovered(layer), real, query);
    const isDivided = parts !== undefined && parts.changed.length > 0;
    return isDivided && !(await layer.lower.stat(real)).isDir ? undefined : parts;
  }

  /** Yields the changed entries that are searched, and counts what it leaves out. */
  async #changes(
    parts: SearchParts,
    request: ChangedRequest,
  ): Promise<ChangedEntries & { findCounts(complete: boolean): Promise<FindCounts> }> {
    const { real } = parts;
    const isChanged = isChangedIn(parts);
    const leading = namesToChanges(parts);
    const { respectIgnore, ignoreFiles = IGNORE_FILES } = request.query;
    const rules =
      respectIgnore === false
        ? new Map<string, readonly FsEntry[]>()
        : await rulesOf(this.#lower, real, [...leading.keys()], ignoreFiles);
    const listDir = async (directory: string, options?: ListOptions): Promise<readonly FsEntry[]> => {
      // Above the start only ignore files count; listing a large directory takes long.
      if (!isWithin(directory, real)) {
        await this.#lower.lstat(directory); // Refused above the roots of the policy: no ignore file there counts.
        return (await rulesOf(this.#lower, real, [directory], ignoreFiles)).get(directory) ?? [];
      }
      const names = leading.get(directory);
      if (names === undefined) return this.#layer.entries(directory, options);
      const entries = new Map((rules.get(directory) ?? []).map((entry) => [entry.name, entry]));
      for (const name of names) {
        const entry = this.#entryAt(childOf(directory, name));
        if (entry === null) entries.delete(name);
        else entries.set(name, entry);
      }
      return [...entries.values()];
    };
    const readBytes = (path: string): Promise<Uint8Array> => this.#merged.readBytes(path);
    const walk = new SearchWalk(ignoreSourceOf(this.#merged, { listDir, readBytes }), real, {
      ...request,
      wants: (path, entry) => isChanged(entry.path) && request.wants(path, entry),
      counted: (entry) => isChanged(entry.path),
    });
    // No ignore file above a repository applies.
    const isRepository = rules.get(real)?.some(({ name }) => name === ".git") === true;
    return {
      entries: () => walk.entries(isRepository ? real : undefined),
      counts: () => walk.counts,
      findCounts: (complete) => walk.findCounts(complete),
    };
  }

  /** Returns a changed entry, or a directory that leads to one; null where the entry was removed. */
  #entryAt(path: string): FsEntry | null {
    const node = this.#layer.draft.node(path);
    if (node === null) return null;
    if (node !== undefined) return entryOfStat(node.stat);
    return { name: nameOf(path), path, type: "dir", isDir: true, isFile: false };
  }
}

/**
 * Returns the ignore files, and `.git`, of unchanged directories: by one search for names where that takes fewer calls.
 */
async function rulesOf(
  lower: Files,
  real: string,
  directories: readonly string[],
  ignoreFiles: readonly string[],
): Promise<ReadonlyMap<string, readonly FsEntry[]>> {
  const found = new Map<string, FsEntry[]>(directories.map((directory) => [directory, []]));
  const bySearch = directories.length > MAX_DIRECTORIES_LOOKED_AT;
  const looked = bySearch ? [".git"] : [...ignoreFiles, ".git"];
  const look = async (directory: string, name: string): Promise<void> => {
    // One that may not be read hides nothing.
    const stat = await lstatOrNull(lower, childOf(directory, name)).catch(ignoreCodes("OUTSIDE_ALLOWED"));
    if (stat !== null && stat !== undefined) found.get(directory)?.push(entryOfStat(stat));
  };
  const search = async (): Promise<void> => {
    const names = { pattern: ignoreFiles.map(literalGlob), respectIgnore: false } as const;
    for (const relative of (await lower.find(real, names)).paths) {
      const path = childOf(real, relative);
      const entry = { name: nameOf(path), path, type: "file", isDir: false, isFile: true } as const;
      found.get(parentOf(path))?.push(entry);
    }
  };
  await Promise.all([
    ...directories.flatMap((directory) => looked.map((name) => look(directory, name))),
    ...(bySearch ? [search()] : []),
  ]);
  return found;
}

/** Yields the changed paths of a layer that are below no other one. */
function* uncovered({ draft }: OverlayLayer): Generator<string> {
  for (const [path] of draft.nodes()) if (!draft.isCovered(parentOf(path))) yield path;
}

/** The number of policies under which the files below an overlay are searched. */
const MAX_CONFINED = 16;

/** How the lower files of an overlay are confined to a policy. */
interface LowerFiles {
  /** Returns the lower files under a policy; undefined where they have to be walked. */
  confine(policy: SandboxPolicy): Files | undefined;
  /** The policy to which the lower files are confined already. */
  readonly known?: SandboxPolicy;
}

/**
 * The searches of an overlay under policies: the lower files search as they are confined by the policy, and what is
 * changed may be shown as a whole.
 */
export class ConfinedSearches {
  readonly #layer: OverlayLayer;
  readonly #lower: LowerFiles;
  /** The lower files under each policy, those used last at the end. */
  readonly #opened = new Map<SandboxPolicy, Files>();

  constructor(layer: OverlayLayer, lower: LowerFiles) {
    this.#layer = layer;
    this.#lower = lower;
  }

  readonly under: SearchUnder = ({ policy, mayShow, walked }) => {
    const layer = this.#layer;
    for (const [path, node] of layer.draft.nodes())
      if (node !== null && !mayShow(path, node)) return undefined;
    const lower = policy === this.#lower.known ? layer.lower : this.#lowerUnder(policy);
    return lower && new OverlaySearch(layer, walked, lower);
  };

  /** Closes the lower files under policies. Later searches open them again. */
  close(): void {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    for (const files of all) files.close();
  }

  #lowerUnder(policy: SandboxPolicy): Files | undefined {
    const opened = this.#opened;
    const files = opened.get(policy) ?? this.#lower.confine(policy);
    if (files === undefined) return undefined;
    opened.delete(policy);
    // One that is left out is not closed: a search may still use it.
    for (const oldest of opened.keys()) if (opened.size >= MAX_CONFINED) opened.delete(oldest);
    opened.set(policy, files);
    return files;
  }
}
