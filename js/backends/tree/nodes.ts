/**
 * The tree of files in memory, of a backend, of a storage and of the moments that searches read. A node is changed only
 * by the edit that made it (`edit.ts`), and never after that edit has given its tree away. A later edit makes new nodes
 * for what it changes and for the directories above; commits, forks, snapshots and the history share all others.
 */
import type { FsEntry } from "../entry.ts";
import { compareCodePoints, sortCodePoints } from "../paths.ts";
import { sortYielding, type Yielder } from "../../engine/yielder.ts";

/** The facts of an entry that the tree itself needs. Each user of the tree adds its own. */
export interface NodeEntry {
  readonly path: string;
  readonly type: "file" | "dir" | "symlink" | "gone";
  readonly mode?: number | undefined;
  readonly target?: string | undefined;
}

/** A file whose content is in the tree. Its bytes never change. */
export interface FileNode<E> {
  readonly entry: E;
  readonly bytes: Uint8Array;
  readonly owner: number;
}

/** A directory. */
export interface DirNode<E> {
  readonly entry: E;
  readonly children: ReadonlyMap<string, TreeNode<E>>;
  readonly facts: DirectoryFacts;
  /** The number of the edit that may change this node. */
  readonly owner: number;
}

/** A symbolic link, or a file whose content is elsewhere. */
interface LeafNode<E> {
  readonly entry: E;
}

/** An entry of the tree. */
export type TreeNode<E> = FileNode<E> | DirNode<E> | LeafNode<E>;

/** The facts about the entries that stand directly in a directory. Nodes that differ only further down share them. */
export interface DirectoryFacts {
  /** A number that no other state of these entries ever had. */
  readonly stamp: number;
  /** Their names in the order of listings, once they were asked for. */
  names: readonly string[] | undefined;
  /** Their listing, where it cannot change and was asked for. */
  listing: readonly FsEntry[] | undefined;
}

let lastStamp = 0;

/** Returns the facts about a directory whose entries are in a new state. */
export function newFacts(): DirectoryFacts {
  return { stamp: ++lastStamp, names: undefined, listing: undefined };
}

/** Returns an empty directory that no edit may change. */
export function emptyDirectory<E>(entry: E): DirNode<E> {
  return { entry, children: new Map(), facts: newFacts(), owner: 0 };
}

/** Returns true for a directory. */
export function isDirNode<E>(node: TreeNode<E> | undefined): node is DirNode<E> {
  return node !== undefined && "children" in node;
}

/** Returns true for a file whose content is in the tree. */
export function isFileNode<E>(node: TreeNode<E> | undefined): node is FileNode<E> {
  return node !== undefined && "bytes" in node;
}

/** Returns the node at a path, or undefined. No link is followed, so nothing is below a file or a link. */
export function nodeAt<E>(root: DirNode<E>, path: string): TreeNode<E> | undefined {
  let node: TreeNode<E> | undefined = root;
  if (path === "/") return node;
  for (let from = 1; from > 0; ) {
    if (!isDirNode(node)) return undefined;
    const to = path.indexOf("/", from);
    node = node.children.get(to < 0 ? path.slice(from) : path.slice(from, to));
    from = to + 1;
  }
  return node;
}

/** Yields a node and everything below it, parents first. */
export function* nodesOf<E>(node: TreeNode<E>): Generator<TreeNode<E>> {
  const pending: TreeNode<E>[] = [node];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    yield next;
    if (isDirNode(next)) for (const child of next.children.values()) pending.push(child);
  }
}

/** The entries of a page, and the path after which the next page begins. */
export interface EntriesPage<E> {
  readonly entries: readonly E[];
  readonly next?: string;
}

/** Returns the first entries of {@link entriesByPath} below a node; none for what is no directory. */
export function entriesPage<E extends NodeEntry>(
  node: TreeNode<E> | undefined,
  { depth, after, limit }: { readonly depth: number; readonly after: string; readonly limit: number },
): EntriesPage<E> {
  const entries: E[] = [];
  if (!isDirNode(node)) return { entries };
  for (const entry of entriesByPath(node, depth, after)) {
    if (entries.length === limit) return { entries, next: (entries.at(-1) as E).path };
    entries.push(entry);
  }
  return { entries };
}

/**
 * Yields the entries below a directory whose paths are greater than `after`, sorted by the code points of the whole
 * path. `-` comes before `/`, so `/a-b` comes between `/a` and `/a/x`. A directory therefore has two items in the order
 * of its siblings: its own entry, with the key `/a`, and its content, with the key `/a/`.
 */
function* entriesByPath<E extends NodeEntry>(dir: DirNode<E>, depth: number, after: string): Generator<E> {
  const { path } = dir.entry;
  const prefix = path === "/" ? "/" : `${path}/`;
  const items: { readonly sortKey: string; readonly node: TreeNode<E>; readonly isContent: boolean }[] = [];
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
    if (isContent) yield* entriesByPath(node as DirNode<E>, depth - 1, after);
    else yield node.entry;
  }
}

/**
 * Returns the paths at which two trees differ: something stands in one of them alone, or `isSame` is false for the two
 * entries. Nodes that both trees share are not visited. By default two entry objects are never the same, also when a
 * later commit wrote the same content again.
 */
export function changedPaths<E extends NodeEntry>(
  before: DirNode<E>,
  after: DirNode<E>,
  isSame: (a: E, b: E) => boolean = () => false,
): readonly string[] {
  const found: string[] = [];
  const compare = (a: TreeNode<E> | undefined, b: TreeNode<E> | undefined): void => {
    if (a === b) return;
    const isKept = a !== undefined && b !== undefined && (a.entry === b.entry || isSame(a.entry, b.entry));
    if (!isKept) found.push(((b ?? a) as TreeNode<E>).entry.path);
    const [inA, inB] = [childrenOf(a), childrenOf(b)];
    for (const [name, node] of inA) compare(node, inB.get(name));
    for (const [name, node] of inB) if (!inA.has(name)) compare(undefined, node);
  };
  compare(before, after);
  return found;
}

const NO_CHILDREN = new Map<string, never>();

function childrenOf<E>(node: TreeNode<E> | undefined): ReadonlyMap<string, TreeNode<E>> {
  return isDirNode(node) ? node.children : NO_CHILDREN;
}

/** Returns the names of a directory in the order of listings: directories first, then by code point. */
export function namesOf<E>(dir: DirNode<E>): readonly string[] {
  dir.facts.names ??= namesByType(dir).flatMap(sortCodePoints);
  return dir.facts.names;
}

/** Returns the names of a directory as it is now, like {@link namesOf}, but sorted in slices. @throws CANCELLED */
export async function namesYielding<E>(dir: DirNode<E>, yielder: Yielder): Promise<readonly string[]> {
  const { facts } = dir;
  if (facts.names !== undefined) return facts.names;
  const [directories, others] = namesByType(dir);
  const sorted = (names: readonly string[]) => sortYielding(names, compareCodePoints, yielder);
  const names = [...(await sorted(directories)), ...(await sorted(others))];
  facts.names = names;
  return names;
}

/** Returns the names of the directories in a directory, and those of all other entries. */
function namesByType<E>(dir: DirNode<E>): [directories: string[], others: string[]] {
  const names: [string[], string[]] = [[], []];
  for (const [name, node] of dir.children) names[isDirNode(node) ? 0 : 1].push(name);
  return names;
}
