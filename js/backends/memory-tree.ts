/**
 * The tree of a memory backend: nodes, and the walk from `/` to a node.
 *
 * The walk is POSIX path resolution: links are followed where they stand, `..`
 * in a link's target is the real parent, forty links in a row are the limit.
 * What a node means to a caller is in `memory.ts`.
 */
import { failure } from "./failure.ts";
import { MAX_LINKS } from "./links.ts";
import { childOf, isLongName, sortCodePoints } from "./paths.ts";

let stamps = 0;
let ids = 0;

/** A number that no other node ever had. */
export function newId(): number {
  return ++ids;
}

interface Facts {
  /** Permission bits. */
  mode: number;
  /** Milliseconds since 1970, as the other times. */
  mtime: number;
  ctime: number;
  readonly birthtime: number;
  /** Of the entry itself. A file that is written gets a new one, as one that is replaced on a disk. */
  id: number;
}

/** A regular file. Its bytes are never changed in place, only exchanged. */
export interface FileNode extends Facts {
  readonly type: "file";
  bytes: Uint8Array;
  /** A number no other content of the backend ever had. */
  version: number;
}

/** A directory. */
export interface DirNode extends Facts {
  readonly type: "dir";
  readonly children: Map<string, Node>;
  /** The names in both orders in which they are asked for, until a name changes. */
  orders: Orders | null;
  /** A number that no other state of a directory ever had: what it holds, or an ignore file in it, changed. */
  stamp: number;
}

/** A symbolic link. */
export interface LinkNode extends Facts {
  readonly type: "symlink";
  readonly target: string;
}

/** What stands at a path. */
export type Node = FileNode | DirNode | LinkNode;

interface Orders {
  /** Directories first, then by code point. */
  readonly listing: readonly string[];
  /** So that the full paths of everything below come out by code point. */
  readonly walk: readonly string[];
}

/** Where a walk ended. */
export interface Walk {
  /** The directories passed, `/` first; the last one holds the first missing name or the node. */
  readonly dirs: readonly DirNode[];
  /** The real path of the last directory. */
  readonly real: string;
  /** The last name; empty when the walk ended in a directory itself (`/`, or a link to `..`). */
  readonly name: string;
  /** What is there; undefined when something is missing. */
  readonly node: Node | undefined;
  /** The names after a missing one: empty when only the last name is missing. */
  readonly beyond: readonly string[];
}

/** A new, empty directory. */
export function newDir(now: number, mode: number): DirNode {
  const times = { mtime: now, ctime: now, birthtime: now };
  return { type: "dir", children: new Map(), orders: null, stamp: ++stamps, mode, ...times, id: newId() };
}

/**
 * Goes from `/` along a normalised absolute path. A link at the very end is
 * entered only with `follow`.
 * @throws NOT_DIRECTORY, LOOP, NAME_TOO_LONG
 */
export function walk(root: DirNode, path: string, follow: boolean): Walk {
  return straight(root, path, follow) ?? around(root, path, follow);
}

const NOTHING: readonly string[] = Object.freeze([]);

/** The usual walk: every name is there and no link is on the way. Undefined for any other. */
function straight(root: DirNode, path: string, follow: boolean): Walk | undefined {
  const dirs = [root];
  let dir = root;
  for (let from = 1; ; ) {
    const to = path.indexOf("/", from);
    const name = to < 0 ? path.slice(from) : path.slice(from, to);
    // No entry has the names `.` and `..`, nor an empty one: they are not found here.
    const node = dir.children.get(name);
    if (node === undefined) return undefined;
    if (to < 0) {
      if (follow && node.type === "symlink") return undefined;
      return { dirs, real: from === 1 ? "/" : path.slice(0, from - 1), name, node, beyond: NOTHING };
    }
    if (node.type !== "dir") return undefined;
    dirs.push(node);
    dir = node;
    from = to + 1;
  }
}

function around(root: DirNode, path: string, follow: boolean): Walk {
  let dirs: DirNode[] = [root];
  let names: string[] = [];
  const pending = split(path);
  let links = 0;
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (name === ".") continue;
    if (name === "..") {
      if (dirs.length > 1) {
        dirs.pop();
        names.pop();
      }
      continue;
    }
    if (isLongName(name)) throw failure("NAME_TOO_LONG", path);
    const dir = dirs[dirs.length - 1] as DirNode;
    const node = dir.children.get(name);
    const last = pending.length === 0;
    if (node === undefined) {
      for (const rest of pending) if (isLongName(rest)) throw failure("NAME_TOO_LONG", path);
      return { dirs, real: `/${names.join("/")}`, name, node, beyond: pending.reverse() };
    }
    if (node.type === "symlink" && (!last || follow)) {
      if (++links > MAX_LINKS) throw failure("LOOP", path);
      if (node.target.startsWith("/")) {
        dirs = [root];
        names = [];
      }
      for (const part of split(node.target)) pending.push(part);
      continue;
    }
    if (last) {
      return { dirs, real: `/${names.join("/")}`, name, node, beyond: [] };
    }
    if (node.type !== "dir") throw failure("NOT_DIRECTORY", path);
    dirs.push(node);
    names.push(name);
  }
  // The path was `/`, or a link led to a directory by way of `.` or `..`.
  const node = dirs[dirs.length - 1] as DirNode;
  const name = names.pop() ?? "";
  if (dirs.length > 1) dirs.pop();
  return { dirs, real: `/${names.join("/")}`, name, node, beyond: [] };
}

/**
 * The names of a path, last one first. A last `.` or `/` stays as `.`: what is
 * before it must be a directory.
 */
function split(path: string): string[] {
  const names: string[] = [];
  const parts = path.split("/");
  for (let i = parts.length - 1; i >= 0; i--) {
    const part = parts[i] as string;
    if (part !== "" && part !== ".") names.push(part);
    else if (i > 0 && i === parts.length - 1) names.push(".");
  }
  return names;
}

/** The directory that holds, or would hold, what a walk looked for. */
export function holder(found: Walk): DirNode {
  return found.dirs[found.dirs.length - 1] as DirNode;
}

/** The real path of what a walk found, missing names kept. */
export function realPath(found: Walk): string {
  const names = [found.name, ...found.beyond].filter((name) => name !== "" && name !== ".");
  return names.reduce(childOf, found.real);
}

/** Puts a node under a name, replacing what is there. */
export function link(dir: DirNode, name: string, node: Node, now: number): void {
  dir.children.set(name, node);
  changed(dir, now);
}

/** Takes a name away. */
export function unlink(dir: DirNode, name: string, now: number): void {
  dir.children.delete(name);
  changed(dir, now);
}

function changed(dir: DirNode, now: number): void {
  dir.mtime = now;
  dir.ctime = now;
  dir.orders = null;
  touch(dir);
}

/** The names of a directory in both orders; sorted once per change. */
export function ordersOf(dir: DirNode): Orders {
  if (dir.orders !== null) return dir.orders;
  const directories: string[] = [];
  const others: string[] = [];
  const keys: string[] = [];
  for (const [name, node] of dir.children) {
    const isDir = node.type === "dir";
    (isDir ? directories : others).push(name);
    keys.push(isDir ? `${name}/` : name);
  }
  const listing = sortCodePoints(directories).concat(sortCodePoints(others));
  const walkOrder = sortCodePoints(keys).map((key) => (key.endsWith("/") ? key.slice(0, -1) : key));
  dir.orders = { listing, walk: walkOrder };
  return dir.orders;
}

/** Everything below a directory with its path, in path order; parents before their content. */
export function* below(dir: DirNode, path: string): Generator<readonly [string, Node]> {
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

/** Gives a directory a new stamp. */
export function touch(dir: DirNode): void {
  dir.stamp = ++stamps;
}

/** What a copy gets of its own instead of the original's. */
export interface Fresh {
  readonly now: number;
  /** A version no content ever had. */
  version(): number;
}

/** A copy that shares nothing that can change; contents are shared because they never do. */
export function cloneDir(dir: DirNode, fresh?: Fresh): DirNode {
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

/** A copy of one node; of a directory without its content. */
export function cloneNode(node: Node, fresh?: Fresh): Node {
  const times =
    fresh === undefined ? {} : { mtime: fresh.now, ctime: fresh.now, birthtime: fresh.now, id: newId() };
  if (node.type === "dir") return { ...node, ...times, children: new Map(), orders: null, stamp: ++stamps };
  if (node.type === "file" && fresh !== undefined) return { ...node, ...times, version: fresh.version() };
  return { ...node, ...times };
}
