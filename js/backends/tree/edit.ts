/**
 * Changes of a tree, node by node. Nodes that the edit made or copied since its last `freeze` are changed in place; all
 * others are copied first.
 */
import { nameOf, parentOf } from "../paths.ts";
import {
  type DirNode,
  type FileNode,
  isDirNode,
  newFacts,
  type NodeEntry,
  nodeAt,
  type TreeNode,
} from "./nodes.ts";

/** A directory that an edit may change. */
type OwnDirectory<E> = { -readonly [K in keyof DirNode<E>]: DirNode<E>[K] } & {
  readonly children: Map<string, TreeNode<E>>;
};

/** A file that an edit may change. */
type OwnFile<E> = { -readonly [K in keyof FileNode<E>]: FileNode<E>[K] };

let lastOwner = 0;

/** A tree in the making. */
export abstract class TreeEdit<E extends NodeEntry> {
  #root: DirNode<E>;
  /** The number on the nodes that may be changed now; `freeze` replaces it. The nodes of no edit have 0. */
  #owner = ++lastOwner;
  /** The directory that was changed last, where the next change probably is. */
  #last: { readonly path: string; readonly directory: OwnDirectory<E> } | undefined;
  #shape = 0;

  constructor(root: DirNode<E>) {
    this.#root = root;
  }

  /** The present tree. Later changes still show in it, until it is frozen. */
  get root(): DirNode<E> {
    return this.#root;
  }

  /**
   * A number that grows when a walk of the tree may find something else. A file that is changed in place, and another
   * entry of a directory, do not count.
   */
  get shape(): number {
    return this.#shape;
  }

  /** Returns the tree, whose nodes no later change of this edit touches. */
  freeze(): DirNode<E> {
    this.#owner = ++lastOwner;
    this.#last = undefined;
    return this.#root;
  }

  /** Goes on with another tree, whose nodes are not changed. */
  adopt(root: DirNode<E>): void {
    this.freeze();
    this.#root = root;
    this.#shape++;
  }

  /**
   * Returns the entry for a missing directory above a changed path. `there` is what is at its path and is no directory;
   * throws where that may not be replaced.
   */
  protected abstract madeOnTheWay(path: string, there: TreeNode<E> | undefined): E;

  /** Returns the entry of a directory in which a name was added or removed. */
  protected withTouchedTime(directory: E): E {
    return directory;
  }

  /** Returns the node at a real path. */
  protected at(path: string): TreeNode<E> | undefined {
    if (this.#last !== undefined && this.#last.path === parentOf(path) && path !== "/")
      return this.#last.directory.children.get(nameOf(path));
    return nodeAt(this.#root, path);
  }

  /** Returns a new file of this edit. */
  protected newFile(entry: E, bytes: Uint8Array): FileNode<E> {
    return { entry, bytes, owner: this.#owner };
  }

  /** Returns a new directory of this edit. */
  protected newDirectory(entry: E): OwnDirectory<E> {
    return { entry, children: new Map(), facts: newFacts(), owner: this.#owner };
  }

  /** Changes a file in place if the edit has made it. Returns false for any other. */
  protected rewrite(node: FileNode<E>, entry: E, bytes: Uint8Array): boolean {
    if (node.owner !== this.#owner) return false;
    const own = node as OwnFile<E>;
    own.entry = entry;
    own.bytes = bytes;
    return true;
  }

  /** Replaces the entry of a directory; its content and stamp stay. Missing directories are made. */
  protected setDirectoryEntry(path: string, entry: E): void {
    this.#writable(path).entry = entry;
  }

  /** Adds a node, or replaces the one at the path; missing directories are made. */
  protected set(path: string, node: TreeNode<E>): void {
    this.#put(this.#writable(parentOf(path)), nameOf(path), node);
  }

  /** Removes the node at a path, which exists and is not `/`. */
  protected delete(path: string): void {
    const directory = this.#writable(parentOf(path));
    directory.children.delete(nameOf(path));
    directory.entry = this.withTouchedTime(directory.entry);
    this.#renew(directory);
  }

  /** Gives a directory a new stamp, so that walks that were kept read it again. */
  protected restamp(path: string): void {
    this.#renew(this.#writable(path));
  }

  #put(directory: OwnDirectory<E>, name: string, node: TreeNode<E>): void {
    const there = directory.children.get(name);
    directory.children.set(name, node);
    if (there === undefined) directory.entry = this.withTouchedTime(directory.entry);
    this.#renew(directory);
  }

  #renew(directory: OwnDirectory<E>): void {
    directory.facts = newFacts();
    this.#shape++;
  }

  /** Returns the directory at a path as one that may be changed; missing ones are made. */
  #writable(path: string): OwnDirectory<E> {
    if (this.#last?.path === path) return this.#last.directory;
    let directory = this.#writableCopy(this.#root);
    this.#root = directory;
    for (let from = path === "/" ? 0 : 1; from > 0; ) {
      const to = path.indexOf("/", from);
      const end = to < 0 ? path.length : to;
      directory = this.#writableChild(directory, path.slice(from, end), path.slice(0, end));
      from = to + 1;
    }
    this.#last = { path, directory };
    return directory;
  }

  #writableChild(parent: OwnDirectory<E>, name: string, path: string): OwnDirectory<E> {
    const there = parent.children.get(name);
    if (isDirNode(there)) {
      const own = this.#writableCopy(there);
      if (own !== there) parent.children.set(name, own);
      return own;
    }
    const made = this.newDirectory(this.madeOnTheWay(path, there));
    this.#put(parent, name, made);
    return made;
  }

  #writableCopy(directory: DirNode<E>): OwnDirectory<E> {
    if (directory.owner === this.#owner) return directory as OwnDirectory<E>;
    const { entry, children, facts } = directory;
    return { entry, children: new Map(children), facts, owner: this.#owner };
  }
}
