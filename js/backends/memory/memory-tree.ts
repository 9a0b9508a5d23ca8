/**
 * The tree of a memory backend: nodes, and the walk from `/` to a node. `memory.ts` maps nodes to the
 * backend's interface.
 */
import { LinkWalk } from "../fallback/links.ts";
import { childOf, compareCodePoints, isLongName, nameOf, parentOf, sortCodePoints } from "../paths.ts";
import { sortYielding, type Yielder } from "../../engine/yielder.ts";
import { walkNow } from "../walk/drive.ts";
import { type ListStep, TreeWalk, type WalkedEntry } from "../walk/walk.ts";

let lastStamp = 0;
let lastNodeId = 0;

/** Returns a number that no other node ever had. */
export function newNodeId(): number {
  return ++lastNodeId;
}

interface NodeFacts {
  /** The permission bits of a node. */
  mode: number;
  /** The time of the last change of a node's content, in milliseconds since 1970. */
  mtime: number;
  ctime: number;
  readonly birthtime: number;
  /** The id of a node. A file that is written gets a new id, like a replaced file on a disk. */
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
  /** The names in the order of listings: directories first, then by code point. Null after a change of the names. */
  names: readonly string[] | null;
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

/** The result of walking a path in the tree of a memory backend. */
export interface WalkResult {
  /** The visited directories, `/` first; the last one contains the first missing name or the node. */
  readonly dirs: readonly DirNode[];
  /** The real path of the last directory that was visited. */
  readonly real: string;
  /** The last name of the path; empty when the walk ended in a directory itself (`/`, or a link to `..`). */
  readonly name: string;
  /** The node at the path; undefined when a name is missing. */
  readonly node: MemoryNode | undefined;
  /** The names of the path after the first missing one; empty if only the last name is missing. */
  readonly beyond: readonly string[];
}

/** A new, empty directory. */
export function newDir(now: number, mode: number): DirNode {
  const times = { mtime: now, ctime: now, birthtime: now };
  return {
    type: "dir",
    children: new Map(),
    names: null,
    stamp: ++lastStamp,
    mode,
    ...times,
    id: newNodeId(),
  };
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
  noteDirectoryChange(dir, now);
}

/** Removes a name. */
export function unlinkEntry(dir: DirNode, name: string, now: number): void {
  dir.children.delete(name);
  noteDirectoryChange(dir, now);
}

function noteDirectoryChange(dir: DirNode, now: number): void {
  dir.mtime = now;
  dir.ctime = now;
  dir.names = null;
  touchNode(dir);
}

/** Returns the names of a directory in the order of listings; sorted once per change. */
export function namesOf(dir: DirNode): readonly string[] {
  if (dir.names !== null) return dir.names;
  const { directories, others } = unsortedNames(dir);
  dir.names = sortCodePoints(directories).concat(sortCodePoints(others));
  return dir.names;
}

/**
 * Returns the names of a directory in the order of listings, sorted in slices. They are not kept when the
 * directory changes meanwhile. @throws CANCELLED
 */
export async function namesYielding(dir: DirNode, yielder: Yielder): Promise<readonly string[]> {
  if (dir.names !== null) return dir.names;
  const { stamp } = dir;
  const { directories, others } = unsortedNames(dir);
  const sorted = (names: readonly string[]) => sortYielding(names, compareCodePoints, yielder);
  const names = [...(await sorted(directories)), ...(await sorted(others))];
  if (dir.stamp === stamp) dir.names = names;
  return names;
}

/** Returns the names of a directory by type. */
function unsortedNames(dir: DirNode): Record<"directories" | "others", string[]> {
  const names = { directories: [] as string[], others: [] as string[] };
  for (const [name, { type }] of dir.children) (type === "dir" ? names.directories : names.others).push(name);
  return names;
}

interface NodeEntry extends WalkedEntry {
  readonly parent: DirNode;
}

/**
 * Yields every descendant of a directory with its path, in path order; parents before their content. With
 * `temporary` false, without Filewright's temporary files.
 */
export function* nodesBelow(
  dir: DirNode,
  path: string,
  temporary = true,
): Generator<readonly [string, MemoryNode]> {
  const walk = new TreeWalk<NodeEntry>(path, { unreadable: "throw", temporary });
  const list = ({ entry, directory }: ListStep<NodeEntry>): readonly NodeEntry[] => {
    const parent = entry === undefined ? dir : entry.parent.children.get(entry.name);
    // The directory was removed or replaced since it was listed.
    if (parent?.type !== "dir") return [];
    // The names are kept sorted, so that little is left to sort.
    return namesOf(parent).map((name) => {
      const { type } = parent.children.get(name) as MemoryNode;
      return { name, path: childOf(directory, name), type, parent };
    });
  };
  for (const { name, path: at, parent } of walkNow(walk, list)) {
    const node = parent.children.get(name);
    if (node !== undefined) yield [at, node];
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
    fresh === undefined ? {} : { mtime: fresh.now, ctime: fresh.now, birthtime: fresh.now, id: newNodeId() };
  if (node.type === "dir") return { ...node, ...times, children: new Map(), names: null, stamp: ++lastStamp };
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

  /** Walks a path like {@link walkTo}, but begins at the directory of the path where it is known. */
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
