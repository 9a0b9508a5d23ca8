/** A commit in the making: changes are applied to a copy of the tree, which replaces the tree when all succeed. */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, PERMISSION_BITS } from "../../backends/entry.ts";
import { backendError } from "../../backends/failure.ts";
import { nameOf, parentOf, sortCodePoints } from "../../backends/paths.ts";
import type { Op } from "../commit.ts";
import type { Entry, Version } from "../entry.ts";
import { isDirNode, nodeAt, nodesOf, type StoredDir, type StoredFile, type StoredNode } from "./nodes.ts";

/** A change whose content is ready: the engine has its bytes and its hash. */
export type ReadyOp =
  | Exclude<Op, { op: "put" } | { op: "link" }>
  | {
      readonly op: "put";
      readonly path: string;
      readonly body: Uint8Array;
      readonly hash: string;
      readonly mode?: number | undefined;
    };

/** The states of a path before and after a commit. */
export interface NodeChange {
  readonly path: string;
  readonly before: StoredNode | undefined;
  readonly after: StoredNode | undefined;
}

type DraftDir = { entry: Entry; readonly children: Map<string, StoredNode> };

/** The tree of a commit before it is published. */
export class Draft {
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
    switch (op.op) {
      case "put": {
        const there = nodeAt(this.#root, op.path);
        if (isDirNode(there)) throw backendError("IS_DIRECTORY", op.path);
        const kept = there?.entry.type === "file" ? there.entry.mode : undefined;
        const mode = (op.mode ?? kept ?? DEFAULT_FILE_MODE) & PERMISSION_BITS;
        const facts = { type: "file" as const, hash: op.hash, size: op.body.length, mode };
        this.#set(op.path, { entry: this.#entry(op.path, facts), body: op.body } satisfies StoredFile);
        return;
      }
      case "mkdir": {
        const there = nodeAt(this.#root, op.path);
        if (isDirNode(there)) {
          this.#named.add(op.path);
          return;
        }
        if (there !== undefined) throw backendError("ALREADY_EXISTS", op.path);
        this.#makeDir(op.path, op.mode);
        return;
      }
      case "symlink":
        if (nodeAt(this.#root, op.path) !== undefined) throw backendError("ALREADY_EXISTS", op.path);
        this.#set(op.path, { entry: this.#entry(op.path, { type: "symlink", target: op.target }) });
        return;
      case "chmod":
        this.#chmod(op.path, op.mode & PERMISSION_BITS);
        return;
      case "remove": {
        const there = this.#existing(op.path);
        if (op.tree !== true && isDirNode(there) && there.children.size > 0)
          throw backendError("NOT_EMPTY", op.path);
        this.#remove(op.path, there);
        return;
      }
      case "move": {
        const there = this.#existing(op.from);
        if (nodeAt(this.#root, op.to) !== undefined) throw backendError("ALREADY_EXISTS", op.to);
        this.#remove(op.from, there);
        this.#set(op.to, this.#moved(there, op.to));
      }
    }
  }

  #chmod(path: string, mode: number): void {
    const there = this.#existing(path);
    if (there.entry.type === "symlink") throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
    const entry = Object.freeze({ ...there.entry, mode, version: this.#version });
    if (isDirNode(there)) {
      const own = this.#ownDir(path);
      own.entry = entry;
      this.#mark(path);
    } else this.#set(path, { ...there, entry });
  }

  #existing(path: string): StoredNode {
    const node = nodeAt(this.#root, path);
    if (node === undefined) throw backendError("NOT_FOUND", path);
    return node;
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

  /** Returns the directory at a path, copied so that it can be changed; missing ones are made. */
  #ownDir(path: string): DraftDir {
    let dir = this.#root;
    if (path === "/") return dir;
    let at = "";
    for (const name of path.slice(1).split("/")) {
      at += `/${name}`;
      const child = dir.children.get(name);
      if (child !== undefined && !isDirNode(child)) throw backendError("NOT_DIRECTORY", at);
      if (child !== undefined && this.#own.has(child)) {
        dir = child as DraftDir;
        continue;
      }
      const entry = this.#entry(at, { type: "dir", mode: DEFAULT_DIR_MODE });
      if (child === undefined) this.#mark(at);
      const next = this.#copy(child ?? { entry, children: new Map() });
      dir.children.set(name, next);
      dir = next;
    }
    return dir;
  }

  #makeDir(path: string, mode = DEFAULT_DIR_MODE): void {
    const own = this.#ownDir(path);
    own.entry = Object.freeze({ ...own.entry, mode: mode & PERMISSION_BITS });
    this.#mark(path);
  }

  #set(path: string, node: StoredNode): void {
    this.#ownDir(parentOf(path)).children.set(nameOf(path), node);
    this.#mark(path);
  }

  #remove(path: string, node: StoredNode): void {
    this.#ownDir(parentOf(path)).children.delete(nameOf(path));
    this.#mark(path);
    for (const { entry } of nodesOf(node)) this.#changed.add(entry.path);
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
