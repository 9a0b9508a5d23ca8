/**
 * The changes of one call before they are committed: what each path is once all of them are made. Only what they
 * touch is kept; everything else is what the storage has.
 */
import { ChangedPaths } from "../../backends/overlay/changed-paths.ts";
import { movedPath } from "../../backends/paths.ts";
import { nodeAt } from "../../backends/tree/nodes.ts";
import { pathOfOp } from "../../backends/transaction/op.ts";
import { pathsOfOp } from "../check.ts";
import { Draft, treeFor } from "../draft.ts";
import type { Entry, Op, ReadEntry } from "../storage.ts";

/** The place of a path in a draft; `shows` is the stored directory whose content is in it, unless the draft made it. */
interface DraftedPlace {
  readonly found: ReadEntry | null;
  readonly shows?: string | undefined;
}

/** Where a path of a draft is looked up: in the draft, or in the storage under the path there. */
export type DraftPlace = DraftedPlace | { readonly stored: string };

/** Returns what is at a path while the draft is made. */
type Look = (path: string) => Promise<Entry | null>;

/** The state of a draft that can be restored. */
interface DraftMark {
  readonly nodes: ReadonlyMap<string, DraftedPlace>;
  readonly ops: number;
}

/** The changes of one call. */
export class StagedDraft {
  readonly #nodes = new ChangedPaths<DraftedPlace>();
  #ops: Op[] = [];
  #count = 0;

  /** The changes, in their order. */
  get ops(): readonly Op[] {
    return this.#ops;
  }

  get isEmpty(): boolean {
    return this.#ops.length === 0;
  }

  /** Returns the present state, which `restore` brings back: the changed paths, with what is there now. */
  mark(): DraftMark {
    return { nodes: this.#nodes.snapshot(), ops: this.#ops.length };
  }

  restore({ nodes, ops }: DraftMark): void {
    this.#nodes.restore(nodes);
    this.#ops = this.#ops.slice(0, ops);
  }

  clear(): void {
    this.restore({ nodes: new Map(), ops: 0 });
  }

  /** Returns where a path is looked up. */
  place(path: string): DraftPlace {
    const [at, own] = this.#nodes.nearest(path) ?? [];
    if (at === undefined || own === undefined) return { stored: path };
    if (at === path) return own;
    return own.shows === undefined ? { found: null } : { stored: movedPath(path, at, own.shows) };
  }

  /** Returns the directories whose listing is that of a stored one, at and below a path; and what the draft made. */
  below(prefix: string): {
    readonly shown: readonly (readonly [path: string, stored: string])[];
    readonly made: readonly Entry[];
  } {
    const shown: [string, string][] = [];
    const made: Entry[] = [];
    const source = this.#sourceOf(prefix);
    if (source !== undefined) shown.push([prefix, source]);
    for (const [path, node] of this.#nodes.below(prefix)) {
      if (node.found !== null) made.push(node.found.entry);
      if (node.shows !== undefined) shown.push([path, node.shows]);
    }
    return { shown, made };
  }

  /** Returns true when a listing of a path may differ from that of the storage. */
  touches(prefix: string): boolean {
    return this.#nodes.nearest(prefix) !== undefined || !this.#nodes.below(prefix).next().done;
  }

  /** Makes one change, and returns the entries of the paths that it names and of the parents that it made. */
  async apply(op: Op, look: Look): Promise<readonly Entry[]> {
    const count = ++this.#count;
    const ready =
      op.op === "put"
        ? { ...op, hash: op.hash ?? "", size: op.body.length, body: undefined }
        : op.op === "link"
          ? { ...op, op: "put" as const }
          : op;
    // What is stored in a directory is the commit's to find.
    const below = async (path: string): Promise<readonly Entry[]> => this.below(path).made;
    const before = await treeFor([ready], { look, below });
    const draft = new Draft(before, (path) => `draft ${count} ${path}`, Date.now());
    draft.apply(ready);
    const named = draft.entries();
    // A directory that is there, and is to be made, is as it was.
    if (draft.root === before) return named;
    this.#keep(op, draft, named);
    this.#ops.push(op);
    return named;
  }

  /** Notes what a change has made of the paths that it names, and of what is below one that it removes or moves. */
  #keep(op: Op, draft: Draft, named: readonly Entry[]): void {
    const from = pathsOfOp(op)[0] as string;
    const to = pathOfOp(op);
    const source = op.op === "mkdir" ? undefined : this.#sourceOf(from);
    const below = op.op === "move" || op.op === "remove" ? [...this.#nodes.below(from)] : [];
    for (const [at] of below) this.#nodes.set(at, undefined);
    for (const entry of named) {
      const isShown = entry.path === to && entry.type === "dir";
      const found = entry.type === "gone" ? null : { entry };
      this.#nodes.set(entry.path, { found, shows: isShown ? source : undefined });
    }
    if (op.op !== "move") return;
    for (const [at, node] of below) {
      const moved = movedPath(at, from, to);
      const entry = nodeAt(draft.root, moved)?.entry;
      this.#nodes.set(moved, { found: entry === undefined ? null : { entry }, shows: node.shows });
    }
  }

  /** Returns the stored directory whose content shows at a path; undefined for one that the draft made. */
  #sourceOf(path: string): string | undefined {
    const place = this.place(path);
    return "stored" in place ? place.stored : place.shows;
  }
}
