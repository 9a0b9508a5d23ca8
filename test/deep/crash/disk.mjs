// A model of the states in which a power cut can leave a disk, after ALICE (Pillai et al., All File Systems Are Not
// Created Equal, OSDI 2014) and CrashMonkey (Mohan et al., Finding Crash-Consistency Bugs with Bounded Black-Box Crash
// Testing, OSDI 2018).
//
// Content: each write is cut at blocks of 4 KiB. Until its file is flushed each block reaches the disk, does not, or
// only lengthens the file, which then reads as zeros there.
// Names: each change of a name belongs to a sequence, of which a prefix reaches the disk. A rename is one change, also
// between two directories. Two rules are known:
//   `journal`  one sequence for the whole file system; a flush of any file or directory writes it. So do ext4 with
//              an ordered journal and XFS. Both also write what the flushed file itself holds.
//   `posix`    one sequence for each directory; only a flush of that directory writes it. This is all that
//              POSIX promises: a flush of a file does not write the name of the file.
// The model has no reordering inside a sequence, no torn block and no lost flush.
import { basename, dirname } from "node:path";

const BLOCK_BYTES = 4096;

/**
 * A file, directory or link; the same object for all its names.
 * @typedef {{ type: "file" | "directory" | "link", mode: number, content: Buffer, target: string,
 *   names: Map<string, Inode>, writes: Write[], modeChanges: number[], ino: string | undefined,
 *   seen: { at: number, mtime: string, ctime: string }[] }} Inode
 * One change of a content: bytes at an offset, or a new size.
 * @typedef {{ at: number, offset: number, data: Buffer } | { at: number, size: number }} Write
 * One change of names that reaches the disk as a whole. `touched` are the entries whose ctime it changes.
 * @typedef {{ at: number, names: { directory: Inode, name: string, inode: Inode | undefined }[],
 *   touched: Inode[] }} NameChange
 */

/** @returns {Inode} */
const makeInode = (type, mode, target = "") => ({
  type,
  mode,
  target,
  content: Buffer.alloc(0),
  names: new Map(),
  writes: [],
  modeChanges: [],
  ino: undefined,
  seen: [],
});

/** Returns the content after one write. */
function written(content, write) {
  if ("size" in write)
    return write.size <= content.length
      ? content.subarray(0, write.size)
      : Buffer.concat([content, Buffer.alloc(write.size - content.length)]);
  const end = write.offset + write.data.length;
  const next = Buffer.alloc(Math.max(end, content.length));
  content.copy(next);
  write.data.copy(next, write.offset);
  return next;
}

/** Cuts a write at the blocks of the disk. */
function blocksOf({ at, offset, data }) {
  const blocks = [];
  for (let start = 0; start < data.length; ) {
    const end = Math.min(data.length, start + BLOCK_BYTES - ((offset + start) % BLOCK_BYTES));
    blocks.push({ at, offset: offset + start, data: data.subarray(start, end) });
    start = end;
  }
  return blocks;
}

/** The disk as a program sees it while it runs, with all that is needed to find the states that a power cut leaves. */
export class Disk {
  /** @param {string} base the directory that stands for the whole disk */
  constructor(base) {
    this.base = base;
    this.root = makeInode("directory", 0o700);
    /** @type {NameChange[]} */
    this.changes = [];
    /** @type {{ at: number, covers: number, inode: Inode, everything: boolean }[]} */
    this.flushes = [];
    this.clock = 0;
    /** The tree before the first operation. */
    this.initial = undefined;
  }

  /** Ends the initial state: all of it is on the disk. */
  settle() {
    this.initial = copyOfTree(this.root);
    this.changes = [];
    this.clock = 0;
    for (const inode of this.inodes()) {
      inode.writes = [];
      inode.modeChanges = [];
    }
  }

  /** Returns every file and directory that has a name now. */
  inodes(top = this.root, found = new Set()) {
    found.add(top);
    for (const inode of top.names.values()) this.inodes(inode, found);
    return found;
  }

  /** Returns the entry at a path; undefined when there is none. */
  find(path) {
    let inode = this.root;
    for (const name of path.slice(this.base.length).split("/").filter(Boolean))
      inode = inode?.names.get(name);
    return inode;
  }

  #name(path, inode) {
    return { directory: this.find(dirname(path)), name: basename(path), inode };
  }

  #rename(names) {
    const touched = names
      .flatMap(({ directory, name, inode }) => [inode, directory.names.get(name)])
      .filter(Boolean);
    for (const { directory, name, inode } of names) {
      if (inode === undefined) directory.names.delete(name);
      else directory.names.set(name, inode);
    }
    this.changes.push({ at: this.clock, names, touched });
  }

  #write(inode, write) {
    inode.content = written(inode.content, write);
    inode.writes.push(...("size" in write ? [write] : blocksOf(write)));
  }

  /**
   * Makes one operation.
   * @param {import("./trace.mjs").Operation} operation
   */
  apply(operation) {
    this.clock++;
    this[operation.kind]?.(operation);
  }

  create({ path, truncate, mode }) {
    const found = this.find(path);
    if (found === undefined) this.#rename([this.#name(path, makeInode("file", mode))]);
    else if (truncate && found.content.length > 0) this.#write(found, { at: this.clock, size: 0 });
  }

  /** Writes to the file that has this name now; a file without a name cannot be seen again. */
  write({ path, data, offset }) {
    const inode = this.find(path);
    if (inode !== undefined)
      this.#write(inode, { at: this.clock, offset: offset ?? inode.content.length, data });
  }

  copy({ path, from, length }) {
    const [inode, source] = [this.find(path), this.find(from)];
    if (inode === undefined || source === undefined) return;
    const offset = inode.content.length;
    this.#write(inode, { at: this.clock, offset, data: source.content.subarray(offset, offset + length) });
  }

  truncate({ path, size }) {
    const inode = this.find(path);
    if (inode !== undefined) this.#write(inode, { at: this.clock, size });
  }

  rename({ from, path, exchange }) {
    const [moved, over] = [this.find(from), this.find(path)];
    this.#rename([this.#name(from, exchange ? over : undefined), this.#name(path, moved)]);
  }

  link({ from, path }) {
    this.#rename([this.#name(path, this.find(from))]);
  }

  symlink({ target, path }) {
    this.#rename([this.#name(path, makeInode("link", 0o777, target))]);
  }

  unlink({ path }) {
    this.#rename([this.#name(path, undefined)]);
  }

  rmdir(operation) {
    this.unlink(operation);
  }

  mkdir({ path, mode }) {
    this.#rename([this.#name(path, makeInode("directory", mode))]);
  }

  chmod({ path, mode }) {
    const inode = this.find(path);
    if (inode === undefined) return;
    inode.mode = mode;
    inode.modeChanges.push(this.clock);
  }

  flush({ path, covers, everything }) {
    const inode = this.find(path);
    if (inode !== undefined) this.flushes.push({ at: this.clock, covers, inode, everything });
  }

  /** Notes the number and the times that the file system gave to an entry. */
  identify({ path, ino, mtime, ctime }) {
    const inode = this.find(path);
    if (inode === undefined) return;
    inode.ino = ino;
    // A call that asks for the number or the mount alone tells no times.
    if (mtime !== "" && ctime !== "") inode.seen.push({ at: this.clock, mtime, ctime });
  }

  /** Returns the files now, as `{ path: content }`, with `directory` for a directory. */
  tree() {
    return treeOf(this.root);
  }

  /**
   * Returns one state in which a power cut after the first `point` operations can leave the disk.
   * @param {number} point
   * @param {"journal" | "posix"} rule
   * @param {(count: number) => number} choose gives a number from 0 to `count - 1`
   */
  stateAfter(point, rule, choose) {
    const flushes = this.flushes.filter(({ at }) => at <= point);
    const kept = keptChanges(
      this.changes.filter(({ at }) => at <= point),
      { flushes, rule, choose },
    );
    const { root, copies } = this.initial;
    const shown = new ShownEntries(point);
    const initial = new Map();
    for (const [inode, { names, content }] of copies) {
      initial.set(inode, content);
      for (const [name, child] of names) shown.of(inode).names.set(name, shown.of(child));
    }
    for (const change of kept) shown.apply(change);
    for (const [inode, copy] of shown.all) {
      const content = initial.get(inode) ?? Buffer.alloc(0);
      copy.content = contentAfter(content, inode, { flushes, point, choose });
      for (const { at } of inode.writes) if (at <= point) copy.contentChanges.push(at);
    }
    return shown.of(root);
  }
}

/** The entries of a state. Each is copied once, so that two names of one file stay one file. */
class ShownEntries {
  all = new Map();
  #point;

  constructor(point) {
    this.#point = point;
  }

  of(inode) {
    if (!this.all.has(inode)) this.all.set(inode, shownEntry(inode, this.#point));
    return this.all.get(inode);
  }

  /** Makes a change of names that the disk has kept. */
  apply({ at, names, touched }) {
    for (const inode of touched) this.of(inode).entryChanges.push(at);
    for (const { directory, name, inode } of names) {
      const shown = this.of(directory);
      shown.contentChanges.push(at);
      if (inode === undefined) shown.names.delete(name);
      else shown.names.set(name, this.of(inode));
    }
  }
}

/** Returns an entry of a state, without names and content. */
const shownEntry = (inode, point) => ({
  ...inode,
  names: new Map(),
  content: Buffer.alloc(0),
  source: inode,
  contentChanges: [],
  entryChanges: inode.modeChanges.filter((at) => at <= point),
});

/** Copies the names and contents of a tree, by the entries that have them. */
function copyOfTree(root) {
  const copies = new Map();
  const visit = (inode) => {
    copies.set(inode, { names: new Map(inode.names), content: inode.content });
    for (const child of inode.names.values()) visit(child);
  };
  visit(root);
  return { root, copies };
}

/** Returns the content of a file on the disk: what was flushed, and any of the blocks that were not. */
function contentAfter(content, inode, { flushes, point, choose }) {
  const covers = Math.max(
    0,
    ...flushes.filter((flush) => flush.everything || flush.inode === inode).map((flush) => flush.covers),
  );
  let result = content;
  for (const write of inode.writes.filter(({ at }) => at <= point)) {
    const fate = write.at <= covers ? 0 : choose("size" in write ? 2 : 3);
    if (fate === 0) result = written(result, write);
    // The length is on the disk, and the block is not.
    if (fate === 2)
      result = written(result, { size: Math.max(result.length, write.offset + write.data.length) });
  }
  return result;
}

/** Returns the changes of names that are on the disk, in their order. */
function keptChanges(changes, { flushes, rule, choose }) {
  const all = {};
  const sequencesOf = ({ names }) => (rule === "journal" ? [all] : names.map(({ directory }) => directory));
  const floors = new Map();
  for (const { inode, covers, everything } of flushes) {
    const flushed = rule === "journal" ? [all] : everything ? changes.flatMap(sequencesOf) : [inode];
    for (const sequence of flushed) floors.set(sequence, Math.max(floors.get(sequence) ?? 0, covers));
  }
  // A rename that one of its directories must have is on the disk in both, with all before it in each.
  raiseWhile(changes, floors, sequencesOf);
  const limits = new Map();
  for (const sequence of new Set(changes.flatMap(sequencesOf))) {
    const floor = floors.get(sequence) ?? 0;
    const later = changes.filter((change) => change.at > floor && sequencesOf(change).includes(sequence));
    const count = choose(later.length + 1);
    limits.set(sequence, count === 0 ? floor : later[count - 1].at);
  }
  lowerWhile(changes, limits, sequencesOf);
  return changes.filter((change) =>
    sequencesOf(change).every((sequence) => change.at <= limits.get(sequence)),
  );
}

/** Raises the limits of sequences until each change is in all of its sequences or in none. */
function raiseWhile(changes, floors, sequencesOf) {
  for (let raised = true; raised; ) {
    raised = false;
    for (const change of changes) {
      const sequences = sequencesOf(change);
      if (!sequences.some((sequence) => change.at <= (floors.get(sequence) ?? 0))) continue;
      for (const sequence of sequences) {
        if (change.at <= (floors.get(sequence) ?? 0)) continue;
        floors.set(sequence, change.at);
        raised = true;
      }
    }
  }
}

/** Lowers the limits of sequences until each change is in all of its sequences or in none. */
function lowerWhile(changes, limits, sequencesOf) {
  for (let lowered = true; lowered; ) {
    lowered = false;
    for (const change of changes) {
      const sequences = sequencesOf(change);
      if (sequences.every((sequence) => change.at <= limits.get(sequence))) continue;
      for (const sequence of sequences) {
        if (change.at > limits.get(sequence)) continue;
        limits.set(sequence, change.at - 1);
        lowered = true;
      }
    }
  }
}

/**
 * Returns the entries of a tree by their paths: contents as Latin-1, `-> TARGET`, or `directory`.
 * @returns {Record<string, string>}
 */
export function treeOf(root) {
  const found = {};
  const visit = (inode, path) => {
    for (const [name, child] of [...inode.names].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const below = path === "" ? name : `${path}/${name}`;
      if (child.type === "directory") {
        found[`${below}/`] = "directory";
        visit(child, below);
      } else found[below] = child.type === "link" ? `-> ${child.target}` : child.content.toString("latin1");
    }
  };
  visit(root, "");
  return found;
}

/**
 * Yields the choices of every run of a program that asks `choose` for them, as an odometer counts: the last
 * choice turns first. The caller makes one run for each that is yielded.
 * @returns {Generator<(count: number) => number>}
 */
export function* everyChoice() {
  const wheels = [];
  for (;;) {
    let index = 0;
    yield (count) => {
      wheels[index] ??= { value: 0, count };
      wheels[index].count = count;
      return wheels[index++].value;
    };
    wheels.length = index;
    while (wheels.length > 0 && wheels.at(-1).value + 1 >= wheels.at(-1).count) wheels.pop();
    if (wheels.length === 0) return;
    wheels.at(-1).value++;
  }
}
