/**
 * The tree of a storage in memory. Nodes never change: a commit makes new ones for what it changes and for the
 * directories above, so that a fork, a snapshot and the history share everything else.
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

/** Returns the node at a path; undefined when there is none, also below a file or a link. */
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
 * Yields the entries below a directory by the code points of their whole paths, those after `after`. `/a-b` comes
 * between `/a` and `/a/x`, so each directory has two places among its siblings: its own and that of its content.
 */
export function* entriesByPath(dir: StoredDir, depth: number, after: string): Generator<Entry> {
  const { path } = dir.entry;
  const before = path === "/" ? "/" : `${path}/`;
  const places: { readonly at: string; readonly node: StoredNode; readonly content: boolean }[] = [];
  for (const [name, node] of dir.children) {
    const at = before + name;
    if (compareCodePoints(at, after) > 0) places.push({ at, node, content: false });
    if (depth <= 1 || !isDirNode(node)) continue;
    const inside = `${at}/`;
    if (after.startsWith(inside) || compareCodePoints(inside, after) > 0)
      places.push({ at: inside, node, content: true });
  }
  places.sort((a, b) => compareCodePoints(a.at, b.at));
  for (const { node, content } of places) {
    if (content) yield* entriesByPath(node as StoredDir, depth - 1, after);
    else yield node.entry;
  }
}

/** Returns the paths whose entries differ in two trees. What both share is not visited. */
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
