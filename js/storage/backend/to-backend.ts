/**
 * A backend over a storage, so that every tool works with it. A storage answers for many paths at once and follows
 * no links; this adapter resolves paths as POSIX does and turns each change into one commit with conditions.
 */
import { provideShortcuts } from "../../backends/abilities.ts";
import type {
  DeleteOptions,
  FsEntry,
  FsStat,
  ListOptions,
  LockHandle,
  LockOptions,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../../backends/backend.ts";
import { checkCalls, standardChecks } from "../../backends/call-options.ts";
import { CompleteFiles, derived } from "../../backends/complete.ts";
import type { TreePage, TreeRequest } from "../../backends/entry.ts";
import { backendError, checkRange, checkSignal, tooLargeError } from "../../backends/failure.ts";
import { sortEntries } from "../../backends/fallback/fallback.ts";
import type { FileHash, Files } from "../../backends/files.ts";
import { movedPath, nameOf, normalise } from "../../backends/paths.ts";
import type { Stage } from "../../backends/transaction/stage.ts";
import { toFsEntry, toFsStat } from "../../backends/tree/facts.ts";
import { FilewrightError, type Signalled } from "../../engine/errors.ts";
import type {
  FindQuery,
  FindResult,
  FuzzyQuery,
  FuzzyResult,
  SearchQuery,
  SearchResult,
} from "../../engine/search-types.ts";
import { type ForkSearchOrigin, type SearchedStorage, StorageSearches } from "../search/searches.ts";
import { CallStage } from "../staged/stage.ts";
import type { Storage } from "../storage.ts";
import { StorageChanges } from "./changes.ts";
import { Contention } from "./contention.ts";
import { type LockPaths, locksOf } from "./leases.ts";
import { assertFound, entriesBelow, type FoundStoredPlace, look, type StorageView } from "./look.ts";

/** The calls of a storage that a backend over it makes. */
type BackedStorage = SearchedStorage & Pick<Storage, "lockAll" | "records">;

/**
 * Returns a backend over a storage. Each change of it is one commit, whose conditions include what the change
 * was planned on. A path that met a conflict is locked for all replicas by `lockAll`, or by a lease in the records;
 * without either the queue of the process has to do.
 */
export function toBackend(storage: BackedStorage): Files {
  return openBackend(storage).backend;
}

/**
 * Begins a stage of the backend of a storage. With `mayAssume` an undo takes what its call left as given, and its commit
 * compares.
 */
export type BeginStage = (mayAssume: boolean) => CallStage;

/** What serves the calls over a storage. */
export interface StorageParts {
  readonly backend: Files;
  readonly searches: StorageSearches;
  readonly beginStage: BeginStage;
}

/** Returns the parts over a storage. `origin` says where a fork comes from. */
export function openBackend(storage: BackedStorage, origin?: ForkSearchOrigin): StorageParts {
  const lock = locksOf(storage);
  const contention = new Contention();
  const over = (view: StorageView): FilesOfStorage => new FilesOfStorage(view, contention);
  const searches = new StorageSearches(storage, over, origin);
  const noting = searches.noting(storage);
  const backend = new PresentFiles({ view: noting, contention, searches, lock });
  const enterStage = (entered: Stage): Files => {
    const stage = entered as CallStage;
    const staged = over(stage);
    // What the call has changed is no moment of the storage: it is walked.
    const changed = over(stage);
    provideShortcuts(staged, {
      stage,
      moments: async (options) => (stage.isChanged ? changed : (await searches.moment(options)).fs),
    });
    return staged;
  };
  provideShortcuts(backend, {
    moments: async (options) => (await searches.moment(options)).fs,
    searchCode: async (roots, query) => {
      const { fs } = await searches.moment({ signal: query.signal });
      return (await derived()).searchCode(fs, roots, query);
    },
    enterStage,
  });
  const beginStage: BeginStage = (mayAssume) => new CallStage(noting, { contention, lock, mayAssume });
  return { backend, searches, beginStage };
}

/** Files over a view of a storage. They have no `close`: the host closes its storage. */
class FilesOfStorage extends CompleteFiles {
  readonly #view: StorageView;
  readonly #changes: StorageChanges;

  constructor(view: StorageView, contention: Contention, locks = false) {
    super({ conditions: true, links: true, modes: true, moves: true, locks });
    this.#view = view;
    this.#changes = new StorageChanges(view, contention);
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return (await look(this.#view, path, { follow: true, bodies: false })).found !== null;
    } catch (error) {
      if (error instanceof FilewrightError && error.code !== "IO_ERROR" && error.code !== "CANCELLED")
        return false;
      throw error;
    }
  }

  async stat(path: string): Promise<FsStat> {
    return toFsStat(normalise(path).path, (await this.#existing(path, true)).entry);
  }

  override async lstat(path: string): Promise<FsStat> {
    return toFsStat(normalise(path).path, (await this.#existing(path, false)).entry);
  }

  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    const { range, ifNoneMatch, maxBytes, signal } = options;
    checkSignal(signal, path);
    // A part of a larger file may be asked for, so the size is bounded only without a range.
    const most = range === undefined ? maxBytes : undefined;
    const place = await look(this.#view, path, { follow: true, signal, maxBytes: most });
    const { entry, body, left } = assertFound(place, path).found;
    if (entry.type === "dir") throw backendError("IS_DIRECTORY", path);
    const { version, size = 0 } = entry;
    if (ifNoneMatch === version) return null;
    checkRange(range, path);
    if (left === true && most !== undefined) throw tooLargeError(path, size, most);
    const whole = body ?? new Uint8Array(0);
    const bytes = range === undefined ? whole : whole.slice(range.start, range.end);
    if (maxBytes !== undefined && bytes.length > maxBytes) throw tooLargeError(path, bytes.length, maxBytes);
    return Object.freeze({ bytes, version, stat: toFsStat(normalise(path).path, entry) });
  }

  override async hash(path: string): Promise<FileHash> {
    const { entry } = await this.#existing(path, true);
    if (entry.type === "dir") throw backendError("IS_DIRECTORY", path);
    return { hash: entry.hash ?? "", version: entry.version };
  }

  override async readLink(path: string): Promise<string> {
    const { entry } = await this.#existing(path, false);
    if (entry.type !== "symlink") throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
    return entry.target ?? "";
  }

  override async realpath(path: string): Promise<string> {
    const place = await look(this.#view, path, { follow: true, bodies: false, keepMissingDirectory: true });
    return place.path;
  }

  async listDir(path: string, options: ListOptions = {}): Promise<readonly FsEntry[]> {
    const typed = normalise(path).path;
    const { path: real } = await this.#directory(path);
    const found: FsEntry[] = [];
    for await (const entry of entriesBelow(this.#view, real, 1, options.signal))
      found.push(toFsEntry(typed, nameOf(entry.path), entry));
    return Object.freeze(sortEntries(found));
  }

  override async *iterFiles(root: string): AsyncGenerator<string> {
    const typed = normalise(root).path;
    const { path: real } = await this.#directory(root);
    for await (const entry of entriesBelow(this.#view, real))
      if (entry.type === "file") yield movedPath(entry.path, real, typed);
  }

  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#changes.write(path, content, options);
  }

  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    await this.#changes.remove(path, options);
  }

  async mkdir(path: string, options: MkdirOptions = {}): Promise<void> {
    await this.#changes.mkdir(path, options);
  }

  override async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#changes.rename(from, to, options);
  }

  override async copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#changes.copyFile(from, to, options);
  }

  override async symlink(target: string, path: string): Promise<void> {
    await this.#changes.symlink(target, path);
  }

  override async chmod(path: string, mode: number): Promise<void> {
    await this.#changes.chmod(path, mode);
  }

  override async removeTree(
    path: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TreeCounts> {
    return this.#changes.removeTree(path, options.signal);
  }

  async #existing(path: string, follow: boolean): Promise<FoundStoredPlace> {
    return assertFound(await look(this.#view, path, { follow, bodies: false }), path);
  }

  /** Returns the directory at a path. @throws NOT_FOUND, NOT_DIRECTORY */
  async #directory(path: string): Promise<FoundStoredPlace> {
    const place = await this.#existing(path, true);
    if (place.entry.type !== "dir") throw backendError("NOT_DIRECTORY", path);
    return place;
  }
}

checkCalls(FilesOfStorage.prototype, standardChecks("toBackend"));

/** The parts of the present files of a storage. */
interface PresentParts {
  readonly view: StorageView;
  readonly contention: Contention;
  readonly searches: StorageSearches;
  /** Undefined for a storage without locks. */
  readonly lock: LockPaths | undefined;
}

/** The present files of a storage: each search and listing is of a moment, and a lock is one of all replicas. */
class PresentFiles extends FilesOfStorage {
  readonly #parts: PresentParts;

  constructor(parts: PresentParts) {
    super(parts.view, parts.contention, parts.lock !== undefined);
    this.#parts = parts;
  }

  async #moment(signal: AbortSignal | undefined): Promise<Files> {
    return (await this.#parts.searches.moment({ signal })).fs;
  }

  override grep(root: string, query: SearchQuery & Signalled): Promise<SearchResult> {
    return this.#parts.searches.grep(root, query);
  }
  override async find(root: string, query: FindQuery & Signalled): Promise<FindResult> {
    return (await this.#moment(query.signal)).find(root, query);
  }
  override async findFiles(root: string, query: Omit<FuzzyQuery, "rank"> & Signalled): Promise<FuzzyResult> {
    return (await this.#moment(query.signal)).findFiles(root, query);
  }
  override async listTree(root: string, request: TreeRequest): Promise<TreePage> {
    return (await this.#moment(request.signal)).listTree(root, request);
  }
  override lock(path: string, options: LockOptions): Promise<LockHandle> {
    const { lock, contention } = this.#parts;
    if (lock === undefined) return super.lock(path, options);
    return options.optimistic === true && !contention.isContended(path)
      ? Promise.resolve({ skipped: true, release: () => {} })
      : lock([path], options);
  }
}

checkCalls(PresentFiles.prototype, standardChecks("toBackend"));
