/** Changes of a tree, node by node: what the edit has made is changed in place, all other nodes are copied first. */
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
  #owner = ++lastOwner;
  /** The directory that was changed last, where the next change probably is. */
  #last: { readonly path: string; readonly directory: OwnDirectory<E> } | undefined;
  #shape = 0;

  constructor(root: DirNode<E>) {
    this.#root = root;
  }

  get root(): DirNode<E> {
    return this.#root;
  }

  /** A number that grows when an entry is added, removed, moved or replaced by another node. */
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
   * Returns the entry of a directory that is made on the way to another entry, and where `there` stood. Throws where it
   * must not be replaced.
   */
  protected abstract madeOnTheWay(path: string, there: TreeNode<E> | undefined): E;

  /** Returns the entry of a directory in which a name was added or removed. */
  protected touched(directory: E): E {
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

  /** Changes the entry of a directory alone; missing ones are made. */
  protected describe(path: string, entry: E): void {
    this.#own(path).entry = entry;
  }

  /** Adds a node, or replaces the one at the path; missing directories are made. */
  protected set(path: string, node: TreeNode<E>): void {
    this.#put(this.#own(parentOf(path)), nameOf(path), node);
  }

  /** Removes the node at a path, which exists. */
  protected delete(path: string): void {
    const directory = this.#own(parentOf(path));
    const name = nameOf(path);
    if (isDirNode(directory.children.get(name))) this.#last = undefined;
    directory.children.delete(name);
    directory.entry = this.touched(directory.entry);
    this.#renew(directory);
  }

  /** Notes that walks see something else in a directory. */
  protected restamp(directory: string): void {
    this.#renew(this.#own(directory));
  }

  #put(directory: OwnDirectory<E>, name: string, node: TreeNode<E>): void {
    const there = directory.children.get(name);
    directory.children.set(name, node);
    if (there === undefined) directory.entry = this.touched(directory.entry);
    else if (isDirNode(there)) this.#last = undefined;
    this.#renew(directory);
  }

  #renew(directory: OwnDirectory<E>): void {
    directory.facts = newFacts();
    this.#shape++;
  }

  /** Returns the directory at a path as one that may be changed; missing ones are made. */
  #own(path: string): OwnDirectory<E> {
    if (this.#last?.path === path) return this.#last.directory;
    let directory = this.#ownCopy(this.#root);
    this.#root = directory;
    for (let from = path === "/" ? 0 : 1; from > 0; ) {
      const to = path.indexOf("/", from);
      const end = to < 0 ? path.length : to;
      directory = this.#ownChild(directory, path.slice(from, end), path.slice(0, end));
      from = to + 1;
    }
    this.#last = { path, directory };
    return directory;
  }

  #ownChild(parent: OwnDirectory<E>, name: string, path: string): OwnDirectory<E> {
    const there = parent.children.get(name);
    if (isDirNode(there)) {
      const own = this.#ownCopy(there);
      if (own !== there) parent.children.set(name, own);
      return own;
    }
    const made = this.newDirectory(this.madeOnTheWay(path, there));
    this.#put(parent, name, made);
    return made;
  }

  #ownCopy(directory: DirNode<E>): OwnDirectory<E> {
    if (directory.owner === this.#owner) return directory as OwnDirectory<E>;
    const { entry, children, facts } = directory;
    return { entry, children: new Map(children), facts, owner: this.#owner };
  }
}
