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

/** A file whose content is in the tree. The array is never written to; the edit that made the node may put in another. */
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
  /** A number that no other set of these nodes ever had. A file that is changed in place keeps it. */
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

/** Returns the first entries below a node, as {@link nodesByPath} orders them; none for what is no directory. */
export function entriesPage<E extends NodeEntry>(
  node: TreeNode<E> | undefined,
  { depth, after, limit }: { readonly depth: number; readonly after: string; readonly limit: number },
): EntriesPage<E> {
  const entries: E[] = [];
  if (!isDirNode(node)) return { entries };
  for (const { entry } of nodesByPath(node, depth, after)) {
    if (entries.length === limit) return { entries, next: (entries.at(-1) as E).path };
    entries.push(entry);
  }
  return { entries };
}

/**
 * Yields the nodes below a directory whose paths are greater than `after`, sorted by the code points of the whole path.
 * `-` comes before `/`, so `/a-b` comes between `/a` and `/a/x`. A directory is read when its content is reached.
 */
export function* nodesByPath<E extends NodeEntry>(
  top: DirNode<E>,
  depth: number = Number.POSITIVE_INFINITY,
  after = "",
): Generator<TreeNode<E>> {
  const levels = [itemsOf(top, depth > 1, after).values()];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const { value: item } = level.next();
    if (item === undefined) levels.pop();
    else if (item.content === undefined) yield item.node;
    else levels.push(itemsOf(item.content, depth > levels.length + 1, after).values());
  }
}

/** An item of a directory in the order of its siblings: an entry, with the key `/a`, or its content, with the key `/a/`. */
interface DirectoryItem<E> {
  readonly sortKey: string;
  readonly node: TreeNode<E>;
  readonly content: DirNode<E> | undefined;
}

function itemsOf<E extends NodeEntry>(
  dir: DirNode<E>,
  withContents: boolean,
  after: string,
): DirectoryItem<E>[] {
  const { path } = dir.entry;
  const prefix = path === "/" ? "/" : `${path}/`;
  const items: DirectoryItem<E>[] = [];
  for (const [name, node] of dir.children) {
    const sortKey = prefix + name;
    if (compareCodePoints(sortKey, after) > 0) items.push({ sortKey, node, content: undefined });
    if (!withContents || !isDirNode(node)) continue;
    const contentKey = `${sortKey}/`;
    // The content is needed if `after` is one of its paths, or comes before all of them.
    if (after.startsWith(contentKey) || compareCodePoints(contentKey, after) > 0)
      items.push({ sortKey: contentKey, node, content: node });
  }
  return items.sort((a, b) => compareCodePoints(a.sortKey, b.sortKey));
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
