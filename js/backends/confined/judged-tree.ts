/**
 * Listings of trees that the storage of a confined backend answers. Entries are judged one by one and made anew, each
 * directory is put in order, and the page and its total are counted here.
 */
import { KIND_WORDS, WALK_LIMITS } from "../../engine/generated/records.ts";
import type { EntryType, FsEntry, TreePage, TreeRequest } from "../entry.ts";
import { treeOrder, treePageOf } from "../fallback/tree-page.ts";
import { childOf, parentOf } from "../paths.ts";
import { denyExcludes, type JudgedPlace, listOf, namesOf, PathJudge, recordOf, unusable } from "./judged.ts";

/**
 * Returns a page of a tree from the `listTree` of the storage.
 * @throws UnusableAnswer where the tree must be walked instead
 */
export async function judgedTree(place: JudgedPlace, request: TreeRequest): Promise<TreePage> {
  const { inner, real, asked } = place;
  const { from: _from, limit: _limit, maxTextBytes: _most, exclude = [], ...wanted } = request;
  const depth = Math.min(request.depth, WALK_LIMITS.maxDepth);
  const answer = recordOf(
    await inner.listTree?.(real, { ...wanted, exclude: [...exclude, ...denyExcludes(place)] }),
  );
  const judge = new PathJudge(place, { hidden: request.hidden, git: request.respectIgnore === false });
  const children = new Map<string, FsEntry[]>([[real, []]]);
  const seen = new Set<string>();
  for (const given of listOf(answer["entries"])) {
    const entry = entryOf(given);
    const below = relativeOf(entry.path, real);
    if (below === undefined || namesOf(below).length > depth) continue;
    if (seen.has(entry.path)) unusable("an entry is given twice");
    seen.add(entry.path);
    // What is in a directory that is not listed, or in no directory, is not listed either.
    const siblings = children.get(parentOf(entry.path));
    if (siblings === undefined || (await judge.visible(below)) === undefined) continue;
    siblings.push({ ...entry, path: childOf(asked, below) });
    if (entry.type === "dir") children.set(entry.path, []);
  }
  const all: FsEntry[] = [];
  flatten(real, children, treeOrder(request), all);
  return treePageOf(all, request);
}

/** Returns a path relative to the listed directory; undefined for one elsewhere. */
function relativeOf(path: string, real: string): string | undefined {
  const base = real === "/" ? "/" : `${real}/`;
  return path.startsWith(base) && path.length > base.length ? path.slice(base.length) : undefined;
}

/** Returns an entry with the fields that an entry has, and no others. @throws UnusableAnswer for wrong types */
function entryOf(given: unknown): FsEntry {
  const { path, type, size, mtime, target } = recordOf(given);
  if (typeof path !== "string" || !path.startsWith("/") || path === "/") return unusable("no absolute path");
  const names = namesOf(path.slice(1));
  if (typeof type !== "string" || !KIND_WORDS.includes(type as EntryType))
    return unusable("no type of entries");
  return {
    name: names.at(-1) as string,
    path,
    type: type as EntryType,
    isDir: type === "dir",
    isFile: type === "file",
    ...(size !== undefined && { size: countOf(size) }),
    ...(mtime !== undefined && { mtime: countOf(mtime) }),
    ...(type === "symlink" && typeof target === "string" && { target }),
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0
    ? value
    : unusable("no size or time");
}

function flatten(
  directory: string,
  children: ReadonlyMap<string, readonly FsEntry[]>,
  compare: (a: FsEntry, b: FsEntry) => number,
  all: FsEntry[],
): void {
  for (const entry of [...(children.get(directory) ?? [])].sort(compare)) {
    all.push(Object.freeze(entry));
    if (entry.isDir) flatten(childOf(directory, entry.name), children, compare, all);
  }
}
