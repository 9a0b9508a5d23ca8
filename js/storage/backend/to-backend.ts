/**
 * A backend over a storage, so that every tool works with it. A storage answers for many paths at once and follows
 * no links; this adapter resolves paths as POSIX does and turns each change into one commit with conditions.
 */
import { checkCalls, standardChecks } from "../../backends/call-options.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type {
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  GlobRoot,
  ListOptions,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../../backends/backend.ts";
import { backendError, checkRange, checkSignal, tooLargeError } from "../../backends/failure.ts";
import { sortEntries } from "../../backends/fallback/fallback.ts";
import { globFiles } from "../../backends/fallback/walk-tree.ts";
import { provideAbilities } from "../../backends/abilities.ts";
import { movedPath, nameOf, normalise } from "../../backends/paths.ts";
import { decodeText, encodeText } from "../../backends/text.ts";
import {
  type ForkSearchOrigin,
  type SearchMethods,
  type SearchedStorage,
  StorageSearches,
} from "../search/searches.ts";
import type { Stage } from "../../backends/transaction/stage.ts";
import { CallStage } from "../staged/stage.ts";
import type { Storage } from "../storage.ts";
import { StorageChanges } from "./changes.ts";
import { Contention } from "./contention.ts";
import { toFsEntry, toFsStat } from "../../backends/tree/facts.ts";
import { locksOf } from "./leases.ts";
import { assertFound, entriesBelow, type FoundStoredPlace, look, type StorageView } from "./look.ts";

/** The methods of the backend of a storage. It has no `close`: the host closes its storage. */
export type StorageBackend = FsBackend &
  Required<
    Pick<
      FsBackend,
      | "read"
      | "hash"
      | "rename"
      | "copyFile"
      | "lstat"
      | "readLink"
      | "symlink"
      | "realpath"
      | "chmod"
      | "removeTree"
    >
  > &
  SearchMethods;

const CALL_CHECKS = standardChecks("toBackend");

/** The calls of a storage that a backend over it makes. */
type BackedStorage = SearchedStorage & Pick<Storage, "lockAll" | "records">;

/**
 * Returns a backend over a storage. Each change of it is one commit, whose conditions include what the change
 * was planned on. A path that met a conflict is locked for all replicas by `lockAll`, or by a lease in the records;
 * without either the queue of the process has to do.
 */
export function toBackend(storage: BackedStorage): StorageBackend {
  return openBackend(storage).backend;
}

/**
 * Begins a stage of the backend of a storage. With `mayAssume` an undo takes what its call left as given, and its commit
 * compares.
 */
export type BeginStage = (mayAssume: boolean) => CallStage;

/** What serves the calls over a storage. */
export interface StorageParts {
  readonly backend: FsBackend;
  readonly searches: StorageSearches;
  readonly beginStage: BeginStage;
}

/** Returns the parts over a storage. `origin` says where a fork comes from. */
export function openBackend(
  storage: BackedStorage,
  origin?: ForkSearchOrigin,
): StorageParts & { readonly backend: StorageBackend } {
  const lock = locksOf(storage);
  const contention = new Contention();
  const over = (view: StorageView): BackendOfStorage => new BackendOfStorage(view, contention);
  const searches = new StorageSearches(storage, over, origin);
  const noting = searches.noting(storage);
  const backend = Object.assign(over(noting), searches.methods());
  if (lock !== undefined)
    backend.lock = (path, options) =>
      options.optimistic === true && !contention.isContended(path)
        ? Promise.resolve({ skipped: true, release: () => {} })
        : lock([path], options);
  checkCalls(backend, CALL_CHECKS);
  const enterStage = (entered: Stage): FsBackend => {
    const stage = entered as CallStage;
    const staged = over(stage);
    // What the call has changed is no moment of the storage: it is walked.
    const changed = over(stage);
    provideAbilities(staged, {
      stage,
      moments: async (options) => (stage.isChanged ? changed : (await searches.moment(options)).fs),
    });
    return staged;
  };
  provideAbilities(backend, { moments: async (options) => (await searches.moment(options)).fs, enterStage });
  const beginStage: BeginStage = (mayAssume) => new CallStage(noting, { contention, lock, mayAssume });
  return { backend, searches, beginStage };
}

class BackendOfStorage implements FsBackend {
  readonly #view: StorageView;
  readonly #changes: StorageChanges;
  declare lock?: NonNullable<FsBackend["lock"]>;

  constructor(view: StorageView, contention: Contention) {
    this.#view = view;
    this.#changes = new StorageChanges(view, contention);
  }

  async exists(path: string): Promise<boolean> {
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

  async lstat(path: string): Promise<FsStat> {
    return toFsStat(normalise(path).path, (await this.#existing(path, false)).entry);
  }

  async readBytes(path: string): Promise<Uint8Array> {
    return ((await this.read(path)) as VersionedBytes).bytes;
  }

  async readText(path: string, options: TextOptions = {}): Promise<string> {
    return decodeText(await this.readBytes(path), options.encoding, path);
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

  async hash(path: string): Promise<{ readonly hash: string; readonly version: string }> {
    const { entry } = await this.#existing(path, true);
    if (entry.type === "dir") throw backendError("IS_DIRECTORY", path);
    return { hash: entry.hash ?? "", version: entry.version };
  }

  async readLink(path: string): Promise<string> {
    const { entry } = await this.#existing(path, false);
    if (entry.type !== "symlink") throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
    return entry.target ?? "";
  }

  async realpath(path: string): Promise<string> {
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

  async *iterFiles(root: string): AsyncGenerator<string> {
    const typed = normalise(root).path;
    const { path: real } = await this.#directory(root);
    for await (const entry of entriesBelow(this.#view, real))
      if (entry.type === "file") yield movedPath(entry.path, real, typed);
  }

  async glob(pattern: string, options: GlobRoot = {}): Promise<readonly string[]> {
    const root = normalise(options.root ?? "/").path;
    return globFiles(this.iterFiles(root), root, pattern);
  }

  writeText(path: string, content: string, options: WriteOptions & TextOptions = {}): Promise<WriteResult> {
    const { encoding, ...write } = options;
    return this.writeBytes(path, encodeText(content, encoding, path), write);
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

  async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#changes.rename(from, to, options);
  }

  async copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return this.#changes.copyFile(from, to, options);
  }

  async symlink(target: string, path: string): Promise<void> {
    await this.#changes.symlink(target, path);
  }

  async chmod(path: string, mode: number): Promise<void> {
    await this.#changes.chmod(path, mode);
  }

  async removeTree(
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

checkCalls(BackendOfStorage.prototype, CALL_CHECKS);
