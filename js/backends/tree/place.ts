/** Finds the place of a path in a tree in memory, with links followed as POSIX defines it. */
import { backendError } from "../failure.ts";
import { LinkWalk, toFoundEntry } from "../fallback/links.ts";
import { checkPath, childOf, isLongName, normalise } from "../paths.ts";
import type { Standing, StandingEntry } from "./checks.ts";
import {
  type DirNode,
  type FileNode,
  isDirNode,
  isFileNode,
  type NodeEntry,
  type TreeNode,
} from "./nodes.ts";

type LinkEntry = NodeEntry & StandingEntry;

/** The place that a path leads to. */
export interface TreePlace<E extends StandingEntry> extends Standing {
  readonly entry: E | undefined;
  /** The node at the place; undefined when a name is missing. The path has the missing names, too. */
  readonly node: TreeNode<E> | undefined;
  /** The names of the path after the first missing one; empty if only the last name is missing. */
  readonly beyond: readonly string[];
}

/** A place where something stands. */
export type FoundTreePlace<E extends StandingEntry> = TreePlace<E> & {
  readonly entry: E;
  readonly node: TreeNode<E>;
};

/**
 * Returns the place of a path as a caller typed it. A link at the very end is followed with `follow`, and before a slash.
 * @throws INVALID_ARGUMENT, NOT_DIRECTORY, LOOP, NAME_TOO_LONG
 */
export function placeOf<E extends LinkEntry>(root: DirNode<E>, typed: string, follow: boolean): TreePlace<E> {
  const { path, directory } = normalise(checkedPath(typed));
  const place = placeAt(root, path, follow || directory);
  if (directory && place.node !== undefined && !isDirNode(place.node))
    throw backendError("NOT_DIRECTORY", typed);
  return place;
}

/** Returns the place of a typed path where something stands. @throws NOT_FOUND, as {@link placeOf} */
export function foundPlace<E extends LinkEntry>(
  root: DirNode<E>,
  typed: string,
  follow: boolean,
): FoundTreePlace<E> {
  const place = placeOf(root, typed, follow);
  if (place.node === undefined) throw backendError("NOT_FOUND", typed);
  return place as FoundTreePlace<E>;
}

/** Returns the file at a typed path. @throws IS_DIRECTORY, as {@link foundPlace} */
export function fileAt<E extends LinkEntry>(root: DirNode<E>, typed: string): FileNode<E> {
  const { node } = foundPlace(root, typed, true);
  if (!isFileNode(node)) throw backendError("IS_DIRECTORY", typed);
  return node;
}

/** Returns the directory at a typed path. @throws NOT_DIRECTORY, as {@link foundPlace} */
export function directoryAt<E extends LinkEntry>(root: DirNode<E>, typed: string): DirNode<E> {
  const { node } = foundPlace(root, typed, true);
  if (!isDirNode(node)) throw backendError("NOT_DIRECTORY", typed);
  return node;
}

/** Returns the directory at a typed path; undefined where no directory is. */
export function directoryIfAny<E extends LinkEntry>(root: DirNode<E>, typed: string): DirNode<E> | undefined {
  try {
    return directoryAt(root, typed);
  } catch {
    return undefined;
  }
}

/** Returns a path. @throws INVALID_ARGUMENT, also for a relative one */
export function checkedPath(path: string): string {
  checkPath(path);
  if (!path.startsWith("/")) throw backendError("INVALID_ARGUMENT", path, "path must be absolute");
  return path;
}

/**
 * Walks from the root along a normalised absolute path. A link at the very end is followed only with `follow`.
 * @throws NOT_DIRECTORY, LOOP, NAME_TOO_LONG
 */
export function placeAt<E extends LinkEntry>(root: DirNode<E>, path: string, follow: boolean): TreePlace<E> {
  return plainPlace(root, path, follow) ?? linkedPlace(root, path, follow);
}

const NOTHING_BEYOND: readonly string[] = Object.freeze([]);

/** The fast path: every directory exists and no link is on the way. Undefined for any other path. */
function plainPlace<E extends LinkEntry>(
  root: DirNode<E>,
  path: string,
  follow: boolean,
): TreePlace<E> | undefined {
  let directory = root;
  for (let from = 1; ; ) {
    const to = path.indexOf("/", from);
    const name = to < 0 ? path.slice(from) : path.slice(from, to);
    const node = directory.children.get(name);
    if (to < 0) {
      const isPlain =
        node === undefined ? name !== "" && !isLongName(name) : !follow || node.entry.type !== "symlink";
      return isPlain
        ? { path, node, entry: node?.entry, beyond: NOTHING_BEYOND, hasParent: true }
        : undefined;
    }
    if (!isDirNode(node)) return undefined;
    directory = node;
    from = to + 1;
  }
}

function linkedPlace<E extends LinkEntry>(root: DirNode<E>, path: string, follow: boolean): TreePlace<E> {
  const walk = new LinkWalk(path, follow);
  const { names } = walk;
  const directories: DirNode<E>[] = [root];
  let node: TreeNode<E> | undefined;
  for (let name = walk.next(); name !== undefined; name = walk.next()) {
    // `..` and an absolute target lead back to a directory that was passed.
    directories.length = names.length + 1;
    node = (directories.at(-1) as DirNode<E>).children.get(name);
    walk.found(node === undefined ? null : toFoundEntry(node.entry));
    if (isDirNode(node)) directories.push(node);
  }
  const { beyond = NOTHING_BEYOND } = walk;
  // The path can end in a directory by way of `.` or `..`; then the last look was at another entry.
  if (walk.beyond === undefined) node = directories[names.length] ?? node;
  const missing = beyond.filter((name) => name !== "" && name !== ".");
  const real = missing.reduce(childOf, walk.reached);
  return { path: real, node, entry: node?.entry, beyond, hasParent: beyond.length === 0 };
}
