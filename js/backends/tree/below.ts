/** The walk of a tree in memory, at once and without ignore files. */
import { childOf } from "../paths.ts";
import { walkNow } from "../walk/drive.ts";
import { type ListStep, TreeWalk, type WalkedEntry } from "../walk/walk.ts";
import { type DirNode, isDirNode, type NodeEntry, namesOf, type TreeNode } from "./nodes.ts";

interface WalkedNode<E> extends WalkedEntry {
  readonly parent: DirNode<E>;
}

/**
 * Yields everything below a directory, which stands at `path` for the caller, in path order and parents first. What is
 * removed before its turn is not yielded. `temporary` is false to leave out Filewright's temporary files.
 */
export function* nodesBelow<E extends NodeEntry>(
  directory: DirNode<E>,
  path: string,
  temporary: boolean,
): Generator<readonly [string, TreeNode<E>]> {
  const walk = new TreeWalk<WalkedNode<E>>(path, { unreadable: "throw", temporary });
  const list = ({ entry, directory: at }: ListStep<WalkedNode<E>>): readonly WalkedNode<E>[] => {
    const parent = entry === undefined ? directory : entry.parent.children.get(entry.name);
    // The directory was removed or replaced since it was listed.
    if (!isDirNode(parent)) return [];
    return namesOf(parent).map((name) => {
      const type = (parent.children.get(name) as TreeNode<E>).entry.type as WalkedEntry["type"];
      return { name, path: childOf(at, name), type, parent };
    });
  };
  for (const { name, path: at, parent } of walkNow(walk, list)) {
    const node = parent.children.get(name);
    if (node !== undefined) yield [at, node];
  }
}
