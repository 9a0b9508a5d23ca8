/** Computes the changes of an overlay, and commits them to the lower backend. */
import { transact } from "../transaction/transaction.ts";
import type { EntryType, FsBackend, FsStat } from "../backend.ts";
import { checkSignal, backendError } from "../failure.ts";
import { chmodVia, symlinkVia, writeVia } from "../fallback/fallback.ts";
import { deleteVia, removeTreeVia } from "../fallback/fallback-tree.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { type ChangedNode, DIRECTORY_VERSION, type OverlayLayer } from "./overlay-layer.ts";
import { sortCodePoints } from "../paths.ts";

/** One changed path. Frozen. */
export interface OverlayChange {
  readonly path: string;
  readonly change: "added" | "changed" | "removed";
  /** The current type; of a removed entry, the type that it had. */
  readonly type: EntryType;
}

/** The numbers of paths that a commit changed. Frozen. */
export interface OverlayCommit {
  /** The number of files and links that were written. */
  readonly written: number;
  /** The number of directories that were created. */
  readonly made: number;
  /** The number of removed paths. A tree counts as one. */
  readonly removed: number;
}

/**
 * Returns the changes by path. A removed directory is one change; in a directory that replaced it,
 * each file is one.
 */
export async function changesOfLayer(layer: OverlayLayer): Promise<readonly OverlayChange[]> {
  const found = new Map<string, OverlayChange>();
  const add = (path: string, change: OverlayChange["change"], type: EntryType): void => {
    found.set(path, Object.freeze({ path, change, type }));
  };
  for (const [path, node] of layer.upper) {
    const below = await layer.below(path);
    if (node === null) {
      if (below !== null) add(path, "removed", below.type);
    } else if (below === null) add(path, "added", node.type);
    else if (node.type === "dir" && below.type === "dir") {
      for await (const entry of walkTree(layer.lower, path))
        if (!entry.isDir && (await layer.at(entry.path)) === null) add(entry.path, "removed", entry.type);
    } else if (await isDifferentFromLower(layer, node, below)) add(path, "changed", node.type);
  }
  for (const [path, mode] of layer.modes) {
    if (found.has(path)) continue;
    const below = await layer.below(path);
    if (below?.isDir === true && below.mode !== mode) add(path, "changed", "dir");
  }
  return Object.freeze(sortCodePoints([...found.keys()]).map((path) => found.get(path) as OverlayChange));
}

async function isDifferentFromLower(layer: OverlayLayer, node: ChangedNode, below: FsStat): Promise<boolean> {
  if (node.type !== below.type) return true;
  if (node.type === "symlink") return node.target !== below.target;
  if (node.type === "dir") return false;
  if (below.mode !== undefined && layer.lower.chmod !== undefined && node.stat.mode !== below.mode)
    return true;
  if (node.stat.size !== below.size) return true;
  const [mine, theirs] = [await layer.content(node), await layer.lower.readBytes(below.path)];
  return mine.some((byte, at) => byte !== theirs[at]);
}

/** Commits the changes to the lower backend, all or none. @throws CONFLICT with `details.paths` */
export async function commitLayer(
  layer: OverlayLayer,
  signal: AbortSignal | undefined,
): Promise<OverlayCommit> {
  await assertBasesUnchanged(layer);
  await readCopiedFiles(layer);
  const counts = { written: 0, made: 0, removed: 0 };
  await transact(layer.lower, async (lower) => {
    // In this order a directory comes before its content.
    for (const path of sortCodePoints([...layer.upper.keys()])) {
      checkSignal(signal, path);
      await commitEntry(layer, lower, path, layer.upper.get(path) ?? null, counts);
    }
    // Sets modes after the content is written, innermost first, because a directory may be read-only.
    for (const path of sortCodePoints([...layer.modes.keys()]).reverse()) {
      const mode = layer.modes.get(path);
      if (mode !== undefined && (await layer.below(path))?.mode !== mode) await chmodVia(lower, path, mode);
    }
  });
  layer.clear();
  return Object.freeze(counts);
}

/** Refuses the commit, before its first write, if a file was changed below since the overlay first changed it. */
async function assertBasesUnchanged(layer: OverlayLayer): Promise<void> {
  const paths: string[] = [];
  for (const [path, version] of layer.base) {
    const node = layer.upper.get(path);
    if (node === undefined) continue;
    const now = await layer.versionBelow(path);
    // A directory that another process has created meanwhile is fine.
    if (now === version || (version === null && now === DIRECTORY_VERSION && node?.type === "dir")) continue;
    paths.push(path);
  }
  for (const [path, was] of layer.gone) {
    if (!layer.upper.has(path) || paths.includes(path)) continue;
    const now = await layer.filesBelow(path);
    for (const file of new Set([...was.keys(), ...now.keys()]))
      if (was.get(file) !== now.get(file)) paths.push(file);
  }
  const [first] = sortCodePoints(paths);
  if (first === undefined) return;
  throw backendError("CONFLICT", first, "was changed below since it was changed here", {
    details: { paths },
  });
}

/** Reads the files whose content is still at the source of a copy, before the commit changes the sources. */
async function readCopiedFiles(layer: OverlayLayer): Promise<void> {
  for (const [path, node] of layer.upper) {
    if (node?.type !== "file" || node.bytes !== null || node.from === null) continue;
    if (!layer.touched(node.from.path)) continue;
    layer.upper.set(path, { ...node, bytes: await layer.content(node), from: null });
  }
}

async function commitEntry(
  layer: OverlayLayer,
  lower: FsBackend,
  path: string,
  node: ChangedNode | null,
  counts: { written: number; made: number; removed: number },
): Promise<void> {
  const there = await layer.below(path);
  const stays =
    (node?.type === "file" && there?.type === "file") ||
    (node?.type === "dir" && there?.type === "dir" && layer.base.get(path) === null);
  if (there !== null && !stays) {
    const base = layer.base.get(path);
    if (there.type === "dir" || typeof base !== "string") await removeTreeVia(lower, path);
    else await deleteVia(lower, path, { ifVersion: there.version === undefined ? undefined : base });
    counts.removed += node === null ? 1 : 0;
  }
  if (node === null) return;
  if (node.type === "dir") {
    if (stays) return;
    await lower.mkdir(path, { parents: false, existOk: false });
    counts.made += 1;
    return;
  }
  counts.written += 1;
  if (node.type === "symlink") return symlinkVia(lower, node.target, path);
  const base = layer.base.get(path);
  const { mode } = node.stat;
  await writeVia(lower, path, await layer.content(node), {
    ...(stays && typeof base === "string" ? { ifVersion: base } : { ifAbsent: true }),
    ...(lower.chmod === undefined ? {} : { mode }),
  });
  if (lower.chmod !== undefined && mode !== undefined && there?.mode !== undefined && there.mode !== mode)
    await chmodVia(lower, path, mode);
}
