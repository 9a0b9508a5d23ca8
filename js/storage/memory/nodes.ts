/**
 * The immutable tree of a storage in memory. A commit makes new nodes for the entries that it changes and for the
 * directories above them. Forks, snapshots and the history share all other nodes.
 */
import { compareCodePoints } from "../../backends/paths.ts";
import type { Entry } from "../entry.ts";

/** A file. Its bytes never change. */
export interface StoredFile {
  readonly entry: Entry;
  readonly body: Uint8Array;
}

/** A directory. */
export interface StoredDir {
  readonly entry: Entry;
  readonly children: ReadonlyMap<string, StoredNode>;
}

/** A symbolic link. */
interface StoredLink {
  readonly entry: Entry;
}

/** An entry of the tree. */
export type StoredNode = StoredFile | StoredDir | StoredLink;

/** Returns true for a directory. */
export function isDirNode(node: StoredNode | undefined): node is StoredDir {
  return node !== undefined && "children" in node;
}

/** Returns true for a file. */
export function isFileNode(node: StoredNode | undefined): node is StoredFile {
  return node !== undefined && "body" in node;
}

/** Returns the node at a path, or undefined. No link is followed, so nothing is below a file or a link. */
export function nodeAt(root: StoredDir, path: string): StoredNode | undefined {
  let node: StoredNode | undefined = root;
  if (path === "/") return node;
  for (const name of path.slice(1).split("/")) {
    if (!isDirNode(node)) return undefined;
    node = node.children.get(name);
  }
  return node;
}

/** Yields a node and everything below it, parents first. */
export function* nodesOf(node: StoredNode): Generator<StoredNode> {
  const pending: StoredNode[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    if (isDirNode(next)) pending.push(...next.children.values());
  }
}

/**
 * Yields the entries below a directory whose paths are greater than `after`, sorted by the code points of the whole
 * path. `-` comes before `/`, so `/a-b` comes between `/a` and `/a/x`. A directory therefore has two items in the order
 * of its siblings: its own entry, with the key `/a`, and its content, with the key `/a/`.
 */
export function* entriesByPath(dir: StoredDir, depth: number, after: string): Generator<Entry> {
  const { path } = dir.entry;
  const prefix = path === "/" ? "/" : `${path}/`;
  const items: { readonly sortKey: string; readonly node: StoredNode; readonly isContent: boolean }[] = [];
  for (const [name, node] of dir.children) {
    const childPath = prefix + name;
    if (compareCodePoints(childPath, after) > 0) items.push({ sortKey: childPath, node, isContent: false });
    if (depth <= 1 || !isDirNode(node)) continue;
    const contentPrefix = `${childPath}/`;
    // The content is needed if `after` is one of its paths, or comes before all of them.
    if (after.startsWith(contentPrefix) || compareCodePoints(contentPrefix, after) > 0)
      items.push({ sortKey: contentPrefix, node, isContent: true });
  }
  items.sort((a, b) => compareCodePoints(a.sortKey, b.sortKey));
  for (const { node, isContent } of items) {
    if (isContent) yield* entriesByPath(node as StoredDir, depth - 1, after);
    else yield node.entry;
  }
}

/**
 * Returns the paths at which two trees have different entry objects, also when a later commit wrote the same content
 * again. Nodes that both trees share are not visited.
 */
export function changedPaths(before: StoredDir, after: StoredDir): readonly string[] {
  const found: string[] = [];
  const compare = (a: StoredNode | undefined, b: StoredNode | undefined): void => {
    if (a === b) return;
    const entry = (b ?? a)?.entry as Entry;
    if (a?.entry !== b?.entry) found.push(entry.path);
    const [inA, inB] = [childrenOf(a), childrenOf(b)];
    for (const [name, node] of inA) compare(node, inB.get(name));
    for (const [name, node] of inB) if (!inA.has(name)) compare(undefined, node);
  };
  compare(before, after);
  return found;
}

const NO_CHILDREN: ReadonlyMap<string, StoredNode> = new Map();

function childrenOf(node: StoredNode | undefined): ReadonlyMap<string, StoredNode> {
  return isDirNode(node) ? node.children : NO_CHILDREN;
}

/**
 * Returns the paths at which a search finds something else in two trees: another type, content or target. A directory
 * that both have does not differ itself. Nodes that both trees share are not visited.
 */
export function differingPaths(before: StoredDir, after: StoredDir): readonly string[] {
  const found: string[] = [];
  const compare = (a: StoredNode | undefined, b: StoredNode | undefined): void => {
    if (a === b) return;
    if (a === undefined || b === undefined || !isSameContent(a.entry, b.entry))
      found.push(((b ?? a) as StoredNode).entry.path);
    const [inA, inB] = [childrenOf(a), childrenOf(b)];
    for (const [name, node] of inA) compare(node, inB.get(name));
    for (const [name, node] of inB) if (!inA.has(name)) compare(undefined, node);
  };
  compare(before, after);
  return found;
}

function isSameContent(a: Entry, b: Entry): boolean {
  if (a === b) return true;
  if (a.type !== b.type || a.target !== b.target) return false;
  return a.type !== "file" || (a.hash !== undefined && a.hash === b.hash && a.size === b.size);
}
