/**
 * The entries of a storage at one version, in memory. A tree never changes: a newer one shares every directory that
 * is as it was, so two trees are compared without a look at what both have.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { parentOf, sortCodePoints } from "../../backends/paths.ts";
import { TreeEdit } from "../../backends/tree/edit.ts";
import { emptyDirectory, isDirNode, nodesOf } from "../../backends/tree/nodes.ts";
import { checkStoredPath } from "../check.ts";
import type { Entry, StoredDir, StoredNode, Version } from "../entry.ts";

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

let madeTrees = 0;

/** The entry of a directory that the storage has not named, above one that it has. */
function impliedDirectory(path: string): Entry {
  return { path, type: "dir", version: "" };
}

/** A tree in the making, from the entries that a storage answers. What is not changed is shared with the tree before. */
export class EntriesDraft extends TreeEdit<Entry> {
  #count: number;

  constructor(before?: StorageTree) {
    super(before?.root ?? emptyDirectory(impliedDirectory("/")));
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
    this.setDirectoryEntry("/", entry);
  }

  /** Returns the tree. */
  finish(version: Version): StorageTree {
    return Object.freeze({ version, serial: ++madeTrees, root: this.freeze(), count: this.#count });
  }

  protected override madeOnTheWay(path: string, there: StoredNode | undefined): Entry {
    if (there === undefined) this.#count++;
    return impliedDirectory(path);
  }

  #put(entry: Entry): void {
    const { path } = entry;
    if (path === "/") {
      if (entry.type === "dir") this.top(entry);
      return;
    }
    const there = this.at(path);
    if (entry.type === "gone") {
      if (there === undefined) return;
      this.#count -= countOf(there);
      this.delete(path);
      return;
    }
    const kept = entry.type === "dir" && isDirNode(there) ? there : undefined;
    this.#count += 1 - (kept === undefined ? countOf(there) : 1);
    if (entry.type !== "dir") this.set(path, { entry });
    else if (kept === undefined) this.set(path, this.newDirectory(entry));
    else {
      // A directory that can be listed again, or no more, has another listing.
      if (kept.entry.unreadable !== entry.unreadable) this.restamp(path);
      this.setDirectoryEntry(path, entry);
      this.restamp(parentOf(path));
    }
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

/** Returns the number of a node and of all below it. */
function countOf(node: StoredNode | undefined): number {
  let count = 0;
  if (node !== undefined) for (const _ of nodesOf(node)) count++;
  return count;
}
