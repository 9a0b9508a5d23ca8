/**
 * A backend in memory: for tests, browsers and scratch work.
 *
 * POSIX semantics on every host, contents as bytes, links, modes, versions and a clock that can be set. Instances share
 * nothing. A method finds the places of its paths, checks what stands there, and makes its change by the tree.
 */
import { provideShortcuts } from "../abilities.ts";
import { CompleteFiles } from "../complete.ts";
import type {
  CopyTreeOptions,
  DeleteOptions,
  FsEntry,
  FsStat,
  ListOptions,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  TextOptions,
  TreeCounts,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { checkCalls, standardChecks } from "../call-options.ts";
import { backendError, checkRange, checkSignal, tooLargeError } from "../failure.ts";
import { checkTarget, movedPath, normalise } from "../paths.ts";
import { CachedWalks } from "../search/cached-walk.ts";
import { ContentSigns } from "../search/held.ts";
import { FileInMemory } from "../search/held-file.ts";
import { decodeText, encodeText } from "../text.ts";
import { hasTempName } from "../walk/temp-name.ts";
import { Yielder } from "../../engine/yielder.ts";
import { callback, optionChecker, type Options, options as described } from "../../schema/option.ts";
import {
  checkApart,
  checkCopied,
  checkCopyTarget,
  checkMove,
  checkNew,
  checkParent,
  checkRemoval,
  checkReplaced,
  checkWrite,
} from "../tree/checks.ts";
import { toFsEntry, toFsStat, toWriteResult } from "../tree/facts.ts";
import {
  type MemoryEntry,
  type MemoryNode,
  type MemorySnapshot,
  MemoryTree,
  TreeSnapshot,
} from "./memory-tree.ts";
import {
  checkedPath,
  directoryAt,
  directoryIfAny,
  fileAt,
  type FoundTreePlace,
  foundPlace,
  type TreePlace,
  placeAt,
  placeOf,
} from "../tree/place.ts";
import { type Dump, dumpOfTree, type MemorySeed, seedTree } from "./memory-seed.ts";
import {
  type FileNode,
  isDirNode,
  isFileNode,
  namesOf,
  namesYielding,
  nodeAt,
  nodesByPath,
  nodesOf,
} from "../tree/nodes.ts";

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

/** The number of entries from which a directory is listed in parts, so that the event loop can run. */
const MIN_LARGE_DIRECTORY_ENTRIES = 1024;

export type { MemorySnapshot } from "./memory-tree.ts";

/**
 * A file system in memory.
 *
 * @example
 * const backend = new MemoryBackend({ "/repo/a.txt": "one\n" });
 * await backend.readText("/repo/a.txt"); // "one\n"
 */
export class MemoryBackend extends CompleteFiles {
  readonly #tree: MemoryTree;
  readonly #now: () => number;

  constructor(seed: MemorySeed = {}, options: MemoryOptions = {}) {
    super({ conditions: true, ranges: true, links: true, modes: true, moves: true });
    this.#now = checkOptions(options).now ?? Date.now;
    const tree = new MemoryTree(this.#now);
    this.#tree = tree;
    seedTree(tree, seed);
    const { readBytes, listDir } = MemoryBackend.prototype;
    provideShortcuts(this, {
      contents: {
        signs: new ContentSigns(),
        walks: new CachedWalks(),
        fresh: "watch",
        source: undefined,
        view: "",
        shape: () => String(tree.shape),
        watch: (names) => tree.watch(names),
        stamp: (path) => directoryIfAny(tree.root, path)?.facts.stamp,
        file: (path) => new FileInMemory(fileAt(tree.root, path)),
        // Searches must use a caller's replacement of these methods.
        intact: () => this.readBytes === readBytes && this.listDir === listDir,
      },
    });
  }

  override async exists(path: string): Promise<boolean> {
    try {
      return this.#find(path, true).node !== undefined;
    } catch {
      return false;
    }
  }
  async stat(path: string): Promise<FsStat> {
    return statOf(path, this.#existing(path, true).entry);
  }
  override async lstat(path: string): Promise<FsStat> {
    return statOf(path, this.#existing(path, false).entry);
  }
  override async readText(path: string, options: TextOptions = {}): Promise<string> {
    return decodeText(fileAt(this.#tree.root, path).bytes, options.encoding, path);
  }
  override async readBytes(path: string): Promise<Uint8Array> {
    return new Uint8Array(fileAt(this.#tree.root, path).bytes);
  }
  async read(path: string, options: ReadOptions = {}): Promise<VersionedBytes | null> {
    const { range, ifNoneMatch, maxBytes, signal } = options;
    checkSignal(signal, path);
    const { entry, bytes: all } = fileAt(this.#tree.root, path);
    const { version } = entry;
    if (ifNoneMatch === version) return null;
    checkRange(range, path);
    const bytes = range === undefined ? new Uint8Array(all) : all.slice(range.start, range.end);
    if (maxBytes !== undefined && bytes.length > maxBytes) throw tooLargeError(path, bytes.length, maxBytes);
    return Object.freeze({ bytes, version, stat: statOf(path, entry) });
  }
  override async writeText(
    path: string,
    content: string,
    options: WriteOptions & TextOptions = {},
  ): Promise<WriteResult> {
    return this.#write(path, encodeText(content, options.encoding, path), options, false);
  }
  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<WriteResult> {
    return this.#write(path, content, options, true);
  }
  async delete(path: string, options: DeleteOptions = {}): Promise<void> {
    const place = this.#existing(path, false);
    checkRemoval(place, options.ifVersion, path);
    checkEmpty(place, path);
    this.#tree.begin().remove(place.path);
  }
  async mkdir(path: string, { parents = true, existOk = true }: MkdirOptions = {}): Promise<void> {
    const at = normalise(checkedPath(path)).path;
    const place = placeAt(this.#tree.root, at, false);
    if (place.node !== undefined) {
      if (existOk && directoryIfAny(this.#tree.root, at) !== undefined) return;
      throw backendError("ALREADY_EXISTS", path);
    }
    if (!parents) checkParent(place, path);
    checkNameable(place, path);
    this.#tree.begin().mkdir(place.path);
  }
  /** Lists the directory as it is now, also when the names of a large one are sorted in parts. */
  async listDir(path: string, options: ListOptions = {}): Promise<readonly FsEntry[]> {
    const directory = directoryAt(this.#tree.root, path);
    const at = normalise(path).path;
    const isLarge = directory.children.size >= MIN_LARGE_DIRECTORY_ENTRIES;
    const children = isLarge ? new Map(directory.children) : directory.children;
    const yielder = new Yielder(options);
    const names = isLarge ? await namesYielding(directory, yielder) : namesOf(directory);
    const entries: FsEntry[] = [];
    for (const name of names) {
      entries.push(toFsEntry(at, name, (children.get(name) as MemoryNode).entry));
      if (entries.length % MIN_LARGE_DIRECTORY_ENTRIES === 0) await yielder.yieldIfDue();
    }
    return Object.freeze(entries);
  }
  /** Files are yielded as they are reached: a file that is removed before its turn is skipped. */
  override *iterFiles(root: string): Generator<string> {
    const directory = directoryAt(this.#tree.root, root);
    const [real, typed] = [directory.entry.path, normalise(root).path];
    for (const { entry } of nodesByPath(directory)) {
      const isFile = isFileNode(nodeAt(this.#tree.root, entry.path));
      if (isFile && !hasTempName(entry.path, real)) yield movedPath(entry.path, real, typed);
    }
  }
  override async readLink(path: string): Promise<string> {
    const { type, target = "" } = this.#existing(path, false).entry;
    if (type !== "symlink") throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
    return target;
  }
  override async symlink(target: string, path: string): Promise<void> {
    checkTarget(target, path);
    const place = this.#find(path, false);
    checkNew(place, path);
    this.#tree.begin().symlink(place.path, target);
  }
  override async realpath(path: string): Promise<string> {
    const place = this.#find(path, true);
    checkNameable(place, path);
    return place.path;
  }
  override async rename(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    const source = this.#existing(from, false);
    checkRemoval(source, options.ifVersion, from);
    const target = this.#find(to, false);
    checkMove({ source, target }, options, { from, to });
    checkEmpty(target, to);
    const tree = this.#tree.begin();
    if (target.node !== undefined) tree.remove(target.path);
    tree.move(source.path, target.path);
    return this.#made(target.path);
  }
  override async copyFile(from: string, to: string, options: MoveOptions = {}): Promise<WriteResult> {
    const source = this.#existing(from, true);
    checkCopied(source, options.ifVersion, from);
    checkReplaced(this.#find(to, false), options.overwrite, to);
    const target = this.#find(to, true);
    checkCopyTarget(source, target, to);
    const { bytes } = source.node as FileNode<MemoryEntry>;
    const entry = this.#tree.begin().write(target.path, bytes, source.entry.mode);
    return toWriteResult(entry, entry);
  }
  override async chmod(path: string, mode: number): Promise<void> {
    const { path: real } = this.#existing(path, true);
    this.#tree.begin().chmod(real, mode);
  }
  override async removeTree(path: string): Promise<TreeCounts> {
    const place = this.#existing(path, false);
    checkRemoval(place, undefined, path);
    this.#tree.begin().remove(place.path, true);
    return countTree(place.node);
  }
  override async copyTree(from: string, to: string, options: CopyTreeOptions = {}): Promise<TreeCounts> {
    const source = this.#existing(from, false);
    const { overwrite = false, onMade } = options;
    const target = this.#find(to, false);
    if (isFileNode(source.node)) {
      const made = await this.copyFile(from, to, { overwrite });
      onMade?.(to, made);
      return countTree(source.node);
    }
    checkParent(target, to);
    if (target.path !== source.path) checkReplaced(target, overwrite, to);
    checkApart(source, target, to);
    // The copy shares no node with what was there, so that a failure half-way leaves nothing behind.
    const before = this.#tree.freeze();
    try {
      this.#tree.begin().copy(source.node, target.path);
    } catch (error) {
      this.#tree.adopt(before);
      throw error;
    }
    if (onMade !== undefined)
      for (const { entry } of nodesOf(source.node)) {
        const made = movedPath(entry.path, source.path, target.path);
        if (entry.type === "file") onMade(movedPath(entry.path, source.path, to), this.#made(made));
      }
    return countTree(source.node);
  }

  /** Returns the whole tree as plain data, which can seed a new backend. */
  dump(): Dump {
    return dumpOfTree(this.#tree);
  }
  /** Returns the {@link dump} for `JSON.stringify`. */
  toJSON(): Dump {
    return this.dump();
  }
  /** Takes a snapshot. Nothing is copied: what changes afterwards is. */
  snapshot(): MemorySnapshot {
    return new TreeSnapshot(this.#now(), this.#tree);
  }
  /** Restores a snapshot; it can be restored several times. @throws INVALID_ARGUMENT for anything else */
  restore(snapshot: MemorySnapshot): void {
    if (!(snapshot instanceof TreeSnapshot))
      throw backendError("INVALID_ARGUMENT", "/", "not a snapshot of a memory backend");
    snapshot.restoreTo(this.#tree);
  }

  #find(path: string, follow: boolean): TreePlace<MemoryEntry> {
    return placeOf(this.#tree.root, path, follow);
  }

  #existing(path: string, follow: boolean): FoundTreePlace<MemoryEntry> {
    return foundPlace(this.#tree.root, path, follow);
  }

  /** Writes a file. `shared` says that the caller may change the bytes afterwards. */
  #write(path: string, content: Uint8Array, options: WriteOptions, shared: boolean): WriteResult {
    checkSignal(options.signal, path);
    const wanted = normalise(checkedPath(path));
    if (options.ifAbsent === true && placeAt(this.#tree.root, wanted.path, false).node !== undefined)
      throw backendError("ALREADY_EXISTS", path);
    const place = placeAt(this.#tree.root, wanted.path, true);
    if (wanted.directory && !isDirNode(place.node))
      throw backendError("NOT_DIRECTORY", path, "a file's path cannot end in a slash");
    checkWrite(place, options, path);
    checkNameable(place, path);
    if (place.beyond.at(-1) === "") throw backendError("NOT_FOUND", path, "the directory does not exist");
    const entry = this.#tree.begin().write(place.path, content, options.mode, shared);
    return toWriteResult(entry, entry);
  }

  #made(path: string): WriteResult {
    const { entry } = placeAt(this.#tree.root, path, false);
    return toWriteResult(entry, entry);
  }
}

checkCalls(MemoryBackend.prototype, standardChecks("MemoryBackend"));

function statOf(path: string, entry: MemoryEntry): FsStat {
  return toFsStat(normalise(path).path, entry, entry);
}

/** Checks that the missing names of a path can be made: `..` and a last `.` in the target of a link need a directory. */
function checkNameable({ beyond }: TreePlace<MemoryEntry>, path: string): void {
  if (beyond.includes("..") || beyond.at(-1) === ".") throw backendError("NOT_FOUND", path);
}

function checkEmpty({ node }: TreePlace<MemoryEntry>, path: string): void {
  if (isDirNode(node) && node.children.size > 0) throw backendError("NOT_EMPTY", path);
}

/** Returns the numbers of entries and bytes in a tree, its root included. */
function countTree(node: MemoryNode): TreeCounts {
  const counts = { files: 0, directories: 0, bytes: 0 };
  for (const { entry } of nodesOf(node)) {
    if (entry.type === "dir") counts.directories++;
    else counts.files++;
    counts.bytes += entry.size;
  }
  return counts;
}
