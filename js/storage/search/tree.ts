/**
 * The entries of a storage at one version, in memory. A tree never changes: a newer one shares every directory that
 * is as it was, so two trees are compared without a look at what both have.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { nameOf, parentOf, sortCodePoints } from "../../backends/paths.ts";
import { checkStoredPath } from "../check.ts";
import type { FsEntry } from "../../backends/backend.ts";
import type { Entry, Version } from "../entry.ts";
import { isDirNode, nodeAt, type StoredDir, type StoredNode } from "../memory/nodes.ts";

/** All entries of a storage at one version. */
export interface StorageTree {
  /** The version of the workspace that the entries have. */
  readonly version: Version;
  /** Greater than that of every tree that was made before it in this process. */
  readonly serial: number;
  readonly root: StoredDir;
  /** The number of entries. */
  readonly count: number;
}

/** The facts about the entries that stand directly in a directory of a tree. */
export interface DirectoryFacts {
  /** A number that no other state of these entries ever had. */
  readonly stamp: number;
  /** Their listing, once it was asked for. */
  listing: readonly FsEntry[] | undefined;
}

/** The facts by the node of the directory. Nodes that differ only further down share them. */
const factsByNode = new WeakMap<StoredDir, DirectoryFacts>();

let lastStamp = 0;

/** Returns what is known of the entries that stand directly in a directory. */
export function directoryFacts(node: StoredDir): DirectoryFacts {
  const facts = factsByNode.get(node) ?? { stamp: ++lastStamp, listing: undefined };
  factsByNode.set(node, facts);
  return facts;
}

/** A directory that a draft may change. */
interface OwnDirectory {
  readonly entry: Entry;
  readonly children: Map<string, StoredNode>;
}

let madeTrees = 0;

/** The entry of a directory that the storage has not named, above one that it has. */
function impliedDirectory(path: string): Entry {
  return { path, type: "dir", version: "" };
}

/** A tree in the making. What is not changed is shared with the tree before. */
export class TreeDraft {
  #root: StoredDir;
  #count: number;
  /** The directories that this draft has made, which it may change. */
  readonly #own = new WeakSet<StoredNode>();

  constructor(before?: StorageTree) {
    this.#root = before?.root ?? { entry: impliedDirectory("/"), children: new Map() };
    this.#count = before?.count ?? 0;
  }

  /**
   * Adds, replaces or removes entries in any order.
   * @throws IO_ERROR for a path that cannot be one of a storage, before anything is changed
   */
  apply(entries: readonly Entry[]): void {
    const byPath = new Map(entries.map((entry) => [entry.path, entry]));
    for (const { path } of entries) checkAnsweredPath(path);
    // Parents come before their content.
    for (const path of sortCodePoints([...byPath.keys()])) this.#put(byPath.get(path) as Entry);
  }

  /** Sets the entry of the root, which a listing does not contain. */
  top(entry: Entry): void {
    const before = this.#ownRoot();
    this.#root = { entry, children: before.children };
    factsByNode.set(this.#root, directoryFacts(before));
    this.#own.add(this.#root);
  }

  /** Returns the tree. The draft must not be used afterwards. */
  finish(version: Version): StorageTree {
    return Object.freeze({ version, serial: ++madeTrees, root: this.#root, count: this.#count });
  }

  #put(entry: Entry): void {
    const { path } = entry;
    if (path === "/") {
      if (entry.type === "dir") this.top(entry);
      return;
    }
    if (entry.type === "gone") {
      this.#remove(path);
      return;
    }
    const parent = this.#changedDirectory(parentOf(path));
    const name = nameOf(path);
    const known = parent.children.get(name);
    if (known === undefined) this.#count++;
    if (entry.type === "dir") {
      const children = isDirNode(known) ? known.children : new Map<string, StoredNode>();
      const next = { entry, children };
      // A directory that can be listed again, or no more, has another listing.
      if (isDirNode(known) && known.entry.unreadable === entry.unreadable)
        factsByNode.set(next, directoryFacts(known));
      parent.children.set(name, next);
      // Its children may still be those of the tree before, so the new node is not this draft's own.
      return;
    }
    if (isDirNode(known)) this.#count -= countBelow(known);
    parent.children.set(name, { entry });
  }

  #remove(path: string): void {
    const known = nodeAt(this.#root, path);
    if (known === undefined) return;
    this.#count -= 1 + (isDirNode(known) ? countBelow(known) : 0);
    this.#changedDirectory(parentOf(path)).children.delete(nameOf(path));
  }

  #ownRoot(): OwnDirectory {
    if (!this.#own.has(this.#root)) {
      const before = this.#root;
      this.#root = { entry: before.entry, children: new Map(before.children) };
      factsByNode.set(this.#root, directoryFacts(before));
      this.#own.add(this.#root);
    }
    return this.#root as OwnDirectory;
  }

  /** Returns a directory in which an entry changes, made where it is missing. */
  #changedDirectory(path: string): OwnDirectory {
    const directory = this.#ownDirectory(path);
    factsByNode.delete(directory);
    return directory;
  }

  /** Returns a directory that may be changed, made where it is missing. */
  #ownDirectory(path: string): OwnDirectory {
    let at = this.#ownRoot();
    if (path === "/") return at;
    let reached = "";
    for (const name of path.slice(1).split("/")) {
      reached += `/${name}`;
      at = this.#ownChild(at, name, reached);
    }
    return at;
  }

  /** Returns a directory in a directory of this draft, as one that may be changed. */
  #ownChild(parent: OwnDirectory, name: string, path: string): OwnDirectory {
    const known = parent.children.get(name);
    if (known !== undefined && this.#own.has(known)) return known as OwnDirectory;
    const isDirectory = isDirNode(known);
    const children = isDirectory ? new Map(known.children) : new Map<string, StoredNode>();
    const next = { entry: isDirectory ? known.entry : impliedDirectory(path), children };
    if (isDirectory) factsByNode.set(next, directoryFacts(known));
    else factsByNode.delete(parent);
    if (known === undefined) this.#count++;
    parent.children.set(name, next);
    this.#own.add(next);
    return next;
  }
}

/** Checks a path that an engine has answered. @throws IO_ERROR */
function checkAnsweredPath(path: string): void {
  try {
    checkStoredPath(path);
  } catch (cause) {
    throw new FilewrightError("IO_ERROR", "the storage names a path that cannot exist", { cause });
  }
}

function countBelow(dir: StoredDir): number {
  let count = 0;
  for (const node of dir.children.values()) count += 1 + (isDirNode(node) ? countBelow(node) : 0);
  return count;
}
