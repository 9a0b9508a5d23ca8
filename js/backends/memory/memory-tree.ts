/**
 * The tree of a memory backend: nodes, and the walk from `/` to a node. `memory.ts` maps nodes to the
 * backend's interface.
 */
import { LinkWalk } from "../fallback/links.ts";
import { childOf, compareCodePoints, isLongName, nameOf, parentOf, sortCodePoints } from "../paths.ts";
import { sortYielding, type Yielder } from "../../engine/yielder.ts";

let lastStamp = 0;
let lastId = 0;

/** Returns a number that no other node ever had. */
export function newId(): number {
  return ++lastId;
}

interface NodeFacts {
  /** Permission bits. */
  mode: number;
  /** The time of the last change of the content, in milliseconds since 1970, like the other times. */
  mtime: number;
  ctime: number;
  readonly birthtime: number;
  /** The id of the entry. A file that is written gets a new one, like a replaced file on a disk. */
  id: number;
}

/** A regular file. Its bytes are never changed in place, only replaced. */
export interface FileNode extends NodeFacts {
  readonly type: "file";
  bytes: Uint8Array;
  /** A number that no other content of the backend ever had. */
  version: number;
}

/** A directory. */
export interface DirNode extends NodeFacts {
  readonly type: "dir";
  readonly children: Map<string, MemoryNode>;
  /** The names in both sort orders; null after a change of the names. */
  orders: NameOrders | null;
  /**
   * A number that no other state of a directory ever had. It changes when an entry, or an ignore
   * file in it, changes.
   */
  stamp: number;
}

/** A symbolic link. */
interface LinkNode extends NodeFacts {
  readonly type: "symlink";
  readonly target: string;
}

/** An entry of the tree. */
export type MemoryNode = FileNode | DirNode | LinkNode;

interface NameOrders {
  /** Directories first, then by code point. */
  readonly listing: readonly string[];
  /** Sorted so that the full paths of everything below the directory are in code-point order. */
  readonly walk: readonly string[];
}

/** The result of a walk. */
export interface WalkResult {
  /** The visited directories, `/` first; the last one contains the first missing name or the node. */
  readonly dirs: readonly DirNode[];
  /** The real path of the last directory. */
  readonly real: string;
  /** The last name; empty when the walk ended in a directory itself (`/`, or a link to `..`). */
  readonly name: string;
  /** The node; undefined when a name is missing. */
  readonly node: MemoryNode | undefined;
  /** The names after the first missing one; empty if only the last name is missing. */
  readonly beyond: readonly string[];
}

/** A new, empty directory. */
export function newDir(now: number, mode: number): DirNode {
  const times = { mtime: now, ctime: now, birthtime: now };
  return { type: "dir", children: new Map(), orders: null, stamp: ++lastStamp, mode, ...times, id: newId() };
}

/**
 * Walks from `/` along a normalised absolute path. A link at the very end is followed only with
 * `follow`.
 * @throws NOT_DIRECTORY, LOOP, NAME_TOO_LONG
 */
function walkTo(root: DirNode, path: string, follow: boolean): WalkResult {
  return walkPlain(root, path, follow) ?? walkFollowing(root, path, follow);
}

const NOTHING_BEYOND: readonly string[] = Object.freeze([]);

/**
 * The fast path of {@link walkTo}: every name exists and no link is on the way. Undefined for any
 * other path.
 */
function walkPlain(root: DirNode, path: string, follow: boolean): WalkResult | undefined {
  const dirs = [root];
  let dir = root;
  for (let from = 1; ; ) {
    const to = path.indexOf("/", from);
    const name = to < 0 ? path.slice(from) : path.slice(from, to);
    // No entry has an empty name, `.` or `..`: such a name is not found here.
    const node = dir.children.get(name);
    if (node === undefined) return undefined;
    if (to < 0) {
      if (follow && node.type === "symlink") return undefined;
      return { dirs, real: from === 1 ? "/" : path.slice(0, from - 1), name, node, beyond: NOTHING_BEYOND };
    }
    if (node.type !== "dir") return undefined;
    dirs.push(node);
    dir = node;
    from = to + 1;
  }
}

function walkFollowing(root: DirNode, path: string, follow: boolean): WalkResult {
  const walk = new LinkWalk(path, follow);
  const { names } = walk;
  const dirs: DirNode[] = [root];
  let node: MemoryNode | undefined;
  for (let name = walk.next(); name !== undefined; name = walk.next()) {
    // `..` and an absolute target lead back to a directory that was passed.
    dirs.length = names.length + 1;
    node = (dirs.at(-1) as DirNode).children.get(name);
    walk.found(node ?? null);
    if (node?.type === "dir") dirs.push(node);
  }
  // The path can end in a directory by way of `.` or `..`; then the last look was at another entry.
  if (walk.beyond === undefined) node = dirs[names.length] ?? node;
  dirs.length = Math.max(1, names.length);
  const real = `/${names.slice(0, -1).join("/")}`;
  return { dirs, real, name: names.at(-1) ?? "", node, beyond: walk.beyond ?? NOTHING_BEYOND };
}

/** Returns the directory that contains, or would contain, the entry of a walk. */
export function parentDirectory(found: WalkResult): DirNode {
  return found.dirs[found.dirs.length - 1] as DirNode;
}

/** Returns the real path of a walk's result, missing names kept. */
export function realPath(found: WalkResult): string {
  const names = [found.name, ...found.beyond].filter((name) => name !== "" && name !== ".");
  return names.reduce(childOf, found.real);
}

/** Adds a node under a name, replacing an existing one. */
export function linkEntry(dir: DirNode, name: string, node: MemoryNode, now: number): void {
  dir.children.set(name, node);
  noteChange(dir, now);
}

/** Removes a name. */
export function unlinkEntry(dir: DirNode, name: string, now: number): void {
  dir.children.delete(name);
  noteChange(dir, now);
}

function noteChange(dir: DirNode, now: number): void {
  dir.mtime = now;
  dir.ctime = now;
  dir.orders = null;
  touchNode(dir);
}

/** Returns the names of a directory in both orders; sorted once per change. */
export function ordersOf(dir: DirNode): NameOrders {
  if (dir.orders !== null) return dir.orders;
  const { directories, others, keys } = unsortedNames(dir);
  const files = sortCodePoints(others);
  // Both orders differ only where directories come first.
  if (directories.length === 0) dir.orders = { listing: files, walk: files };
  if (dir.orders !== null) return dir.orders;
  const listing = sortCodePoints(directories).concat(files);
  dir.orders = { listing, walk: sortCodePoints(keys).map(nameOfKey) };
  return dir.orders;
}

/** Returns the same, sorted in slices; not kept when the directory changes meanwhile. @throws CANCELLED */
export async function ordersYielding(dir: DirNode, yielder: Yielder): Promise<NameOrders> {
  if (dir.orders !== null) return dir.orders;
  const { stamp } = dir;
  const { directories, others, keys } = unsortedNames(dir);
  const sorted = (names: readonly string[]) => sortYielding(names, compareCodePoints, yielder);
  const files = await sorted(others);
  if (directories.length === 0) return keepOrders(dir, stamp, { listing: files, walk: files });
  const listing = [...(await sorted(directories)), ...files];
  return keepOrders(dir, stamp, { listing, walk: (await sorted(keys)).map(nameOfKey) });
}

/** Stores the sort orders in the directory, unless it has changed since `stamp`, and returns them. */
function keepOrders(dir: DirNode, stamp: DirNode["stamp"], orders: NameOrders): NameOrders {
  if (dir.stamp === stamp) dir.orders = orders;
  return orders;
}

/** Returns the names of a directory by type, and the keys of the walk order: a directory's ends with a slash. */
function unsortedNames(dir: DirNode): Record<"directories" | "others" | "keys", string[]> {
  const names = { directories: [] as string[], others: [] as string[], keys: [] as string[] };
  for (const [name, { type }] of dir.children) {
    (type === "dir" ? names.directories : names.others).push(name);
    names.keys.push(type === "dir" ? `${name}/` : name);
  }
  return names;
}

function nameOfKey(key: string): string {
  return key.endsWith("/") ? key.slice(0, -1) : key;
}

/** Yields every descendant of a directory with its path, in path order; parents before their content. */
export function* nodesBelow(dir: DirNode, path: string): Generator<readonly [string, MemoryNode]> {
  const levels = [{ dir, path, names: ordersOf(dir).walk, at: 0 }];
  for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
    const name = level.names[level.at++];
    if (name === undefined) {
      levels.pop();
      continue;
    }
    const node = level.dir.children.get(name);
    if (node === undefined) continue; // Removed since the directory was entered.
    const at = childOf(level.path, name);
    yield [at, node];
    if (node.type === "dir") levels.push({ dir: node, path: at, names: ordersOf(node).walk, at: 0 });
  }
}

/** Sets a new stamp on a directory. */
export function touchNode(dir: DirNode): void {
  dir.stamp = ++lastStamp;
}

/** The attributes that a copy does not share with the original. */
export interface CopyAttributes {
  readonly now: number;
  /** Returns a version that no content ever had. */
  version(): number;
}

/** Returns a copy that shares no mutable state; contents are shared because they never change. */
export function cloneDir(dir: DirNode, fresh?: CopyAttributes): DirNode {
  const top = cloneNode(dir, fresh) as DirNode;
  const levels: [DirNode, DirNode][] = [[dir, top]];
  for (let pair = levels.pop(); pair !== undefined; pair = levels.pop()) {
    for (const [name, node] of pair[0].children) {
      const copy = cloneNode(node, fresh);
      pair[1].children.set(name, copy);
      if (node.type === "dir") levels.push([node, copy as DirNode]);
    }
  }
  return top;
}

/** Returns a copy of one node; of a directory without its content. */
export function cloneNode(node: MemoryNode, fresh?: CopyAttributes): MemoryNode {
  const times =
    fresh === undefined ? {} : { mtime: fresh.now, ctime: fresh.now, birthtime: fresh.now, id: newId() };
  if (node.type === "dir")
    return { ...node, ...times, children: new Map(), orders: null, stamp: ++lastStamp };
  if (node.type === "file" && fresh !== undefined) return { ...node, ...times, version: fresh.version() };
  return { ...node, ...times };
}

/** The maximum number of cached paths to directories. One more empties the cache. */
const MAX_KNOWN_DIRECTORIES = 64;

/**
 * The directories along some paths without a link, so that a walk to an entry deep in a tree does not begin
 * at `/` each time. The owner clears it when a directory is removed or replaced.
 */
export class KnownDirectories {
  /** Path → the directories along it, `/` first. */
  readonly #known = new Map<string, readonly DirNode[]>();

  clear(): void {
    this.#known.clear();
  }

  /** The same as {@link walkTo}, from the directory of the path where it is known. */
  walk(root: DirNode, path: string, follow: boolean): WalkResult {
    const parent = parentOf(path);
    const known = this.#along(parent);
    if (known !== undefined) {
      const name = nameOf(path);
      const node = known[known.length - 1]?.children.get(name);
      if (node === undefined ? isPossibleName(name) : node.type !== "symlink" || !follow)
        return { dirs: known, real: parent, name, node, beyond: [] };
    }
    const found = walkTo(root, path, follow);
    // A link on the way makes the real path another one.
    if (known === undefined && found.real === parent && found.beyond.length === 0 && path !== "/")
      this.#remember(parent, found.dirs);
    return found;
  }

  /** Returns the directories along a path, `/` first, where they or those above are known. */
  #along(path: string): readonly DirNode[] | undefined {
    const known = this.#known.get(path);
    if (known !== undefined || path === "/") return known;
    const above = this.#known.get(parentOf(path));
    const last = above?.[above.length - 1]?.children.get(nameOf(path));
    return above === undefined || last?.type !== "dir" ? undefined : this.#remember(path, [...above, last]);
  }

  #remember(path: string, directories: readonly DirNode[]): readonly DirNode[] {
    if (this.#known.size >= MAX_KNOWN_DIRECTORIES) this.#known.clear();
    this.#known.set(path, directories);
    return directories;
  }
}

/** Returns true for a name that an entry can have. For any other name, no entry can be missing. */
function isPossibleName(name: string): boolean {
  return name !== "" && name !== "." && name !== ".." && !isLongName(name);
}
