/** A page of a tree for a backend whose own `listTree` is missing or is not used, with the answers of a disk. */
import { engine } from "../../engine/current.ts";
import { utf8Length } from "../../engine/wire/bytes.ts";
import { Yielder } from "../../engine/yielder.ts";
import type { FsEntry, TreePage, TreeRequest } from "../entry.ts";
import { checkSignal } from "../failure.ts";
import { compareCodePoints } from "../paths.ts";
import { walkRuns } from "../walk/drive.ts";
import { IGNORE_FILES, type IgnoreSource, readIgnoreFiles, rulesAbove } from "../walk/ignore-files.ts";
import { TreeWalk } from "../walk/walk.ts";

/** Lists a tree directory by directory. */
export async function walkedTree(
  backend: IgnoreSource,
  root: string,
  request: TreeRequest,
): Promise<TreePage> {
  const { depth, hidden, exclude = [], respectIgnore = true, facts, signal } = request;
  const { ignoreFiles: names = IGNORE_FILES } = request;
  const walk = new TreeWalk<FsEntry>(root, {
    unreadable: "count",
    temporary: false,
    hidden,
    skipGit: respectIgnore,
    ignore: respectIgnore ? await rulesAbove(backend, root, names, undefined) : undefined,
    globs: exclude.length === 0 ? undefined : engine().glob([], { exclude }),
    depth,
    compare: treeOrder(request),
  });
  const source = {
    list: (directory: string) => {
      checkSignal(signal, root);
      return backend.listDir(directory, { facts: facts ?? true, signal });
    },
    ...(respectIgnore && {
      ignoreFiles: (entries: readonly FsEntry[]) => readIgnoreFiles(backend, entries, names),
    }),
  };
  const all: FsEntry[] = [];
  for await (const run of walkRuns(walk, source, new Yielder({ signal })))
    for (const { entry } of run) all.push(entry);
  return treePageOf(all, request);
}

/** Returns the order of the entries of a directory. */
function treeOrder({ sort, order }: TreeRequest): (a: FsEntry, b: FsEntry) => number {
  const sign = order === "desc" ? -1 : 1;
  const byType = (a: FsEntry, b: FsEntry): number =>
    sort === "name" ? 0 : Number(b.isDir) - Number(a.isDir);
  return (a, b) => sign * (byType(a, b) || compareCodePoints(a.name, b.name));
}

/** Returns the page of a tree from all its entries. */
function treePageOf(all: readonly FsEntry[], request: TreeRequest): TreePage {
  const { from = 0, limit = Number.POSITIVE_INFINITY, maxTextBytes = Number.POSITIVE_INFINITY } = request;
  const end = Math.min(all.length, from + limit);
  let to = Math.min(from, all.length);
  for (let bytes = 0; to < end && bytes < maxTextBytes; to++)
    bytes += utf8Length((all[to] as FsEntry).name) + 1;
  return Object.freeze({ entries: Object.freeze(all.slice(from, to)), total: all.length });
}
