/**
 * The searches and listings of a backend over a storage. Each is answered from one moment: a snapshot of all entries,
 * kept in memory, that does not change while a search runs.
 */
import type { SearchResult } from "../../engine/search-types.ts";
import type { FsBackend } from "../../backends/backend.ts";
import { listPageVia, realpathVia } from "../../backends/fallback/fallback.ts";
import { walkedTree } from "../../backends/fallback/tree-page.ts";
import { childOf, normalise } from "../../backends/paths.ts";
import { abilitiesOf, provideAbilities } from "../../backends/abilities.ts";
import type { MomentOptions } from "../../backends/search/moments.ts";
import { findFilesBackend } from "../../backends/search/search-fuzzy.ts";
import { findBackend, grepBackend } from "../../backends/search/search.ts";
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
import type { StorageMirror } from "./mirrored.ts";

/** The methods of a storage that searches use. */
export type SearchedStorage = StorageView & Partial<Pick<Storage, "changes">>;

/** The methods of a backend that searches and lists. */
export type SearchMethods = Required<
  Pick<FsBackend, "grep" | "find" | "findFiles" | "listTree" | "listPage">
>;

/** Where a fork comes from, for its searches. */
export interface ForkSearchOrigin {
  /** The searches of the storage from which it was forked. */
  readonly parent: StorageSearches;
  /** The version of that storage at which the fork began. */
  readonly at: Version;
}

/** A storage as it is at one moment. */
export interface StorageMoment {
  readonly fs: FsBackend;
  /** The version of the storage that it shows. */
  readonly version: Version;
}

/** The searches of one storage. */
export class StorageSearches {
  readonly trees: StorageTrees;
  readonly contents: TreeContents;
  /** The index of contents; that of a fork is the index of its parent, because their trees share entries. */
  readonly #signs: ContentSigns;
  readonly #walks = new CachedWalks();
  readonly #backendOf: (view: StorageView) => FsBackend;
  readonly #parent: StorageSearches | undefined;
  #last: (StorageMoment & { readonly tree: StorageTree }) | undefined;
  #mirror: StorageMirror | undefined;

  /** With `origin` the storage is a fork, which shares the trees and the copy of its parent. */
  constructor(
    storage: SearchedStorage,
    backendOf: (view: StorageView) => FsBackend,
    origin?: ForkSearchOrigin,
  ) {
    this.#parent = origin?.parent;
    this.trees = new StorageTrees(storage, origin && { trees: origin.parent.trees, at: origin.at });
    this.contents = new TreeContents(storage, () => this.mirror);
    this.#signs = origin === undefined ? new ContentSigns() : origin.parent.#signs;
    this.#backendOf = backendOf;
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
    const backend = withKnownListings(this.#backendOf(files), tree);
    const shared = { signs: this.#signs, walks: this.#walks, contents: this.contents };
    provideAbilities(backend, {
      contents: contentsOfTree(tree, shared, (path) => realpathVia(backend, path)),
      readAhead: async (root) => {
        const real = (await backend.realpath?.(root)) ?? normalise(root).path;
        return async (paths, signal) => {
          const entries = paths.map((path) => files.entry(childOf(real, path)));
          await this.contents.prefetch(entries.filter(isFile), signal);
        };
      },
      momentSearch: {
        grep: async (root, query, policy, granted, walked) => {
          const search = { root, query, policy, granted, walked };
          if (this.#mirror !== undefined) return this.#mirror.grep(files, search);
          return this.#parent?.mirror?.grepFork(files, search);
        },
      },
    });
    this.#last = Object.freeze({ fs: backend, version: tree.version, tree });
    return this.#last;
  }

  /** Returns the search methods of a backend. Each call enters a new moment. */
  methods(): SearchMethods {
    const moment = async (signal: AbortSignal | undefined) => (await this.moment({ signal })).fs;
    return {
      grep: async (root, query) => grepMoment(await moment(query.signal), root, query),
      find: async (root, query) => findBackend(await moment(query.signal), root, query),
      findFiles: async (root, query) => findFilesBackend(await moment(query.signal), root, query),
      listTree: async (root, request) => walkedTree(await moment(request.signal), root, request),
      listPage: async (path, options) => listPageVia(await moment(undefined), path, options),
    };
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
function withKnownListings(backend: FsBackend, tree: StorageTree): FsBackend {
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

/** Searches contents in the copy where it can answer, and by a walk otherwise. */
async function grepMoment(
  moment: FsBackend,
  root: string,
  query: Parameters<SearchMethods["grep"]>[1],
): Promise<SearchResult> {
  const real = (await moment.realpath?.(root)) ?? root;
  const isDirectory = real === normalise(root).path && (await moment.stat(real)).isDir;
  const found = isDirectory
    ? await abilitiesOf(moment).momentSearch?.grep(real, query, undefined, [], moment)
    : undefined;
  return found ?? grepBackend(moment, root, query);
}

function isFile(entry: Entry | undefined): entry is Entry {
  return entry?.type === "file";
}
