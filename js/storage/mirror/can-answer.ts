/** Which searches the copy of a storage's files answers as a walk of the storage does. */
import { isWithin, parentOf } from "../../backends/paths.ts";
import { IGNORE_FILES } from "../../backends/walk/ignore-files.ts";
import { isDirNode, nodeAt } from "../../backends/tree/nodes.ts";
import type { StoredDir } from "../entry.ts";
import type { MirrorSearch } from "../search/mirrored.ts";
import type { StorageTree } from "../search/tree.ts";

/**
 * Returns true when a search of the copy gives the same answer as a walk of the storage. `rest` has the paths of the
 * tree that the copy does not have.
 */
export function canAnswer(
  tree: StorageTree,
  rest: ReadonlySet<string>,
  { root, policy, query }: MirrorSearch,
): boolean {
  for (const path of rest) if (isWithin(path, root)) return false;
  if (needsWalk(tree.root)) return false;
  if (policy !== undefined && policy.read !== null && !policy.read.includes("/")) return true;
  // The two differ in the ignore files above the searched directory. A walk of the storage whose root is `/` uses
  // them only up to the top of the repository, and none without a repository. A search of the copy, whose root is not
  // the `/` of this machine, uses all of them. So the copy must not answer where one of them is outside any
  // repository.
  const names = query.respectIgnore === false ? [] : (query.ignoreFiles ?? IGNORE_FILES);
  let isIgnoring = false;
  for (let at = root; at !== "/"; ) {
    at = parentOf(at);
    const node = nodeAt(tree.root, at);
    if (!isDirNode(node)) continue;
    if (node.children.has(".git")) return true;
    isIgnoring ||= names.some((name) => node.children.has(name));
  }
  return !isIgnoring;
}

const walkedTrees = new WeakMap<StoredDir, boolean>();

/**
 * Returns true for a tree with something that only a walk sees: a link named `.git`, which marks the top of a repository
 * and which the copy does not have, or a directory that cannot be listed, which a walk counts. The answer is kept for
 * each directory, because trees share them.
 */
function needsWalk(dir: StoredDir): boolean {
  const known = walkedTrees.get(dir);
  if (known !== undefined) return known;
  let found = dir.entry.unreadable !== undefined || dir.children.get(".git")?.entry.type === "symlink";
  for (const node of dir.children.values()) {
    if (found) break;
    found = isDirNode(node) && needsWalk(node);
  }
  walkedTrees.set(dir, found);
  return found;
}
