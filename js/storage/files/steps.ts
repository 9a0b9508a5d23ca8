/** The steps of a commit: the single changes of a file store that its operations come to, in their order. */
import { parentOf } from "../../backends/paths.ts";
import type { HeldContent, ReadyOp } from "../draft.ts";
import { isDirNode, nodeAt, nodesOf } from "../../backends/tree/nodes.ts";
import type { StoredDir, StoredNode } from "../entry.ts";
import type { StoreAbilities } from "./file-store.ts";

/** One change of a store. `move` leaves nothing at `from`; `copy` is the first half of a move by two calls. */
export type Step =
  | {
      readonly kind: "write";
      readonly path: string;
      readonly body: Uint8Array;
      readonly hash: string;
      readonly mode: number | undefined;
    }
  | { readonly kind: "copy" | "move"; readonly path: string; readonly from: string }
  | { readonly kind: "remove"; readonly path: string }
  | { readonly kind: "mkdir"; readonly path: string; readonly mode: number | undefined }
  | { readonly kind: "symlink"; readonly path: string; readonly target: string }
  | { readonly kind: "chmod"; readonly path: string; readonly mode: number };

/** Returns the steps of an operation on a tree in which it is possible; whether it is, `Draft.apply` says. */
export function stepsOf(
  op: ReadyOp<HeldContent>,
  root: StoredDir,
  moves: StoreAbilities["moves"],
): readonly Step[] {
  switch (op.op) {
    case "put": {
      const { path, body, hash, mode } = op;
      const isLink = nodeAt(root, path)?.entry.type === "symlink";
      const unlink: readonly Step[] = isLink ? [{ kind: "remove", path }] : [];
      return [...parentSteps(path, root), ...unlink, { kind: "write", path, body, hash, mode }];
    }
    case "mkdir":
      if (nodeAt(root, op.path) !== undefined) return [];
      return [...parentSteps(op.path, root), { kind: "mkdir", path: op.path, mode: op.mode }];
    case "symlink":
      return [...parentSteps(op.path, root), { kind: "symlink", path: op.path, target: op.target }];
    case "chmod":
      return [{ kind: "chmod", path: op.path, mode: op.mode }];
    case "remove":
      return removalSteps(nodeAt(root, op.path));
    case "move": {
      const { from, to } = op;
      const node = nodeAt(root, from);
      if (node === undefined) return [];
      return [...parentSteps(to, root), ...moveSteps({ node, from, to }, moves)];
    }
  }
}

/** The directories above a path that are missing, from the top. */
function parentSteps(path: string, root: StoredDir): readonly Step[] {
  const steps: Step[] = [];
  for (let at = parentOf(path); at !== "/" && nodeAt(root, at) === undefined; at = parentOf(at))
    steps.unshift({ kind: "mkdir", path: at, mode: undefined });
  return steps;
}

/** Removes what is below before what is above. */
function removalSteps(node: StoredNode | undefined): readonly Step[] {
  if (node === undefined) return [];
  return [...nodesOf(node)].reverse().map(({ entry }) => ({ kind: "remove", path: entry.path }));
}

/** Makes everything at the new place before anything is removed at the old one. */
function moveSteps(
  { node, from, to }: { readonly node: StoredNode; readonly from: string; readonly to: string },
  moves: StoreAbilities["moves"],
): readonly Step[] {
  const isMovedWhole = moves === "trees" || (moves === "files" && node.entry.type === "file");
  if (isMovedWhole) return [{ kind: "move", path: to, from }];
  const made: Step[] = [];
  const left: Step[] = [];
  for (const one of nodesOf(node)) {
    const { path: old, type, mode, target = "" } = one.entry;
    const path = to + old.slice(from.length);
    if (isDirNode(one)) made.push({ kind: "mkdir", path, mode });
    else if (type === "symlink") made.push({ kind: "symlink", path, target });
    else made.push({ kind: moves === "files" ? "move" : "copy", path, from: old });
    if (type !== "file" || moves !== "files") left.unshift({ kind: "remove", path: old });
  }
  return [...made, ...left];
}
