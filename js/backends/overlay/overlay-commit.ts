/** Computes the changes of an overlay, and commits them to the lower backend. */
import { equalBytes } from "../../engine/wire/bytes.ts";
import type { EntryType, FsStat } from "../backend.ts";
import { backendError } from "../failure.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { isBelowAny, sortCodePoints } from "../paths.ts";
import { type Expected, makeOps, type Op, pathOfOp } from "../transaction/op.ts";
import { transact } from "../transaction/transaction.ts";
import {
  type ChangedNode,
  type ChangedPath,
  DIRECTORY_VERSION,
  givenMode,
  nodeOf,
  versionOf,
} from "./draft.ts";
import type { OverlayLayer } from "./overlay-layer.ts";

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

/** A changed path, and the entry of the lower backend there now. */
interface Compared {
  readonly path: string;
  readonly changed: ChangedPath;
  /** The entry of the overlay; null for a removed one, undefined where only permission bits were given. */
  readonly node: ChangedNode | null | undefined;
  readonly below: FsStat | null;
}

/** Returns the changed paths in their order. */
async function compare(layer: OverlayLayer): Promise<readonly Compared[]> {
  const state = layer.draft.snapshot();
  const compared: Compared[] = [];
  for (const path of sortCodePoints([...state.keys()])) {
    const changed = state.get(path) as ChangedPath;
    if (changed.now.type !== "hidden")
      compared.push({ path, changed, node: nodeOf(changed), below: await layer.below(path) });
  }
  return compared;
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
  for (const one of await compare(layer)) {
    const { path, node, below } = one;
    const change = await changeOf(layer, one);
    if (change !== undefined) add(path, change, (node ?? below)?.type ?? "dir");
    if (node?.type !== "dir" || below?.type !== "dir") continue;
    for await (const entry of walkTree(layer.lower, path))
      if (!entry.isDir && (await layer.at(entry.path)) === null) add(entry.path, "removed", entry.type);
  }
  return Object.freeze(sortCodePoints([...found.keys()]).map((path) => found.get(path) as OverlayChange));
}

async function changeOf(layer: OverlayLayer, one: Compared): Promise<OverlayChange["change"] | undefined> {
  const { node, below } = one;
  if (node === null) return below === null ? undefined : "removed";
  if (below === null) return node === undefined ? undefined : "added";
  return (await isDifferent(layer, one, below)) ? "changed" : undefined;
}

/** Returns true for an entry that differs from the one below. What is in a directory does not count. */
async function isDifferent(
  layer: OverlayLayer,
  { node, changed }: Compared,
  below: FsStat,
): Promise<boolean> {
  if (node && node.type !== below.type) return true;
  if (node?.type === "symlink") return node.target !== below.target;
  const mode = node?.type === "file" ? node.stat.mode : givenMode(changed);
  const hasModes = below.mode !== undefined && layer.lower.abilities.modes;
  if (hasModes && mode !== undefined && mode !== below.mode) return node !== undefined || below.isDir;
  if (node?.type !== "file") return false;
  if (node.stat.size !== below.size) return true;
  return !equalBytes(await layer.content(node), await layer.lower.readBytes(below.path));
}

/** Commits the changes to the lower backend, all or none. @throws CONFLICT with `details.paths` */
export async function commitLayer(
  layer: OverlayLayer,
  signal: AbortSignal | undefined,
): Promise<OverlayCommit> {
  await assertUnchangedBelow(layer);
  const { ops, there } = await planCommit(layer);
  const linked = async (path: string): Promise<Uint8Array | undefined> => {
    const node = layer.draft.node(path);
    return node?.type === "file" ? layer.content(node) : undefined;
  };
  await transact(layer.lower, (fs) =>
    makeOps(ops, { fs, signal, there: (path) => there.get(path) ?? null, linked }),
  );
  layer.draft.clear();
  const made = new Set(ops.filter(({ op }) => op !== "remove").map(pathOfOp));
  const count = (...kinds: readonly Op["op"][]): number => ops.filter(({ op }) => kinds.includes(op)).length;
  return Object.freeze({
    written: count("put", "link", "symlink"),
    made: count("mkdir"),
    removed: ops.filter((op) => op.op === "remove" && !made.has(op.path)).length,
  });
}

/** Refuses the commit, before its first write, if a file was changed below since the overlay first changed it. */
async function assertUnchangedBelow(layer: OverlayLayer): Promise<void> {
  const paths = new Set<string>();
  const state = layer.draft.snapshot();
  for (const [path, changed] of state) {
    const node = nodeOf(changed);
    if (node === undefined) continue;
    const { was } = changed;
    const now = await layer.versionBelow(path);
    // A directory that another process has created meanwhile is fine.
    const isMade = was === null && now === DIRECTORY_VERSION && node?.type === "dir";
    if (now !== versionOf(was) && !isMade) paths.add(path);
    else if (was?.type === "dir")
      for (const file of differing(was.tree.files, (await layer.treeBelow(path)).files)) paths.add(file);
  }
  const [first] = sortCodePoints([...paths]);
  if (first === undefined) return;
  throw backendError("CONFLICT", first, "was changed below since it was changed here", {
    details: { paths: [...paths] },
  });
}

/** Returns the keys at which two maps differ. */
function differing(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
}

/** Returns the changes of a commit, each directory before its content, with the entries that they replace. */
async function planCommit(layer: OverlayLayer): Promise<{
  readonly ops: readonly Op[];
  readonly there: ReadonlyMap<string, Expected>;
}> {
  const ops: Op[] = [];
  const there = new Map<string, Expected>();
  const removed = new Set<string>();
  for (const one of await compare(layer)) {
    const { path, changed } = one;
    const { was } = changed;
    const below = isBelowAny(path, removed) ? null : one.below;
    const kept = below && keptBy(one);
    if (below !== null) there.set(path, { ...below, version: was?.type === "file" ? was.version : "" });
    if (below !== null && kept === null) {
      ops.push({ op: "remove", path, tree: below.type === "dir" });
      removed.add(path);
    }
    const op = await opOf(layer, one, kept);
    if (op !== undefined) ops.push(op);
  }
  return { ops, there };
}

/** Returns the entry below that a commit changes in place; null where it removes one, and makes another. */
function keptBy({ node, below, changed }: Compared): FsStat | null {
  if (node === undefined) return below;
  const isSame = node?.type === below?.type && (node?.type === "file" || changed.was === null);
  return isSame ? below : null;
}

/** Returns the change that makes the entry of the overlay. `kept` is the one that is there and stays; null for none. */
async function opOf(
  layer: OverlayLayer,
  { path, node, changed }: Compared,
  kept: FsStat | null,
): Promise<Op | undefined> {
  if (node?.type === "symlink") return { op: "symlink", path, target: node.target };
  if (node?.type === "file") {
    const { size, mode } = node.stat;
    // The content of a copy stays at its source until it is written, unless the commit changes the source.
    const isBelow = !(node.content instanceof Uint8Array) && !layer.draft.isCovered(node.content.path);
    if (isBelow) return { op: "link", path, hash: "", size, mode };
    return { op: "put", path, body: await layer.content(node), mode };
  }
  const mode = givenMode(changed);
  if (node?.type === "dir" && kept === null) return { op: "mkdir", path, mode };
  return mode === undefined || mode === kept?.mode ? undefined : { op: "chmod", path, mode };
}
