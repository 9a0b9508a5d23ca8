/**
 * The state of a storage at one moment, which cannot be changed: paths, entries and listings are answered from a tree
 * in memory, contents by batches. A search over it costs the round trip that read the tree, and those for contents.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import { checkLimit } from "../../records/check.ts";
import { checkStoredPath } from "../check.ts";
import { unlistedError } from "../failure.ts";
import type { Committed } from "../commit.ts";
import type { Entry, ReadMany, ReadManyOptions } from "../entry.ts";
import { changedPaths, entriesPage, nodeAt } from "../../backends/tree/nodes.ts";
import type { EntryPage, ListRequest, Storage } from "../storage.ts";
import type { TreeContents } from "./contents.ts";
import type { StorageTree } from "./tree.ts";

/** Answers the calls of a storage from a tree of its entries. A commit fails with READ_ONLY. */
export class TreeStorage implements Pick<Storage, "readMany" | "list" | "commit"> {
  readonly tree: StorageTree;
  readonly contents: TreeContents;
  /** The tree with which this one was compared last, because each search of a fork asks for the same. */
  #compared: { readonly with: StorageTree; readonly paths: readonly string[] } | undefined;

  constructor(tree: StorageTree, contents: TreeContents) {
    this.tree = tree;
    this.contents = contents;
  }

  /** Returns the paths at which a search finds something else here than in another tree. */
  differingFrom(other: StorageTree): readonly string[] {
    if (this.#compared?.with !== other) {
      const paths = changedPaths(other.root, this.tree.root, isFoundEqual);
      this.#compared = { with: other, paths };
    }
    return this.#compared.paths;
  }

  /** Returns the entry at a real path; undefined where there is none. */
  entry(path: string): Entry | undefined {
    return nodeAt(this.tree.root, path)?.entry;
  }

  async readMany(paths: readonly string[], options: ReadManyOptions = {}): Promise<ReadMany> {
    const results: ReadMany["results"][number][] = [];
    const files: Entry[] = [];
    const places: number[] = [];
    for (const [at, path] of paths.entries()) {
      const entry = this.#checkedEntry(path);
      if (entry === undefined || entry instanceof FilewrightError) results.push(entry ?? null);
      else {
        results.push({ entry });
        if (options.bodies === false || entry.type !== "file") continue;
        files.push(entry);
        places.push(at);
      }
    }
    const [only] = files;
    const single = only !== undefined && files.length === 1 && options.maxBytes === undefined;
    const bodies =
      single && isIgnoreFile(only)
        ? [await this.contents.readWithNamesakes(this.tree, only)]
        : await this.contents.read(files, options);
    for (const [index, at] of places.entries()) results[at] = bodies[index] ?? null;
    return { version: this.tree.version, results };
  }

  async list(request: ListRequest): Promise<EntryPage> {
    const { prefix = "/", depth = Number.POSITIVE_INFINITY, after = "", limit } = request;
    checkStoredPath(prefix);
    checkLimit(limit);
    const node = nodeAt(this.tree.root, prefix);
    const failure = node?.entry.unreadable;
    if (failure !== undefined) throw unlistedError(prefix, failure);
    const page = entriesPage(node, { depth, after, limit });
    return { ...page, top: node?.entry ?? null, version: this.tree.version };
  }

  commit(): Promise<Committed> {
    return Promise.reject(backendError("READ_ONLY", "/", "a state of the past cannot be changed"));
  }

  #checkedEntry(path: string): Entry | FilewrightError | undefined {
    try {
      checkStoredPath(path);
    } catch (error) {
      return error as FilewrightError;
    }
    return this.entry(path);
  }
}

/** Returns true for two entries of one path in which a search finds the same. */
function isFoundEqual(a: Entry, b: Entry): boolean {
  if (a.type !== b.type || a.target !== b.target) return false;
  return a.type !== "file" || (a.hash !== undefined && a.hash === b.hash && a.size === b.size);
}

/** Returns true for a file that a walk reads in every directory: an ignore file, or git's own. */
function isIgnoreFile({ path }: Entry): boolean {
  return /\/(?:\.[^/]+|\.git\/info\/exclude)$/u.test(path);
}
