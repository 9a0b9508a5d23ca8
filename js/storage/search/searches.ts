/**
 * The searches and listings of a backend over a storage. Each is answered from one moment: a snapshot of all entries,
 * kept in memory, that does not change while a search runs.
 */
import type { Files } from "../../backends/files.ts";
import type { Signalled } from "../../engine/errors.ts";
import type { SearchQuery, SearchResult } from "../../engine/search-types.ts";
import { childOf, normalise } from "../../backends/paths.ts";
import { type Able, provideShortcuts } from "../../backends/abilities.ts";
import type { MomentOptions } from "../../backends/search/moments.ts";
import type { StorageView } from "../backend/look.ts";
import type { Entry, Version } from "../entry.ts";
import type { Storage } from "../storage.ts";
import { CachedWalks } from "../../backends/search/cached-walk.ts";
import { ContentSigns } from "../../backends/search/held.ts";
import { TreeContents } from "./contents.ts";
import { contentsOfTree } from "./moment-contents.ts";
import { TreeStorage } from "./tree-storage.ts";
import { StorageTrees } from "./trees.ts";
import type { StorageTree } from "./tree.ts";
import { isDirNode, nodeAt } from "../../backends/tree/nodes.ts";
import type { MirrorSearch, StorageMirror } from "./mirrored.ts";

/** The methods of a storage that searches use. */
export type SearchedStorage = StorageView & Partial<Pick<Storage, "changes">>;

/** Where a fork comes from, for its searches. */
export interface ForkSearchOrigin {
  /** The searches of the storage from which it was forked. */
  readonly parent: StorageSearches;
  /** The version of that storage at which the fork began. */
  readonly at: Version;
}

/** A storage as it is at one moment. */
export interface StorageMoment {
  readonly fs: Files;
  /** The version of the storage that it shows. */
  readonly version: Version;
}

/** The searches of one storage. */
export class StorageSearches {
  readonly trees: StorageTrees;
  readonly contents: TreeContents;
  /** The index of contents; that of a fork is the index of its parent, because their trees share entries. */
  readonly #signs: ContentSigns;
  /** The walks; one that a fork has not made itself begins with that of its parent. */
  readonly #walks: CachedWalks;
  readonly #filesOf: (view: StorageView) => Files & Able;
  readonly #parent: StorageSearches | undefined;
  #last: (StorageMoment & { readonly tree: StorageTree; readonly files: TreeStorage }) | undefined;
  #mirror: StorageMirror | undefined;

  /** With `origin` the storage is a fork, which shares the trees and the copy of its parent. */
  constructor(
    storage: SearchedStorage,
    filesOf: (view: StorageView) => Files & Able,
    origin?: ForkSearchOrigin,
  ) {
    this.#parent = origin?.parent;
    this.trees = new StorageTrees(storage, origin && { trees: origin.parent.trees, at: origin.at });
    this.contents = new TreeContents(storage, () => this.mirror, origin?.parent.contents.inMemory);
    this.#signs = origin === undefined ? new ContentSigns() : origin.parent.#signs;
    this.#walks = new CachedWalks(origin === undefined ? undefined : origin.parent.#walks);
    this.#filesOf = filesOf;
  }

  /** The copy on this machine of the files of this storage, or of the storage that it was forked from. */
  get mirror(): StorageMirror | undefined {
    return this.#mirror ?? this.#parent?.mirror;
  }

  /** Sets the copy of the files on this machine that later searches use; undefined for none. */
  use(mirror: StorageMirror | undefined): void {
    this.#mirror = mirror;
  }

  /**
   * Returns the storage as it is now, or as it was at most `maxAgeMs` ago. This usually takes one round
   * trip, and none when the known tree is recent enough.
   */
  async moment(options: MomentOptions = {}): Promise<StorageMoment> {
    if (this.trees.last === undefined) this.mirror?.prepare();
    const tree = await this.trees.fresh(options);
    if (this.#last?.tree === tree) return this.#last;
    const files = new TreeStorage(tree, this.contents);
    const backend = withKnownListings(this.#filesOf(files), tree);
    const shared = { signs: this.#signs, walks: this.#walks, contents: this.contents };
    provideShortcuts(backend, {
      contents: contentsOfTree(tree, shared, (path) => backend.realpath(path)),
      readAhead: async (root) => {
        const real = await backend.realpath(root);
        return async (paths, signal) => {
          const entries = paths.map((path) => files.entry(childOf(real, path)));
          await this.contents.prefetch(entries.filter(isFile), signal);
        };
      },
      searchUnder: ({ policy, granted, walked }) => ({
        grep: (root, query) => this.#grepCopy(files, { root, query, policy, granted, walked }),
        find: async () => undefined,
      }),
    });
    this.#last = Object.freeze({ fs: backend, version: tree.version, tree, files });
    return this.#last;
  }

  /** Searches a moment by the copy; undefined where the moment has to be walked. */
  async #grepCopy(files: TreeStorage, search: MirrorSearch): Promise<SearchResult | undefined> {
    if (this.#mirror !== undefined) return this.#mirror.grep(files, search);
    return this.#parent?.mirror?.grepFork(files, search);
  }

  /** Searches the contents of the present moment, in the copy where it can answer. */
  async grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    const { fs } = await this.moment(query);
    const files = this.#last?.fs === fs ? this.#last.files : undefined;
    const real = await fs.realpath(root);
    const isDirectory = real === normalise(root).path && (await fs.stat(real)).isDir;
    const search = { root: real, query, policy: undefined, granted: [], walked: fs };
    const found = isDirectory && files !== undefined ? await this.#grepCopy(files, search) : undefined;
    return found ?? fs.grep(root, query);
  }

  /**
   * Returns the storage with commits that are noted here: the search after one asks the storage, although its
   * `maxAgeMs` would allow an older moment.
   */
  noting(storage: StorageView): StorageView {
    return {
      readMany: (paths, options) => storage.readMany(paths, options),
      list: (request) => storage.list(request),
      commit: async (ops, options) => {
        try {
          return await storage.commit(ops, options);
        } finally {
          this.trees.changed();
        }
      },
    };
  }
}

/** Changes a backend so that it keeps the listings of a tree's directories, because every walk asks for them again. */
function withKnownListings<T extends Files>(backend: T, tree: StorageTree): T {
  const { listDir } = backend;
  backend.listDir = async (path, options) => {
    const node = nodeAt(tree.root, path);
    // A path through links, or one that is not normalised, has to be resolved by the backend.
    if (!isDirNode(node) || node.entry.path !== path) return listDir.call(backend, path, options);
    const { facts } = node;
    facts.listing ??= await listDir.call(backend, path, options);
    return facts.listing;
  };
  return backend;
}

function isFile(entry: Entry | undefined): entry is Entry {
  return entry?.type === "file";
}
