/** A commit in the making: changes are applied to a copy of the tree, which replaces the tree when all succeed. */
import { nameOf, parentOf, sortCodePoints } from "../../backends/paths.ts";
import { applyNow, type ChangingTree, type OpOf } from "../apply.ts";
import type { Entry, Version } from "../entry.ts";
import { isDirNode, nodeAt, nodesOf, type StoredDir, type StoredFile, type StoredNode } from "./nodes.ts";

/** A file that is written, with its hash. */
interface PutFile {
  readonly op: "put";
  readonly path: string;
  readonly body: Uint8Array;
  readonly hash: string;
  readonly mode?: number | undefined;
}

/** A change whose content is ready: the engine has its bytes and its hash. */
export type ReadyOp = OpOf<PutFile>;

/** The states of a path before and after a commit. */
export interface NodeChange {
  readonly path: string;
  readonly before: StoredNode | undefined;
  readonly after: StoredNode | undefined;
}

type DraftDir = { entry: Entry; readonly children: Map<string, StoredNode> };

/** The tree of a commit before it is published. */
export class Draft implements ChangingTree<PutFile> {
  readonly #before: StoredDir;
  readonly #version: Version;
  readonly #now: number;
  #root: DraftDir;
  /** The directories that this draft made or copied, and may change. */
  readonly #own = new Set<StoredNode>();
  readonly #changed = new Set<string>();
  readonly #named = new Set<string>();

  constructor(root: StoredDir, version: Version, now: number) {
    this.#before = root;
    this.#version = version;
    this.#now = now;
    this.#root = this.#copy(root);
  }

  get root(): StoredDir {
    return this.#root;
  }

  /** Returns every path that the draft changed with its states, sorted by path. */
  changes(): readonly NodeChange[] {
    const found: NodeChange[] = [];
    for (const path of sortCodePoints([...this.#changed])) {
      const [before, after] = [nodeAt(this.#before, path), nodeAt(this.#root, path)];
      if (before !== undefined || after !== undefined) found.push({ path, before, after });
    }
    return found;
  }

  /** Returns the last state of every path that a change names, and of the parents that were made, sorted. */
  entries(): readonly Entry[] {
    return sortCodePoints([...this.#named]).map((path) => nodeAt(this.#root, path)?.entry ?? this.gone(path));
  }

  /** Returns the entry of a path that the draft removed. */
  gone(path: string): Entry {
    return Object.freeze({ path, type: "gone", version: this.#version, mtime: this.#now });
  }

  /** Applies one change. @throws NOT_FOUND, ALREADY_EXISTS, IS_DIRECTORY, NOT_DIRECTORY, NOT_EMPTY */
  apply(op: ReadyOp): void {
    applyNow(op, this);
  }

  look(path: string): Entry | null {
    return nodeAt(this.#root, path)?.entry ?? null;
  }

  isEmpty(path: string): boolean {
    const node = nodeAt(this.#root, path);
    return !isDirNode(node) || node.children.size === 0;
  }

  keep(path: string): void {
    this.#named.add(path);
  }

  setFile({ path, body, hash }: PutFile, mode: number): void {
    const entry = this.#entry(path, { type: "file", hash, size: body.length, mode });
    this.#set(path, { entry, body } satisfies StoredFile);
  }

  setDirectory(path: string, mode: number): void {
    this.#set(path, this.#copy({ entry: this.#entry(path, { type: "dir", mode }), children: new Map() }));
  }

  setLink(path: string, target: string): void {
    this.#set(path, { entry: this.#entry(path, { type: "symlink", target }) });
  }

  setMode(path: string, mode: number): void {
    const there = nodeAt(this.#root, path) as StoredNode;
    const entry = Object.freeze({ ...there.entry, mode, version: this.#version });
    if (isDirNode(there)) this.#ownDir(path).entry = entry;
    else this.#set(path, { ...there, entry });
    this.#mark(path);
  }

  take(path: string): (to: string) => void {
    const node = nodeAt(this.#root, path) as StoredNode;
    this.#ownDir(parentOf(path)).children.delete(nameOf(path));
    this.#mark(path);
    for (const { entry } of nodesOf(node)) this.#changed.add(entry.path);
    return (to) => this.#set(to, this.#moved(node, to));
  }

  #entry(path: string, facts: Omit<Entry, "path" | "version" | "mtime">): Entry {
    return Object.freeze({ path, ...facts, version: this.#version, mtime: this.#now });
  }

  #copy(dir: StoredDir): DraftDir {
    const copy = { entry: dir.entry, children: new Map(dir.children) };
    this.#own.add(copy);
    return copy;
  }

  #mark(path: string): void {
    this.#changed.add(path);
    this.#named.add(path);
  }

  /** Returns the directory at a path, copied so that it can be changed. */
  #ownDir(path: string): DraftDir {
    let dir = this.#root;
    if (path === "/") return dir;
    for (const name of path.slice(1).split("/")) {
      const child = dir.children.get(name) as StoredDir;
      const next = this.#own.has(child) ? (child as DraftDir) : this.#copy(child);
      dir.children.set(name, next);
      dir = next;
    }
    return dir;
  }

  #set(path: string, node: StoredNode): void {
    this.#ownDir(parentOf(path)).children.set(nameOf(path), node);
    this.#mark(path);
  }

  /** Returns a tree at another path. Every entry of it gets the version of the commit. */
  #moved(node: StoredNode, path: string): StoredNode {
    this.#changed.add(path);
    const entry = Object.freeze({ ...node.entry, path, version: this.#version });
    if (!isDirNode(node)) return { ...node, entry };
    const copy: DraftDir = { entry, children: new Map() };
    this.#own.add(copy);
    for (const [name, child] of node.children)
      copy.children.set(name, this.#moved(child, `${path === "/" ? "" : path}/${name}`));
    return copy;
  }
}
