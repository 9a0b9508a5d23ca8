/**
 * The synchronous operations of a memory backend on its tree. They behave as POSIX defines, on every platform.
 * `memory.ts` adds promises, text and globs.
 */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, LINK_MODE, PERMISSION_BITS } from "../entry.ts";
import { equalBytes } from "../../engine/wire/bytes.ts";
import type {
  ByteRange,
  FsEntry,
  FsStat,
  MoveOptions,
  TreeCounts,
  WriteOptions,
  WriteResult,
} from "../backend.ts";
import { checkRange, checkWritable, backendError } from "../failure.ts";
import {
  countTree,
  toFsEntry,
  toFsStat,
  mergeCopyOfTree,
  versionOfNode,
  toWriteResult,
} from "./memory-facts.ts";
import {
  nodesBelow,
  type DirNode,
  type FileNode,
  type CopyAttributes,
  parentDirectory,
  linkEntry,
  newDir,
  newNodeId,
  type MemoryNode,
  KnownDirectories,
  namesOf,
  namesYielding,
  realPath,
  touchNode,
  unlinkEntry,
  type WalkResult,
} from "./memory-tree.ts";
import type { Yielder } from "../../engine/yielder.ts";
import { checkPath, checkTarget, normalise, type NormalPath } from "../paths.ts";

/** The number of entries from which a directory is listed in parts, so that the event loop can run. */
const MIN_LARGE_DIRECTORY_ENTRIES = 1024;

/** A tree in memory and the operations on it. */
export class MemoryStore {
  #root: DirNode;
  /**
   * A number that grows when an entry is added, removed or moved, or when the content of a file with a watched
   * name changes.
   */
  shape = 0;
  readonly #watched = new Set<string>();
  readonly #directories = new KnownDirectories();
  readonly #now: () => number;
  #versions = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#root = newDir(now(), DEFAULT_DIR_MODE);
  }

  get root(): DirNode {
    return this.#root;
  }

  set root(root: DirNode) {
    this.#root = root;
    this.shape++;
    this.#directories.clear();
  }

  /** Adds file names whose content counts as part of {@link MemoryStore.shape}. */
  watch(names: readonly string[]): void {
    for (const name of names) {
      if (this.#watched.has(name)) continue;
      this.#watched.add(name);
      // The previous shape did not include the content of these files.
      this.shape++;
    }
  }

  #link(dir: DirNode, name: string, node: MemoryNode, now: number): void {
    this.shape++;
    if (dir.children.get(name)?.type === "dir") this.#directories.clear();
    linkEntry(dir, name, node, now);
  }

  #unlink(dir: DirNode, name: string, now: number): void {
    this.shape++;
    if (dir.children.get(name)?.type === "dir") this.#directories.clear();
    unlinkEntry(dir, name, now);
  }

  /** Returns the time and the versions that copies get. */
  fresh(): CopyAttributes {
    return { now: this.#now(), version: () => ++this.#versions };
  }

  exists(path: string): boolean {
    try {
      return this.#find(path, true).node !== undefined;
    } catch {
      return false;
    }
  }

  stat(path: string): FsStat {
    const at = normalisedPath(path).path;
    return toFsStat(at, this.#existing(path, true).node);
  }

  lstat(path: string): FsStat {
    const at = normalisedPath(path).path;
    return toFsStat(at, this.#existing(path, false).node);
  }

  /** Returns a number that no other state of the directory ever had; undefined when it does not exist. */
  stamp(path: string): number | undefined {
    try {
      const { node } = this.#find(path, true);
      return node?.type === "dir" ? node.stamp : undefined;
    } catch {
      return undefined;
    }
  }

  /** Returns a file with its own bytes, which the caller must not change. */
  file(path: string): FileNode {
    const { node } = this.#existing(path, true);
    if (node.type !== "file") throw backendError("IS_DIRECTORY", path);
    return node;
  }

  /** Returns a copy of the bytes, or of a range of them clipped to the file. */
  bytes(path: string, range?: ByteRange): Uint8Array {
    const { bytes } = this.file(path);
    if (range === undefined) return new Uint8Array(bytes);
    checkRange(range, path);
    return bytes.slice(range.start, range.end);
  }

  readLink(path: string): string {
    const { node } = this.#existing(path, false);
    if (node.type !== "symlink") throw backendError("INVALID_ARGUMENT", path, "not a symbolic link");
    return node.target;
  }

  realpath(path: string): string {
    const found = this.#find(path, true);
    // A link's `..` or last `.` requires a directory, which does not exist. A last `/` is kept: the
    // directory may still be created.
    if (found.beyond.includes("..") || found.beyond.at(-1) === ".") throw backendError("NOT_FOUND", path);
    return realPath(found);
  }

  write(path: string, content: Uint8Array, options: WriteOptions): FileNode {
    const wanted = normalisedPath(path);
    if (
      options.ifAbsent === true &&
      this.#directories.walk(this.#root, wanted.path, false).node !== undefined
    ) {
      throw backendError("ALREADY_EXISTS", path);
    }
    const found = this.#directories.walk(this.#root, wanted.path, true);
    const { node } = found;
    if (node?.type === "dir") throw backendError("IS_DIRECTORY", path);
    if (wanted.directory) throw backendError("NOT_DIRECTORY", path, "a file's path cannot end in a slash");
    if (
      options.ifVersion !== undefined &&
      (node === undefined || versionOfNode(node) !== options.ifVersion)
    ) {
      throw backendError("CONFLICT", path);
    }
    checkWritable(node, path);
    const now = this.#now();
    if (node === undefined) {
      if (found.beyond.at(-1) === "") throw backendError("NOT_FOUND", path, "the directory does not exist");
      const dir = options.createDirs === true ? this.#makeDirs(found, path) : this.#present(found, path);
      const mode = (options.mode ?? DEFAULT_FILE_MODE) & PERMISSION_BITS;
      const made: FileNode = {
        type: "file",
        bytes: new Uint8Array(content),
        version: ++this.#versions,
        mode,
        mtime: now,
        ctime: now,
        birthtime: now,
        id: newNodeId(),
      };
      this.#link(dir, lastNameOf(found), made, now);
      return made;
    }
    const file = node as FileNode;
    // Equal content keeps its version: a rewrite without a change is no conflict.
    if (!equalBytes(file.bytes, content)) {
      file.bytes = new Uint8Array(content);
      file.version = ++this.#versions;
      if (this.#watched.has(found.name)) {
        this.shape++;
        touchNode(parentDirectory(found));
      }
    }
    if (options.mode !== undefined) file.mode = options.mode & PERMISSION_BITS;
    file.mtime = now;
    file.ctime = now;
    file.id = newNodeId();
    return file;
  }

  delete(path: string, ifVersion?: string): void {
    const found = this.#existing(path, false);
    this.#checkVersion(found.node, ifVersion, path);
    if (found.name === "") throw backendError("PROTECTED_PATH", path, "the root cannot be deleted");
    if (found.node.type === "dir" && found.node.children.size > 0) throw backendError("NOT_EMPTY", path);
    this.#unlink(parentDirectory(found), found.name, this.#now());
  }

  mkdir(path: string, parents: boolean, existOk: boolean): void {
    const { path: at } = normalisedPath(path);
    const found = this.#directories.walk(this.#root, at, false);
    if (found.node !== undefined) {
      if (existOk && this.#isDirectory(at)) return;
      throw backendError("ALREADY_EXISTS", path);
    }
    const now = this.#now();
    const dir = parents ? this.#makeDirs(found, path) : this.#present(found, path);
    this.#link(dir, lastNameOf(found), newDir(now, DEFAULT_DIR_MODE), now);
  }

  list(path: string): readonly FsEntry[] {
    const { node } = this.#existing(path, true);
    if (node.type !== "dir") throw backendError("NOT_DIRECTORY", path);
    const at = normalisedPath(path).path;
    return Object.freeze(
      namesOf(node).map((name) => toFsEntry(at, name, node.children.get(name) as MemoryNode)),
    );
  }

  /** Lists a directory like {@link list}, but yields to the event loop during a large one. @throws CANCELLED */
  async listYielding(path: string, yielder: Yielder): Promise<readonly FsEntry[]> {
    const { node } = this.#existing(path, true);
    if (node.type !== "dir" || node.children.size < MIN_LARGE_DIRECTORY_ENTRIES) return this.list(path);
    const at = normalisedPath(path).path;
    // The directory as it is now: later changes of names are not seen.
    const children = new Map(node.children);
    const names = await namesYielding(node, yielder);
    const entries: FsEntry[] = [];
    for (const name of names)
      if (
        entries.push(toFsEntry(at, name, children.get(name) as MemoryNode)) % MIN_LARGE_DIRECTORY_ENTRIES ===
        0
      )
        await yielder.yieldIfDue();
    return Object.freeze(entries);
  }

  *files(path: string): Generator<string> {
    const { node } = this.#existing(path, true);
    if (node.type !== "dir") throw backendError("NOT_DIRECTORY", path);
    for (const [at, child] of nodesBelow(node, normalisedPath(path).path, false))
      if (child.type === "file") yield at;
  }

  symlink(target: string, path: string): void {
    checkTarget(target, path);
    const found = this.#find(path, false);
    if (found.node !== undefined) throw backendError("ALREADY_EXISTS", path);
    const now = this.#now();
    this.#link(
      this.#present(found, path),
      found.name,
      {
        type: "symlink",
        target,
        mode: LINK_MODE,
        mtime: now,
        ctime: now,
        birthtime: now,
        id: newNodeId(),
      },
      now,
    );
  }

  chmod(path: string, mode: number): void {
    const { node } = this.#existing(path, true);
    node.mode = mode & PERMISSION_BITS;
    node.ctime = this.#now();
  }

  rename(from: string, to: string, overwrite: boolean, conditions: MoveOptions = {}): MemoryNode {
    const source = this.#existing(from, false);
    this.#checkVersion(source.node, conditions.ifVersion, from);
    if (source.name === "") throw backendError("PROTECTED_PATH", from, "the root cannot be moved");
    const target = this.#find(to, false);
    this.#checkVersion(target.node, conditions.ifTargetVersion, to);
    const dir = target.node === undefined ? this.#present(target, to) : parentDirectory(target);
    if (target.node !== undefined && !overwrite) throw backendError("ALREADY_EXISTS", to);
    if (target.node === source.node) throw backendError("SAME_FILE", to);
    if (target.dirs.includes(source.node as DirNode)) {
      throw backendError("INVALID_ARGUMENT", to, "a directory cannot be moved into itself");
    }
    this.#checkReplace(source.node, target.node, to);
    const now = this.#now();
    this.#unlink(parentDirectory(source), source.name, now);
    this.#link(dir, target.name, source.node, now);
    source.node.ctime = now;
    return source.node;
  }

  copyFile(from: string, to: string, overwrite: boolean, ifVersion?: string): FileNode {
    const source = this.file(from);
    this.#checkVersion(source, ifVersion, from);
    const target = this.#directories.walk(this.#root, normalisedPath(to).path, false);
    if (target.node !== undefined && !overwrite) throw backendError("ALREADY_EXISTS", to);
    if (this.#find(to, true).node === source) throw backendError("SAME_FILE", to);
    return this.write(to, source.bytes, { mode: source.mode });
  }

  removeTree(path: string): TreeCounts {
    const { node, name, ...rest } = this.#existing(path, false);
    if (name === "") throw backendError("PROTECTED_PATH", path, "the root cannot be deleted");
    this.#unlink(rest.dirs[rest.dirs.length - 1] as DirNode, name, this.#now());
    return countTree(node);
  }

  copyTree(
    from: string,
    to: string,
    overwrite: boolean,
    onMade?: (path: string, made: WriteResult) => void,
  ): TreeCounts {
    const source = this.#existing(from, false).node;
    if (source.type === "file") {
      const made = toWriteResult(this.copyFile(from, to, overwrite));
      onMade?.(to, made);
      return countTree(source);
    }
    const target = this.#find(to, false);
    const dir = target.node === undefined ? this.#present(target, to) : parentDirectory(target);
    if (target.node === source) throw backendError("SAME_FILE", to);
    if (target.node !== undefined && !overwrite) throw backendError("ALREADY_EXISTS", to);
    if (target.dirs.includes(source as DirNode)) {
      throw backendError("INVALID_ARGUMENT", to, "a directory cannot be copied into itself");
    }
    const fresh = this.fresh();
    // The copy is built separately and added to the tree last, so that a failure half-way leaves nothing
    // behind.
    this.#link(dir, target.name, mergeCopyOfTree(target.node, source, fresh, to), fresh.now);
    if (onMade !== undefined && source.type === "dir") {
      for (const [path] of nodesBelow(source, to)) {
        const { node } = this.#find(path, false);
        if (node?.type === "file") onMade(path, toWriteResult(node));
      }
    }
    return countTree(source);
  }

  /** @throws CONFLICT when a version is expected and the node has another one */
  #checkVersion(node: MemoryNode | undefined, wanted: string | undefined, path: string): void {
    if (wanted !== undefined && (node === undefined || versionOfNode(node) !== wanted))
      throw backendError("CONFLICT", path);
  }

  #find(path: string, follow: boolean): WalkResult {
    const { path: at, directory } = normalisedPath(path);
    const found = this.#directories.walk(this.#root, at, follow || directory);
    if (directory && found.node !== undefined && found.node.type !== "dir") {
      throw backendError("NOT_DIRECTORY", path);
    }
    return found;
  }

  #existing(path: string, follow: boolean): WalkResult & { readonly node: MemoryNode } {
    const found = this.#find(path, follow);
    if (found.node === undefined) throw backendError("NOT_FOUND", path);
    return found as WalkResult & { readonly node: MemoryNode };
  }

  #isDirectory(at: string): boolean {
    try {
      return this.#directories.walk(this.#root, at, true).node?.type === "dir";
    } catch {
      return false; // A dangling link, or a loop.
    }
  }

  /** Returns the directory of a new name. @throws NOT_FOUND when it does not exist */
  #present(found: WalkResult, path: string): DirNode {
    if (found.beyond.length > 0) {
      throw backendError("NOT_FOUND", path, "the parent directory does not exist");
    }
    return parentDirectory(found);
  }

  /**
   * Creates the missing directories above a new name and returns the innermost. If a link in the path leads to a
   * missing directory, that directory is created too.
   */
  #makeDirs(found: WalkResult, path: string): DirNode {
    if (found.beyond.includes("..") || found.beyond.at(-1) === ".") throw backendError("NOT_FOUND", path);
    const names = [found.name, ...found.beyond].filter((name) => name !== "." && name !== "").slice(0, -1);
    const now = this.#now();
    let dir = parentDirectory(found);
    for (const name of names) {
      const made = newDir(now, DEFAULT_DIR_MODE);
      this.#link(dir, name, made, now);
      dir = made;
    }
    return dir;
  }

  #checkReplace(source: MemoryNode, target: MemoryNode | undefined, path: string): void {
    if (target === undefined) return;
    if (source.type === "dir" && target.type !== "dir") throw backendError("NOT_DIRECTORY", path);
    if (source.type !== "dir" && target.type === "dir") throw backendError("IS_DIRECTORY", path);
    if (target.type === "dir" && target.children.size > 0) throw backendError("NOT_EMPTY", path);
    checkWritable(target, path);
  }
}

/** Checks and normalises a path. @throws INVALID_ARGUMENT for a relative one too */
function normalisedPath(path: string): NormalPath {
  checkPath(path);
  if (!path.startsWith("/")) throw backendError("INVALID_ARGUMENT", path, "path must be absolute");
  return normalise(path);
}

function lastNameOf(found: WalkResult): string {
  return found.beyond.at(-1) ?? found.name;
}
