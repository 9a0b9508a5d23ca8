/**
 * A backend in memory: for tests, browsers and scratch work.
 *
 * POSIX semantics on every host, contents as bytes, links, modes, versions and a clock that can be
 * set. Instances share nothing. Every plain read and write has a synchronous variant.
 */
import { callback, optionChecker, type Options, options as described } from "../../schema/option.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsBackend,
  FsEntry,
  FsStat,
  ListOptions,
  MoveOptions,
  ReadOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { checkCalls, standardChecks } from "../call-options.ts";
import { checkSignal, tooLargeError, backendError } from "../failure.ts";
import { globFiles } from "../fallback/walk-tree.ts";
import { type Dump, dumpOfTree, type MemorySeed, seedStore } from "./memory-seed.ts";
import { toFsStat, versionOfNode, toWriteResult } from "./memory-facts.ts";
import { CachedWalks } from "../search/cached-walk.ts";
import { provideAbilities } from "../abilities.ts";
import { type ContentProvider, ContentSigns } from "../search/held.ts";
import { FileInMemory } from "../search/held-file.ts";
import { MemoryStore } from "./memory-store.ts";
import { cloneDir, type DirNode } from "./memory-tree.ts";
import { normalise } from "../paths.ts";
import { decodeText, encodeText } from "../text.ts";
import { Yielder } from "../../engine/yielder.ts";

/** Options of a memory backend. */
export interface MemoryOptions {
  /** The clock of a memory backend, which returns milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/**
 * The table of the options of {@link MemoryBackend}, with the type and the check of each.
 *
 * @printed
 */
export const MEMORY_OPTIONS: Options<MemoryOptions> = described("MemoryOptions", { now: callback() });

const checkOptions = optionChecker("MemoryBackend", MEMORY_OPTIONS);

/** A snapshot of a memory backend; opaque. */
export interface MemorySnapshot {
  readonly takenAt: number;
}

const keptSnapshots = new WeakMap<MemorySnapshot, { readonly root: DirNode; readonly owner: MemoryStore }>();

/**
 * A file system in memory.
 *
 * @example
 * const backend = new MemoryBackend({ "/repo/a.txt": "one\n" });
 * await backend.readText("/repo/a.txt"); // "one\n"
 */
export class MemoryBackend implements FsBackend {
  readonly #store: MemoryStore;
  readonly #now: () => number;

  constructor(seed: MemorySeed = {}, options: MemoryOptions = {}) {
    this.#now = checkOptions(options).now ?? Date.now;
    this.#store = new MemoryStore(this.#now);
    seedStore(this.#store, seed);
    const { readBytes, listDir } = MemoryBackend.prototype;
    const contents: ContentProvider = {
      signs: new ContentSigns(),
      walks: new CachedWalks(),
      fresh: "watch",
      view: "",
      shape: () => String(this.#store.shape),
      watch: (names) => this.#store.watch(names),
      stamp: (path) => this.#store.stamp(path),
      file: (path) => new FileInMemory(this.#store.file(path)),
      // Searches must use a caller's replacement of these methods.
      intact: () => this.readBytes === readBytes && this.listDir === listDir,
    };
    provideAbilities(this, { contents });
  }

  existsSync(path: string): boolean {
    return this.#store.exists(path);
  }
  statSync(path: string): FsStat {
    return this.#store.stat(path);
  }
  lstatSync(path: string): FsStat {
    return this.#store.lstat(path);
  }
  readBytesSync(path: string): Uint8Array {
    return this.#store.bytes(path);
  }
  readTextSync(path: string, options: { readonly encoding?: string } = {}): string {
    return decodeText(this.#store.file(path).bytes, options.encoding, path);
  }
  writeBytesSync(path: string, content: Uint8Array, options: WriteOptions = {}): WriteResult {
    checkSignal(options.signal, path);
    return toWriteResult(this.#store.write(path, content, options));
  }
  writeTextSync(
    path: string,
    content: string,
    options: WriteOptions & { readonly encoding?: string } = {},
  ): WriteResult {
    const { encoding, ...write } = options;
    return this.writeBytesSync(path, encodeText(content, encoding, path), write);
  }
  deleteSync(path: string, options: DeleteOptions = {}): void {
    this.#store.delete(path, options.ifVersion);
  }
  mkdirSync(path: string, options: { readonly parents?: boolean; readonly existOk?: boolean } = {}): void {
    this.#store.mkdir(path, options.parents ?? true, options.existOk ?? true);
  }
  listDirSync(path: string): readonly FsEntry[] {
    return this.#store.list(path);
  }

  async exists(path: string): Promise<boolean> {
    return this.existsSync(path);
  }
  async stat(path: string): Promise<FsStat> {
    return this.statSync(path);
  }
  async lstat(path: string): Promise<FsStat> {
    return this.lstatSync(path);
  }
  async readText(path: string, options?: { readonly encoding?: string }): Promise<string> {
    return this.readTextSync(path, options);
  }
  async readBytes(path: string): Promise<Uint8Array> {
    return this.readBytesSync(path);
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    checkSignal(options.signal, path);
    const file = this.#store.file(path);
    const version = versionOfNode(file) as string;
    if (options.ifNoneMatch === version) return null;
    const bytes = this.#store.bytes(path, options.range);
    if (options.maxBytes !== undefined && bytes.length > options.maxBytes)
      throw tooLargeError(path, bytes.length, options.maxBytes);
    return Object.freeze({ bytes, version, stat: toFsStat(normalise(path).path, file) });
  }
  async writeText(
    path: string,
    content: string,
    options?: WriteOptions & { readonly encoding?: string },
  ): Promise<WriteResult> {
    return this.writeTextSync(path, content, options);
  }
  async writeBytes(path: string, content: Uint8Array, options?: WriteOptions): Promise<WriteResult> {
    return this.writeBytesSync(path, content, options);
  }
  async delete(path: string, options?: DeleteOptions): Promise<void> {
    this.deleteSync(path, options);
  }
  async mkdir(
    path: string,
    options?: { readonly parents?: boolean; readonly existOk?: boolean },
  ): Promise<void> {
    this.mkdirSync(path, options);
  }
  async listDir(path: string, options: ListOptions = {}): Promise<readonly FsEntry[]> {
    return this.#store.listYielding(path, new Yielder(options));
  }
  /** Files are yielded as they are reached: a file that is removed before its turn is skipped. */
  iterFiles(root: string): Iterable<string> {
    return this.#store.files(root);
  }
  async glob(pattern: string, options: { readonly root?: string } = {}): Promise<readonly string[]> {
    const root = normalise(options.root ?? "/").path;
    return globFiles(this.#store.files(root), root, pattern);
  }
  async readLink(path: string): Promise<string> {
    return this.#store.readLink(path);
  }
  async symlink(target: string, path: string): Promise<void> {
    this.#store.symlink(target, path);
  }
  async realpath(path: string): Promise<string> {
    return this.#store.realpath(path);
  }
  async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return toWriteResult(this.#store.rename(from, to, options.overwrite ?? false, options));
  }
  async copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    return toWriteResult(this.#store.copyFile(from, to, options.overwrite ?? false, options.ifVersion));
  }
  async chmod(path: string, mode: number): Promise<void> {
    this.#store.chmod(path, mode);
  }
  async removeTree(path: string): Promise<TreeCounts> {
    return this.#store.removeTree(path);
  }
  async copyTree(from: string, to: string, options: CopyTreeOptions = {}): Promise<TreeCounts> {
    return this.#store.copyTree(from, to, options.overwrite ?? false, options.onMade);
  }

  /** Returns the whole tree as plain data, which can seed a new backend. */
  dump(): Dump {
    return dumpOfTree(this.#store);
  }
  /** Returns the {@link dump} for `JSON.stringify`. */
  toJSON(): Dump {
    return this.dump();
  }
  /** Takes a snapshot. Contents are shared, so this costs little memory. */
  snapshot(): MemorySnapshot {
    const snapshot = Object.freeze({ takenAt: this.#now() });
    keptSnapshots.set(snapshot, { root: cloneDir(this.#store.root), owner: this.#store });
    return snapshot;
  }
  /** Restores a snapshot; it can be restored several times. @throws INVALID_ARGUMENT for anything else */
  restore(snapshot: MemorySnapshot): void {
    const state = keptSnapshots.get(snapshot);
    if (state === undefined)
      throw backendError("INVALID_ARGUMENT", "/", "not a snapshot of a memory backend");
    // Versions are unique within one backend only, so the content of another backend's snapshot gets new ones.
    this.#store.root = cloneDir(state.root, state.owner === this.#store ? undefined : this.#store.fresh());
  }
}

checkCalls(MemoryBackend.prototype, standardChecks("MemoryBackend"));
