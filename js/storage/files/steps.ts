/** The changes of one entry each to which the operations of a commit come, in their order. */
import type { Op } from "../commit.ts";
import type { HeldContent, ReadyOp } from "../draft.ts";
import { isDirNode, nodeAt, nodesOf } from "../../backends/tree/nodes.ts";
import type { StoredDir, StoredNode } from "../entry.ts";
import type { FileStore } from "./file-store.ts";

/** Returns the steps of an operation on a tree in which it is possible; whether it is, `Draft.apply` says. */
export function stepsOf(op: ReadyOp<HeldContent>, root: StoredDir, moves: FileStore["moves"]): readonly Op[] {
  const there = nodeAt(root, op.op === "move" ? op.from : op.path);
  switch (op.op) {
    case "put":
      return there?.entry.type === "symlink" ? [{ op: "remove", path: op.path }, op] : [op];
    case "mkdir":
      return there === undefined ? [op] : [];
    case "remove":
      return removalSteps(there);
    case "move": {
      const isMovedWhole = moves === "trees" || there?.entry.type === "file";
      return isMovedWhole || there === undefined ? [op] : moveSteps(there, op.from, op.to);
    }
    default:
      return [op];
  }
}

/** Removes what is below before what is above. */
function removalSteps(node: StoredNode | undefined): readonly Op[] {
  if (node === undefined) return [];
  return [...nodesOf(node)].reverse().map(({ entry }) => ({ op: "remove", path: entry.path }));
}

/** Moves each file by itself. Everything is at the new place before anything else is removed at the old one. */
function moveSteps(node: StoredNode, from: string, to: string): readonly Op[] {
  const made: Op[] = [];
  const left: Op[] = [];
  for (const one of nodesOf(node)) {
    const { path: old, type, mode, target = "" } = one.entry;
    const path = to + old.slice(from.length);
    if (isDirNode(one)) made.push({ op: "mkdir", path, mode });
    else if (type === "symlink") made.push({ op: "symlink", path, target });
    else made.push({ op: "move", from: old, to: path });
    if (type !== "file") left.unshift({ op: "remove", path: old });
  }
  return [...made, ...left];
}
