/**
 * A backend over a directory handle, shared by the origin private file system and picked
 * directories. `/` is the handle's own directory, and no path leads above it.
 *
 * It has no links, modes or times of directories. Renaming a directory is not one step for a
 * browser, so the fallback copies it.
 */
import { checkCalls, standardChecks } from "../call-options.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type {
  DeleteOptions,
  FsEntry,
  FsStat,
  LockHandle,
  LockOptions,
  MoveOptions,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { CompleteFiles } from "../complete.ts";
import { checkRange, checkSignal, backendError, tooLargeError } from "../failure.ts";
import { assertVersion, sortEntries } from "../fallback/fallback.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { childOf, nameOf, normalise, parentOf } from "../paths.ts";
import {
  directoryFacts,
  fileFacts,
  readWholeFile,
  readSnapshot,
  versionByTime,
  versionOf,
} from "./content.ts";
import { convertException, fromHandleName, isWebTempName, toHandleName } from "./platform.ts";
import { hasWebLocks, holdName, withExclusiveLock, withRetry } from "./locks.ts";
import { canMove, moveFile, writeContent, removeOrphan } from "./put.ts";
import { HandleTree } from "./walk.ts";

/**
 * A directory handle of a browser (`FileSystemDirectoryHandle`), by its methods: the declarations
 * of this package must compile in projects of Node, which have no types of the DOM.
 */
export interface DirectoryHandle {
  readonly kind: "directory";
  readonly name: string;
  getDirectoryHandle(name: string, options?: { readonly create?: boolean }): Promise<DirectoryHandle>;
  getFileHandle(name: string, options?: { readonly create?: boolean }): Promise<{ readonly kind: "file" }>;
  removeEntry(name: string, options?: { readonly recursive?: boolean }): Promise<void>;
}

/** A directory handle and what the browser can do with it. */
export interface HandleSource {
  /** Returns the directory handle. Called once. */
  open(): Promise<DirectoryHandle>;
  /** The prefix of the names of locks. Pages and workers that use the same directory must have the same scope. */
  readonly scope: string;
  /** True when files can be moved by their handles, as in the origin private file system. */
  readonly moves: boolean;
}

/** Files below a directory handle. */
export class HandleBackend extends CompleteFiles {
  readonly #place: HandleSource;
  readonly #tree: HandleTree;

  constructor(place: HandleSource) {
    super({ conditions: true, ranges: true, moves: place.moves, locks: hasWebLocks() });
    let top: Promise<FileSystemDirectoryHandle> | undefined;
    this.#place = place;
    this.#tree = new HandleTree(() => {
      top ??= (place.open() as Promise<FileSystemDirectoryHandle>).catch((error: unknown) => {
        top = undefined;
        throw error;
      });
      return top;
    });
  }

  override lock(path: string, options: LockOptions): Promise<LockHandle> {
    if (!hasWebLocks()) return super.lock(path, options);
    return holdName(`${this.#place.scope}/call${normalise(path).path}`, path, options);
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return (await this.#tree.find(this.#tree.path(path))) !== null;
    } catch (error) {
      const absent = ["NOT_FOUND", "NOT_DIRECTORY", "INVALID_ARGUMENT", "NAME_TOO_LONG"];
      if (error instanceof FilewrightError && absent.includes(error.code)) return false;
      throw error;
    }
  }
  /** Returns facts with the version, for which the file is read. */
  async stat(path: string): Promise<FsStat> {
    const at = this.#tree.path(path);
    const found = await this.#tree.get(at);
    if (found.type === "dir") return directoryFacts(at);
    return translateErrors(path, async () => {
      const { size, mtime, version } = await readSnapshot(found.handle, path, {
        range: { start: 0, end: 0 },
      });
      return fileFacts(at, size, mtime, version);
    });
  }
  /** Returns facts without the version, without reading the file. */
  override async lstat(path: string): Promise<FsStat> {
    const at = this.#tree.path(path);
    const found = await this.#tree.get(at);
    if (found.type === "dir") return directoryFacts(at);
    return translateErrors(path, async () => {
      const { size, lastModified } = await found.handle.getFile();
      return fileFacts(at, size, lastModified, versionByTime(size, lastModified));
    });
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    const handle = await this.#tree.file(this.#tree.path(path));
    return translateErrors(path, () => readWholeFile(handle, path));
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    const { range, ifNoneMatch, maxBytes = Number.POSITIVE_INFINITY, signal } = options;
    checkSignal(signal, path);
    checkRange(range, path);
    const at = this.#tree.path(path);
    const handle = await this.#tree.file(at);
    const size = (wanted: number): void => {
      if (wanted > maxBytes) throw tooLargeError(path, wanted, maxBytes);
    };
    const moment = await translateErrors(path, () => readSnapshot(handle, path, { range, signal, size }));
    const { bytes, version, mtime } = moment;
    if (ifNoneMatch === version) return null;
    return Object.freeze({ bytes, version, stat: fileFacts(at, moment.size, mtime, version) });
  }
  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    const { ifVersion, ifAbsent, createDirs, signal } = options;
    checkSignal(signal, path);
    const at = this.#tree.path(path);
    if (at === "/") throw backendError("IS_DIRECTORY", path);
    const bytes = new Uint8Array(content);
    const known = await versionOf(bytes);
    return this.#changing([at], path, signal, async () => {
      const there = await this.#tree.find(at);
      if (ifAbsent === true && there !== null) throw backendError("ALREADY_EXISTS", path);
      if (there?.type === "dir") throw backendError("IS_DIRECTORY", path);
      const check = async (): Promise<void> => {
        if (ifVersion === undefined) return;
        const now = there === null ? null : await readSnapshot(there.handle, path, { signal });
        if (now?.version !== ifVersion) throw backendError("CONFLICT", path);
      };
      await check();
      const made = createDirs === true ? await this.#tree.make(parentOf(at)) : [];
      try {
        await this.#put(at, bytes, { path, exists: there !== null, signal, check });
      } catch (error) {
        for (const directory of made) await this.delete(directory).catch(() => undefined);
        throw error;
      }
      return Object.freeze({ version: known ?? (await this.stat(at)).version ?? "" });
    });
  }

  async #put(
    at: string,
    bytes: Uint8Array<ArrayBuffer>,
    how: Pick<Parameters<typeof writeContent>[0], "path" | "exists" | "signal" | "check">,
  ): Promise<void> {
    const name = toHandleName(nameOf(at), at);
    try {
      await this.#tree.using(parentOf(at), (parent) =>
        writeContent({ ...how, parent, name, bytes, moves: this.#place.moves }),
      );
    } catch (error) {
      if (error instanceof FilewrightError && error.code === "NOT_FOUND")
        throw backendError("NOT_FOUND", how.path, "the parent directory does not exist");
      throw error;
    }
  }

  async delete(path: string, { ifVersion }: DeleteOptions = {}): Promise<void> {
    const at = this.#tree.path(path);
    if (at === "/") throw backendError("PROTECTED_PATH", path, "the root cannot be deleted");
    await this.#changing([at], path, undefined, async () => {
      const { type } = await this.#tree.get(at);
      await assertVersion(this, path, ifVersion);
      if (type === "dir") await this.sweep(at);
      await this.#remove(at, false);
    });
  }
  async mkdir(
    path: string,
    options: { readonly parents?: boolean; readonly existOk?: boolean } = {},
  ): Promise<void> {
    const { parents = true, existOk = true } = options;
    const at = this.#tree.path(path);
    await this.#changing([at], path, undefined, async () => {
      const there = await this.#tree.find(at);
      if (there !== null) {
        if (there.type === "dir" && existOk) return;
        throw backendError("ALREADY_EXISTS", path);
      }
      if (!parents) await this.#tree.directory(parentOf(at));
      await this.#tree.make(at);
    });
  }
  async listDir(path: string): Promise<readonly FsEntry[]> {
    const at = this.#tree.path(path);
    const entries: FsEntry[] = [];
    for (const { name, kind } of await this.#names(at)) {
      if (isWebTempName(name)) continue;
      const shown = fromHandleName(name);
      const isDir = kind === "directory";
      const type = isDir ? "dir" : "file";
      entries.push(Object.freeze({ name: shown, path: childOf(at, shown), type, isDir, isFile: !isDir }));
    }
    return Object.freeze(sortEntries(entries));
  }

  async #names(at: string): Promise<readonly FileSystemHandle[]> {
    return this.#tree.using(at, async (handle) => {
      const found: FileSystemHandle[] = [];
      for await (const entry of handle.values()) found.push(entry);
      return found;
    });
  }

  /**
   * Moves a file in one step. @throws UNSUPPORTED_OPERATION for directories, and where files
   * cannot be moved
   */
  override async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    const [source, target] = [this.#tree.path(from), this.#tree.path(to)];
    if (!this.#place.moves || !canMove() || source === target)
      throw backendError("UNSUPPORTED_OPERATION", from, "the browser cannot move this in one step");
    await this.#changing([source, target], to, undefined, async () => {
      const found = await this.#tree.get(source);
      await assertVersion(this, from, options.ifVersion);
      if (found.type === "dir")
        throw backendError("UNSUPPORTED_OPERATION", from, "a browser cannot move a directory in one step");
      const there = await this.#tree.find(target);
      if (there !== null && options.overwrite !== true) throw backendError("ALREADY_EXISTS", to);
      if (there?.type === "dir") throw backendError("IS_DIRECTORY", to);
      await this.#tree.using(parentOf(target), (parent) =>
        moveFile(found.handle, parent, toHandleName(nameOf(target), to), to),
      );
    });
    return {};
  }
  override async removeTree(
    path: string,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<TreeCounts> {
    const at = this.#tree.path(path);
    if (at === "/") throw backendError("PROTECTED_PATH", path, "the root cannot be deleted");
    return this.#changing([at], path, options.signal, async () => {
      const counts = { files: 0, directories: 0, bytes: 0 };
      const add = async (entry: { readonly path: string; readonly isDir: boolean }): Promise<void> => {
        if (entry.isDir) counts.directories++;
        else {
          counts.files++;
          counts.bytes += (await this.lstat(entry.path)).size;
        }
      };
      const { type } = await this.#tree.get(at);
      await add({ path: at, isDir: type === "dir" });
      if (type === "dir") for await (const entry of walkTree(this, at, options.signal)) await add(entry);
      checkSignal(options.signal, path);
      await this.#remove(at, type === "dir");
      return Object.freeze(counts);
    });
  }
  /** Removes the temporary files of pages and workers that no longer exist. */
  override async sweep(path: string): Promise<void> {
    const at = this.#tree.path(path);
    const names = await this.#names(at).catch(() => []);
    for (const { name } of names)
      if (isWebTempName(name)) await this.#tree.using(at, (parent) => removeOrphan(parent, name));
  }

  async #remove(at: string, recursive: boolean): Promise<void> {
    const name = toHandleName(nameOf(at), at);
    await this.#tree.using(parentOf(at), (parent) =>
      withRetry(undefined, at, () => parent.removeEntry(name, { recursive })),
    );
    this.#tree.forget(at);
  }

  /** Runs a change under locks on its paths, and converts the browser's exceptions. */
  async #changing<T>(
    paths: readonly string[],
    path: string,
    signal: AbortSignal | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    const names = paths.map((at) => `${this.#place.scope}/write${at}`);
    return translateErrors(path, () => withExclusiveLock(names, path, signal, run));
  }
}

checkCalls(HandleBackend.prototype, standardChecks("HandleBackend"));

/** Runs an operation and converts the browser's exceptions to errors for the path the caller gave. */
async function translateErrors<T>(path: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw await convertException(error, path);
  }
}
