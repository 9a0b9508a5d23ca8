/**
 * A commit in the making: its changes are applied to a draft of the tree, for every storage but Postgres, and for the
 * stage of a call. Storages in memory and over files have a tree, which the draft replaces. The storage in a bucket and
 * the stage of a call have none: {@link treeFor} makes one of the entries on which the changes depend.
 */
import type { Changed } from "../backends/entry.ts";
import { parentOf, sortCodePoints } from "../backends/paths.ts";
import { type MadeFacts, type PutContent, TreeDraft } from "../backends/tree/draft.ts";
import { nodeAt, nodesOf } from "../backends/tree/nodes.ts";
import { pathsOfOp } from "./check.ts";
import type { Op } from "./commit.ts";
import type { Entry, StoredDir, StoredNode, Version } from "./entry.ts";
import { EntriesDraft } from "./search/tree.ts";

/** A content of which the hash and the size are known. */
interface HashedContent extends PutContent {
  readonly hash: string;
  readonly size: number;
}

/** A content with its bytes. */
export interface HeldContent extends HashedContent {
  readonly body: Uint8Array;
}

/** A change whose content is ready. */
export type ReadyOp<Content extends HashedContent = HashedContent> =
  | Exclude<Op, { op: "put" } | { op: "link" }>
  | ({ readonly op: "put"; readonly path: string } & Content);

/** Returns the states of a path in two trees. */
export function changedAt(path: string, before: StoredDir, after: StoredDir): Changed<StoredNode> {
  return { path, before: nodeAt(before, path) ?? null, after: nodeAt(after, path) ?? null };
}

/** Returns the entries of changed nodes. */
export function entriesOf(changes: readonly Changed<StoredNode>[]): readonly Changed<Entry>[] {
  return changes.map(({ path, before, after }) => ({
    path,
    before: before?.entry ?? null,
    after: after?.entry ?? null,
  }));
}

/** Where the entries come from on which changes depend. */
export interface EntrySource {
  /** Returns the entry at a path; null for none. */
  look(path: string): Promise<Entry | null>;
  /**
   * Returns what is below a directory that is removed or moved. A part is enough: some entries refuse the removal of a
   * directory that is not empty, and a stage leaves what is stored there to the commit.
   */
  below(path: string): Promise<readonly Entry[]>;
}

/**
 * Returns a tree of the entries at the paths that changes name, or of the nearest one above where there is none, and of
 * what is below directories that are removed or moved.
 */
export async function treeFor(ops: readonly ReadyOp[], { look, below }: EntrySource): Promise<StoredDir> {
  const found = new Map<string, Entry>();
  const add = async (path: string): Promise<void> => {
    let at = path;
    let entry = await look(at);
    while (entry === null && at !== "/") {
      at = parentOf(at);
      entry = await look(at);
    }
    if (entry !== null) found.set(at, entry);
  };
  await Promise.all(ops.flatMap(pathsOfOp).map(add));
  for (const op of ops) {
    if (op.op !== "remove" && op.op !== "move") continue;
    const top = op.op === "move" ? op.from : op.path;
    if (found.get(top)?.type !== "dir") continue;
    for (const entry of await below(top)) found.set(entry.path, entry);
  }
  const tree = new EntriesDraft();
  tree.apply([...found.values()]);
  return tree.finish("").root;
}

/**
 * The tree of a commit before it is published. An entry that the commit changes gets the version that `versionOf`
 * returns: in a storage that of the commit, in the stage of a call a provisional one for each change and path.
 */
export class Draft extends TreeDraft<Entry, HashedContent> {
  readonly #before: StoredDir;
  readonly #versionOf: (path: string) => Version;
  readonly #now: number;
  /** The paths that operations name, and the parents that were made. */
  readonly #named = new Set<string>();
  /** The paths of trees that were removed, or moved, before and after. They are in `changes`, not in `entries`. */
  readonly #below = new Set<string>();

  constructor(root: StoredDir, versionOf: (path: string) => Version, now: number) {
    super(root);
    this.#before = root;
    this.#versionOf = versionOf;
    this.#now = now;
  }

  /** Returns every path that the draft changed with its states, sorted by path. */
  changes(): readonly Changed<StoredNode>[] {
    const found: Changed<StoredNode>[] = [];
    for (const path of sortCodePoints([...new Set([...this.#named, ...this.#below])])) {
      const one = changedAt(path, this.#before, this.root);
      if (one.before?.entry !== one.after?.entry) found.push(one);
    }
    return found;
  }

  /** Returns the last state of every path that a change names, and of the parents that were made, sorted. */
  entries(): readonly Entry[] {
    return sortCodePoints([...this.#named]).map((path) => nodeAt(this.root, path)?.entry ?? this.#gone(path));
  }

  /** Returns the entry of a path that the draft removed. */
  #gone(path: string): Entry {
    return Object.freeze({ path, type: "gone", version: this.#versionOf(path), mtime: this.#now });
  }

  /** Applies one change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY */
  apply(op: ReadyOp): void {
    if (op.op === "put") this.put(op.path, op);
    else if (op.op === "mkdir") this.mkdir(op.path, op.mode);
    else if (op.op === "symlink") this.symlink(op.path, op.target);
    else if (op.op === "chmod") this.chmod(op.path, op.mode);
    else if (op.op === "remove") this.remove(op.path, op.tree);
    else this.move(op.from, op.to);
    // `mkdir` of an existing directory changes nothing, but the answer of the commit contains its entry.
    if (op.op === "mkdir") this.changed(op.path);
  }

  protected override changed(path: string): void {
    this.#named.add(path);
  }

  protected override changedBelow(tree: StoredNode): void {
    for (const { entry } of nodesOf(tree)) this.#below.add(entry.path);
  }

  protected override made(path: string, facts: MadeFacts<HashedContent>): Entry {
    const common = { version: this.#versionOf(path), mtime: this.#now };
    if (facts.type !== "file") return Object.freeze({ path, ...facts, ...common });
    const { mode, content } = facts;
    const { hash, size } = content;
    return Object.freeze({ path, type: "file", hash, size, mode, ...common });
  }

  protected override withMode(entry: Entry, mode: number): Entry {
    return Object.freeze({ ...entry, mode, version: this.#versionOf(entry.path) });
  }

  protected override moved(entry: Entry, path: string): Entry {
    return Object.freeze({ ...entry, path, version: this.#versionOf(path) });
  }
}

/** The entries on which changes depend, and how the entries are dated that they make. */
export interface DraftOrigin extends EntrySource {
  /** The version of every entry that is made or changed. */
  readonly version: Version;
  /** The time of the commit, in milliseconds since 1970. */
  readonly now: number;
}

/** The states that the changes of a commit make. */
export interface DraftedChanges {
  /** The last state of every path that a change names, and of the parents that were made, sorted: the answer. */
  readonly entries: readonly Entry[];
  /** Every path that changed with both of its states, sorted: the history. */
  readonly changes: readonly Changed<Entry>[];
}

/**
 * Returns what the changes of a commit make, in their order, without a tree of all files. Nothing is written.
 * @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY
 */
export async function draftChanges(
  ops: readonly ReadyOp[],
  { look, below, version, now }: DraftOrigin,
): Promise<DraftedChanges> {
  const draft = new Draft(await treeFor(ops, { look, below }), () => version, now);
  for (const op of ops) draft.apply(op);
  return { entries: draft.entries(), changes: entriesOf(draft.changes()) };
}
