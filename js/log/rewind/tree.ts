/**
 * Computes the files as they will be once changes are undone, without a change of any file: the tree holds the paths
 * that will differ, and every other path is as the files have it.
 */
import { parentOf } from "../../backends/paths.ts";
import type { PreImage } from "../../backends/transaction/pre-image.ts";
import { type MoveStep, type Step, type StepResult, toStepResult } from "../../backends/transaction/step.ts";

/** The state of a path. One of the two fields is present, or both. */
export interface RewoundNode {
  /** The restored state; null for nothing. Absent for an entry that is as the files have it. */
  readonly image?: PreImage | null;
  /** The path at which the files have the entry, or the restored content. Absent when it is created again. */
  readonly disk?: string;
  /** The version and the id by which a rollback knows an entry that it has moved back. */
  readonly known?: StepResult;
}

const NOTHING: RewoundNode = { image: null };

/** A tree of files in which steps are undone. */
export class RewoundTree {
  readonly #nodes = new Map<string, RewoundNode>();

  /** Returns the states that differ from the files, by path. */
  get nodes(): ReadonlyMap<string, RewoundNode> {
    return this.#nodes;
  }

  /** Returns the state of a path. */
  at(path: string): RewoundNode {
    const own = this.#nodes.get(path);
    if (own !== undefined) return own;
    for (let up = parentOf(path); ; up = parentOf(up)) {
      const node = this.#nodes.get(up);
      if (node !== undefined)
        return node.disk === undefined ? NOTHING : { disk: node.disk + path.slice(up.length) };
      if (up === "/") return { disk: path };
    }
  }

  /** Undoes a step. Steps are undone in the reverse of the order in which they were made. */
  undo(step: Step): void {
    if (step.kind === "move") {
      this.#moveBack(step);
      return;
    }
    if (step.scratch === true) return;
    const { path, before, after } = step;
    const now = this.at(path);
    if (before === null) this.#nodes.set(path, NOTHING);
    else if (before.type === "dir" && after?.type === "dir") {
      // The directory stays, so its entries do.
      this.#nodes.set(path, now.disk === undefined ? { image: before } : { image: before, disk: now.disk });
    } else if (step.kind === "chmod" && before.bytes === undefined && now.image !== null) {
      const { mode } = before;
      const image =
        now.image === undefined ? before : { ...now.image, ...(mode === undefined ? {} : { mode }) };
      this.#nodes.set(path, { ...now, image });
    } else this.#nodes.set(path, { image: before });
  }

  #moveBack({ from, to, over, moved: before }: MoveStep): void {
    const moved = { ...this.at(to), known: toStepResult(before) };
    for (const path of [...this.#nodes.keys()]) if (path.startsWith(`${from}/`)) this.#nodes.delete(path);
    for (const [path, node] of [...this.#nodes]) {
      if (!path.startsWith(`${to}/`)) continue;
      this.#nodes.delete(path);
      this.#nodes.set(from + path.slice(to.length), node);
    }
    this.#nodes.set(from, moved);
    this.#nodes.set(to, over === null ? NOTHING : { image: over });
  }
}
