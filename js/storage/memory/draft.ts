/** A commit in the making: changes are applied to a draft of the tree, which replaces the tree when all succeed. */
import { sortCodePoints } from "../../backends/paths.ts";
import { type MadeFacts, type PutContent, TreeDraft } from "../../backends/tree/draft.ts";
import { nodeAt, nodesOf } from "../../backends/tree/nodes.ts";
import type { Op } from "../commit.ts";
import type { Entry, StoredDir, StoredNode, Version } from "../entry.ts";

/** A change whose content is ready: the engine has its bytes and its hash. */
export type ReadyOp =
  | Exclude<Op, { op: "put" } | { op: "link" }>
  | ({ readonly op: "put"; readonly path: string } & HashedContent);

interface HashedContent extends PutContent {
  readonly hash: string;
}

/** The states of a path before and after a commit. */
export interface NodeChange {
  readonly path: string;
  readonly before: StoredNode | undefined;
  readonly after: StoredNode | undefined;
}

/** The tree of a commit before it is published. Every entry that the commit changes has its version. */
export class Draft extends TreeDraft<Entry, HashedContent> {
  readonly #before: StoredDir;
  readonly #version: Version;
  readonly #now: number;
  /** The paths that operations name, and the parents that were made. */
  readonly #named = new Set<string>();
  readonly #below = new Set<string>();

  constructor(root: StoredDir, version: Version, now: number) {
    super(root);
    this.#before = root;
    this.#version = version;
    this.#now = now;
  }

  /** Returns every path that the draft changed with its states, sorted by path. */
  changes(): readonly NodeChange[] {
    const found: NodeChange[] = [];
    for (const path of sortCodePoints([...new Set([...this.#named, ...this.#below])])) {
      const [before, after] = [nodeAt(this.#before, path), nodeAt(this.root, path)];
      if (before?.entry !== after?.entry) found.push({ path, before, after });
    }
    return found;
  }

  /** Returns the last state of every path that a change names, and of the parents that were made, sorted. */
  entries(): readonly Entry[] {
    return sortCodePoints([...this.#named]).map((path) => nodeAt(this.root, path)?.entry ?? this.gone(path));
  }

  /** Returns the entry of a path that the draft removed. */
  gone(path: string): Entry {
    return Object.freeze({ path, type: "gone", version: this.#version, mtime: this.#now });
  }

  /** Applies one change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY */
  apply(op: ReadyOp): void {
    if (op.op === "put") this.put(op.path, op);
    else if (op.op === "mkdir") this.mkdir(op.path, op.mode);
    else if (op.op === "symlink") this.symlink(op.path, op.target);
    else if (op.op === "chmod") this.chmod(op.path, op.mode);
    else if (op.op === "remove") this.remove(op.path, op.tree);
    else this.move(op.from, op.to);
    // A directory that was there is named, too.
    if (op.op === "mkdir") this.changed(op.path);
  }

  protected override changed(path: string): void {
    this.#named.add(path);
  }

  protected override changedBelow(tree: StoredNode): void {
    for (const { entry } of nodesOf(tree)) this.#below.add(entry.path);
  }

  protected override made(path: string, facts: MadeFacts<HashedContent>): Entry {
    const common = { version: this.#version, mtime: this.#now };
    if (facts.type !== "file") return Object.freeze({ path, ...facts, ...common });
    const { mode, content } = facts;
    const { hash, body } = content;
    return Object.freeze({ path, type: "file", hash, size: body.length, mode, ...common });
  }

  protected override withMode(entry: Entry, mode: number): Entry {
    return Object.freeze({ ...entry, mode, version: this.#version });
  }

  protected override moved(entry: Entry, path: string): Entry {
    return Object.freeze({ ...entry, path, version: this.#version });
  }
}
