/** The tree of a backend in memory: its entries have versions, ids and the times of a clock, as files of a disk have. */
import { DEFAULT_DIR_MODE, LINK_MODE } from "../entry.ts";
import { backendError } from "../failure.ts";
import { childOf, nameOf, parentOf } from "../paths.ts";
import { equalBytes } from "../../engine/wire/bytes.ts";
import { type MadeFacts, type PutContent, TreeDraft } from "../tree/draft.ts";
import { checkReadOnly } from "../tree/checks.ts";
import type { OwnFacts, DescribedEntry } from "../tree/facts.ts";
import { type DirNode, emptyDirectory, isDirNode, isFileNode, type TreeNode } from "../tree/nodes.ts";

/** An entry of a backend in memory. */
export interface MemoryEntry extends Required<DescribedEntry>, OwnFacts {
  /** The version of the content of a file; empty for any other entry. */
  readonly version: string;
  readonly mode: number;
}

/** A node in the tree of a backend in memory. */
export type MemoryNode = TreeNode<MemoryEntry>;

interface MemoryContent extends PutContent {
  readonly body: Uint8Array;
  readonly version: string;
}

/** The id of the entry that was made last in this process. */
let lastId = 0;

/** A tree of which each change is made at once, at the time of {@link MemoryTree.begin}. */
export class MemoryTree extends TreeDraft<MemoryEntry, MemoryContent> {
  readonly #now: () => number;
  #time: number;
  #versions = 0;
  readonly #watched = new Set<string>();

  constructor(now: () => number) {
    const time = now();
    super(emptyDirectory(newEntry("/", { type: "dir", mode: DEFAULT_DIR_MODE }, time)));
    this.#now = now;
    this.#time = time;
  }

  /** Sets the time of the change that begins, and returns the tree. */
  begin(): this {
    this.#time = this.#now();
    return this;
  }

  /** Adds names of files whose content counts as part of the shape. */
  watch(names: readonly string[]): void {
    // The shape did not include the content of these files before.
    if (names.some((name) => !this.#watched.has(name))) this.restamp("/");
    for (const name of names) this.#watched.add(name);
  }

  /**
   * Writes a file and returns its entry. The bytes are copied if they are `shared`: the caller may change them. Equal
   * content keeps its version: a rewrite without a change is no conflict.
   */
  write(path: string, content: Uint8Array, mode?: number, shared = false): MemoryEntry {
    const there = this.at(path);
    if (isFileNode(there) && equalBytes(there.bytes, content))
      return this.putOver(path, there, { body: there.bytes, version: there.entry.version, mode });
    const body = shared ? new Uint8Array(content) : content;
    const entry = this.putOver(path, there, { body, version: this.#newVersion(), mode });
    if (there !== undefined && this.#watched.has(nameOf(path))) this.restamp(parentOf(path));
    return entry;
  }

  /**
   * Copies a tree that is frozen to a path. Directories are merged; every other entry replaces what stands there.
   * @throws IS_DIRECTORY, NOT_DIRECTORY, PERMISSION_DENIED, after a part of the copy was made
   */
  copy(tree: MemoryNode, to: string): void {
    const pending: [node: MemoryNode, path: string][] = [[tree, to]];
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const [node, path] = next;
      const there = this.at(path);
      if (isDirNode(node) && isDirNode(there)) {
        for (const [name, child] of node.children) pending.push([child, childOf(path, name)]);
        continue;
      }
      if (isDirNode(there)) throw backendError("IS_DIRECTORY", path);
      if (there !== undefined && isDirNode(node)) throw backendError("NOT_DIRECTORY", path);
      checkReadOnly(there?.entry, path);
      this.set(
        path,
        this.transplanted(node, path, (entry, at) => this.#copied(entry, at)),
      );
    }
  }

  /** Goes on with the tree of another backend, as copies, because versions are unique within one backend only. */
  adoptCopy(root: DirNode<MemoryEntry>): void {
    this.adopt(emptyDirectory(newEntry("/", { type: "dir", mode: root.entry.mode }, this.#time)));
    this.copy(root, "/");
  }

  #newVersion(): string {
    return `m${++this.#versions}`;
  }

  #copied(entry: MemoryEntry, path: string): MemoryEntry {
    const version = entry.type === "file" ? this.#newVersion() : "";
    const time = this.#time;
    return { ...entry, path, version, mtime: time, ctime: time, birthtime: time, id: ++lastId };
  }

  protected override made(
    path: string,
    facts: MadeFacts<MemoryContent>,
    there: MemoryNode | undefined,
  ): MemoryEntry {
    const birthtime = isFileNode(there) ? there.entry.birthtime : this.#time;
    return newEntry(path, facts, this.#time, birthtime);
  }

  protected override withMode(entry: MemoryEntry, mode: number): MemoryEntry {
    return { ...entry, mode, ctime: this.#time };
  }

  protected override moved(entry: MemoryEntry, path: string, isTop: boolean): MemoryEntry {
    return { ...entry, path, ctime: isTop ? this.#time : entry.ctime };
  }

  protected override withTouchedTime(directory: MemoryEntry): MemoryEntry {
    const time = this.#time;
    const isTouched = directory.mtime === time && directory.ctime === time;
    return isTouched ? directory : { ...directory, mtime: time, ctime: time };
  }
}

/** A snapshot of a memory backend; opaque. */
export interface MemorySnapshot {
  readonly takenAt: number;
}

/** The state of a tree. */
export class TreeSnapshot implements MemorySnapshot {
  readonly takenAt: number;
  readonly #root: DirNode<MemoryEntry>;
  readonly #tree: MemoryTree;

  constructor(takenAt: number, tree: MemoryTree) {
    this.takenAt = takenAt;
    this.#root = tree.freeze();
    this.#tree = tree;
    Object.freeze(this);
  }

  restoreTo(tree: MemoryTree): void {
    if (tree === this.#tree) tree.adopt(this.#root);
    else tree.begin().adoptCopy(this.#root);
  }
}

/** Returns the entry of something new. A file that is written is something new too, as one that is replaced on a disk. */
function newEntry(
  path: string,
  facts: MadeFacts<MemoryContent>,
  time: number,
  birthtime: number = time,
): MemoryEntry {
  const content = facts.type === "file" ? facts.content : undefined;
  return {
    path,
    type: facts.type,
    version: content?.version ?? "",
    size: content?.body.length ?? 0,
    mode: facts.type === "symlink" ? LINK_MODE : facts.mode,
    target: facts.type === "symlink" ? facts.target : undefined,
    mtime: time,
    ctime: time,
    birthtime,
    id: ++lastId,
  };
}
