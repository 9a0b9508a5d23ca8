/**
 * The changes of files in memory: what writing, removing and moving mean is decided here, for the backend in memory, for
 * the commits of storages, for overlays and for the stage of a call. Paths are real; nothing follows a link.
 */
import { DEFAULT_DIR_MODE, DEFAULT_FILE_MODE, PERMISSION_BITS } from "../entry.ts";
import { backendError } from "../failure.ts";
import { childOf } from "../paths.ts";
import { TreeEdit } from "./edit.ts";
import { type DirNode, isDirNode, isFileNode, type NodeEntry, type TreeNode } from "./nodes.ts";

/** The content of a file to write, and its permission bits; by default those of the file that it replaces. */
export interface PutContent {
  /** The bytes; undefined where the tree does not have them. */
  readonly body?: Uint8Array | undefined;
  readonly mode?: number | undefined;
}

/** The facts of an entry that a change makes or replaces. */
export type MadeFacts<C> =
  | { readonly type: "file"; readonly mode: number; readonly content: C }
  | { readonly type: "dir"; readonly mode: number }
  | { readonly type: "symlink"; readonly target: string };

/** A tree and the changes of it. The subclass dates and numbers the entries. */
export abstract class TreeDraft<E extends NodeEntry, C extends PutContent> extends TreeEdit<E> {
  /** The bits of a mode that the tree keeps. */
  protected readonly bits: number = PERMISSION_BITS;

  /** Returns the entry of what a change makes in place of `there`. */
  protected abstract made(path: string, facts: MadeFacts<C>, there: TreeNode<E> | undefined): E;

  /** Returns an entry with other permission bits. */
  protected abstract withMode(entry: E, mode: number): E;

  /** Returns the entry of something that is moved to another path; `isTop` for that which a move names. */
  protected abstract moved(entry: E, path: string, isTop: boolean): E;

  /** Called with each path at which the draft makes, changes or removes something. */
  protected changed(_path: string): void {}

  /** Called with each tree that is removed or moved away, and with the new one. */
  protected changedBelow(_tree: TreeNode<E>): void {}

  /** Creates or replaces a file; also replaces a link. @throws IS_DIRECTORY, NOT_DIRECTORY */
  put(path: string, content: C): void {
    this.putOver(path, this.at(path), content);
  }

  /** Does the same where the caller has looked at what is there, and returns the entry. */
  protected putOver(path: string, there: TreeNode<E> | undefined, content: C): E {
    if (isDirNode(there)) throw backendError("IS_DIRECTORY", path);
    const kept = there?.entry.type === "file" ? there.entry.mode : undefined;
    const mode = (content.mode ?? kept ?? DEFAULT_FILE_MODE) & this.bits;
    const entry = this.made(path, { type: "file", mode, content }, there);
    const { body } = content;
    if (body === undefined) this.set(path, { entry });
    else if (!isFileNode(there) || !this.rewrite(there, entry, body))
      this.set(path, this.newFile(entry, body));
    this.changed(path);
    return entry;
  }

  /** Makes a directory where there is none. @throws ALREADY_EXISTS for anything else there, NOT_DIRECTORY */
  mkdir(path: string, mode: number = DEFAULT_DIR_MODE): void {
    const there = this.at(path);
    if (isDirNode(there)) return;
    if (there !== undefined) throw backendError("ALREADY_EXISTS", path);
    this.set(path, this.newDirectory(this.#madeDirectory(path, mode)));
    this.changed(path);
  }

  /** Makes a link. @throws ALREADY_EXISTS, NOT_DIRECTORY */
  symlink(path: string, target: string): void {
    if (this.at(path) !== undefined) throw backendError("ALREADY_EXISTS", path);
    this.set(path, { entry: this.made(path, { type: "symlink", target }, undefined) });
    this.changed(path);
  }

  /** Sets the permission bits of a file or directory. @throws NOT_FOUND, INVALID_ARGUMENT */
  chmod(path: string, mode: number): void {
    const there = this.existing(path);
    if (there.entry.type === "symlink") throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
    const entry = this.withMode(there.entry, mode & this.bits);
    if (isDirNode(there)) this.setDirectoryEntry(path, entry);
    else if (!isFileNode(there)) this.set(path, { entry });
    else if (!this.rewrite(there, entry, there.bytes)) this.set(path, this.newFile(entry, there.bytes));
    this.changed(path);
  }

  /** Removes an entry, a directory with its content only with `tree`. @throws NOT_FOUND, NOT_EMPTY */
  remove(path: string, tree = false): void {
    const there = this.existing(path);
    if (!tree && isDirNode(there) && there.children.size > 0) throw backendError("NOT_EMPTY", path);
    this.#take(path, there);
  }

  /** Moves a file, a link or a tree. @throws NOT_FOUND, ALREADY_EXISTS, NOT_DIRECTORY */
  move(from: string, to: string): void {
    const there = this.existing(from);
    if (this.at(to) !== undefined) throw backendError("ALREADY_EXISTS", to);
    this.#take(from, there);
    const moved = this.transplanted(there, to, (entry, path) =>
      this.moved(entry, path, entry === there.entry),
    );
    this.set(to, moved);
    this.changed(to);
    this.changedBelow(moved);
  }

  /** Returns what stands at a path. @throws NOT_FOUND */
  protected existing(path: string): TreeNode<E> {
    const node = this.at(path);
    if (node === undefined) throw backendError("NOT_FOUND", path);
    return node;
  }

  protected override madeOnTheWay(path: string, there: TreeNode<E> | undefined): E {
    if (there !== undefined) throw backendError("NOT_DIRECTORY", path);
    this.changed(path);
    return this.#madeDirectory(path, DEFAULT_DIR_MODE);
  }

  #madeDirectory(path: string, mode: number): E {
    return this.made(path, { type: "dir", mode: mode & this.bits }, undefined);
  }

  #take(path: string, node: TreeNode<E>): void {
    this.delete(path);
    this.changed(path);
    this.changedBelow(node);
  }

  /** Returns the nodes of a tree for another path, with new entries. */
  protected transplanted(node: TreeNode<E>, to: string, entryAt: (entry: E, path: string) => E): TreeNode<E> {
    const levels: [from: DirNode<E>, to: Map<string, TreeNode<E>>, path: string][] = [];
    const move = (one: TreeNode<E>, path: string): TreeNode<E> => {
      const entry = entryAt(one.entry, path);
      if (isFileNode(one)) return this.newFile(entry, one.bytes);
      if (!isDirNode(one)) return { entry };
      const directory = this.newDirectory(entry);
      levels.push([one, directory.children, path]);
      return directory;
    };
    const top = move(node, to);
    for (let level = levels.pop(); level !== undefined; level = levels.pop()) {
      const [from, children, path] = level;
      for (const [name, child] of from.children) children.set(name, move(child, childOf(path, name)));
    }
    return top;
  }
}
