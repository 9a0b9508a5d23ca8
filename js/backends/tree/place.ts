/** Finds the place of a path in a tree in memory, with links followed as POSIX defines it. */
import { LinkWalk } from "../fallback/links.ts";
import { childOf, isLongName } from "../paths.ts";
import { type DirNode, isDirNode, type NodeEntry, type TreeNode } from "./nodes.ts";

/** The place that a path leads to. */
export interface Place<E> {
  /** The real path, with the names at its end that do not exist. */
  readonly path: string;
  /** The node at the place; undefined when a name is missing. */
  readonly node: TreeNode<E> | undefined;
  /** The names of the path after the first missing one; empty if only the last name is missing. */
  readonly beyond: readonly string[];
}

/**
 * Walks from the root along a normalised absolute path. A link at the very end is followed only with `follow`.
 * @throws NOT_DIRECTORY, LOOP, NAME_TOO_LONG
 */
export function placeOf<E extends NodeEntry>(root: DirNode<E>, path: string, follow: boolean): Place<E> {
  return plainPlace(root, path, follow) ?? linkedPlace(root, path, follow);
}

const NOTHING_BEYOND: readonly string[] = Object.freeze([]);

/** The fast path: every directory exists and no link is on the way. Undefined for any other path. */
function plainPlace<E extends NodeEntry>(
  root: DirNode<E>,
  path: string,
  follow: boolean,
): Place<E> | undefined {
  let directory = root;
  for (let from = 1; ; ) {
    const to = path.indexOf("/", from);
    const name = to < 0 ? path.slice(from) : path.slice(from, to);
    const node = directory.children.get(name);
    if (to < 0) {
      const isPlain =
        node === undefined ? name !== "" && !isLongName(name) : !follow || node.entry.type !== "symlink";
      return isPlain ? { path, node, beyond: NOTHING_BEYOND } : undefined;
    }
    if (!isDirNode(node)) return undefined;
    directory = node;
    from = to + 1;
  }
}

function linkedPlace<E extends NodeEntry>(root: DirNode<E>, path: string, follow: boolean): Place<E> {
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
  return { path: missing.reduce(childOf, walk.reached), node, beyond };
}

function toFoundEntry({ type, target = "" }: NodeEntry): Parameters<LinkWalk["found"]>[0] {
  if (type === "symlink") return { type, target };
  return { type: type === "dir" ? "dir" : "file" };
}
