/**
 * A journal in files: one for each change, in a private directory of the state directory.
 *
 * `open/WRITER.CALL` is being written, or is complete and not yet moved, as is `open/WRITER.~NUMBER`, which the disk
 * writes together with the change; `done/GROUP/CALL` is history. Each record is chained to the one before by a MAC, so that a planted or altered file is
 * detected, and the part before the damage is known to be authentic. A truncated record means that
 * its writer died. A writer holds a lock: a record is unfinished when its lock is free.
 */
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { backendError } from "../backends/failure.ts";
import { forgetKeptFiles } from "../backends/local/file-keeper.node.ts";
import { readOrMakeKey } from "../backends/key-file.node.ts";
import { isOursAlone } from "../backends/ownership.node.ts";
import {
  decodeRecord,
  decodeRecordYielding,
  encodeRecord,
  hasBeginning,
  idOfOpenRecord,
  namesInFolder,
  namesOfWriter,
  namesToPrune,
  RECORD_MAC_BYTES,
  type RecordFile,
  type RecordKey,
  recordKeyOf,
  writerInRecordName,
} from "./record-file.node.ts";
import type { NativeRecordFiles } from "../engine/generated/binding.ts";
import { requireAddon } from "../engine/load.node.ts";
import { staysInHistory } from "../backends/transaction/step.ts";
import { noteSharedHistory } from "../backends/shared-history.node.ts";
import { closesWithoutError, journalWriteError, appendBuffers } from "./store-write.node.ts";
import {
  type JournalStore,
  MAX_BYTES_PER_GROUP,
  MAX_RECORDS_PER_GROUP,
  type OpenRecord,
  type RecordOnDisk,
  type RecordFiles,
  type StoredRecord,
} from "./store.ts";
import { lockNameOfWriter, type TryLock, WriterLock } from "./writer-lock.node.ts";

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
/** The number of changes after which old records are removed. */
const CHANGES_PER_PRUNE = 32;

/**
 * The milliseconds by which the time of a file can be before the moment at which it was written: the kernel takes it
 * from a clock that is read once in each tick.
 */
const CLOCK_TICK_MS = 20;

/** The maximum number of entries of a record that stays decoded, so that the memory for a history is bounded. */
const MAX_DECODED_ENTRIES = 64;

/** A decoded record of the history, and the state of its file before it was decoded. */
interface DecodedRecord {
  readonly file: string;
  readonly read: RecordFile;
}

/** A journal in files, in the directory `journal` of a state directory. */
export class FileJournal implements JournalStore, RecordFiles {
  readonly #stateDir: string;
  readonly #directory: string;
  readonly #tryLock: TryLock;
  readonly #folders = new Map<string, string>();
  readonly #lock: WriterLock;
  #key: RecordKey | undefined;
  /** The files of the records that the disk writes, while the lock is held. */
  #files: NativeRecordFiles | undefined;
  /** The number of workspaces that use the journal. */
  #users = 0;
  #closed = 0;
  /** Functions that move each complete record to the history. */
  readonly #ended: (() => void)[] = [];
  /** The sizes of the records of each group when it was last pruned. */
  readonly #sizes = new Map<string, ReadonlyMap<string, number>>();
  /** The decoded records of each group at its last listing: a review page lists a history after each change. */
  readonly #decoded = new Map<string, ReadonlyMap<string, DecodedRecord>>();

  /** `tryLock` must exclude other processes with the same state directory. */
  constructor(stateDir: string, tryLock: TryLock) {
    this.#stateDir = stateDir;
    this.#directory = join(stateDir, "journal");
    this.#tryLock = tryLock;
    this.#lock = new WriterLock(tryLock, () => {
      this.#settle();
      this.#files?.close();
      this.#files = undefined;
    });
  }

  /** Notes for each of several directories that they have one history: that of the first. */
  share(roots: readonly string[]): void {
    noteSharedHistory(this.#stateDir, { roots });
  }

  /** Counts a workspace. Returns the function that ends its use. After the last one, the lock is released. */
  use(): () => void {
    this.#users += 1;
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      this.#users -= 1;
      this.#releaseUnused();
    };
  }

  /** Releases the lock when no workspace uses the journal. A record that is still open keeps it: it is not unfinished. */
  #releaseUnused(): void {
    if (this.#users > 0 || this.#lock.isInUse) return;
    this.#settle();
    this.#lock.release();
  }

  begin(id: string): OpenRecord {
    return this.#asWriter((writer) => this.#beginAs(writer, id));
  }

  beginFile(id: string): RecordOnDisk {
    return this.#asWriter((writer) => {
      const files = this.#filesOf(writer);
      const number = files.begin();
      const path = this.#pathOf(writer, `~${number}`);
      return {
        place: { files, number },
        read: () => decodeRecord(path, this.#open(), id, true).entries,
        close: (group) => this.#endFile(files, number, { id, group }),
      };
    });
  }

  /** Returns the files of the records that the disk writes for a writer. */
  #filesOf(writer: string): NativeRecordFiles {
    if (this.#files !== undefined) return this.#files;
    const addon = requireAddon("a record that the disk writes");
    this.#files = new addon.NativeRecordFiles(`${this.#directory}/open`, writer, this.#open().bytes);
    return this.#files;
  }

  /** Ends a record that the disk wrote: it moves to the history of `group` later, or is removed when `group` is null. */
  #endFile(files: NativeRecordFiles, number: number, { id, group }: RecordEnd): void {
    files.end(number, group === null ? undefined : `${this.#groupFolder(group)}/${id}`);
    // The change was taken back, so that no process may find a record of it.
    if (group === null) files.settle();
    else if (this.#isPruneDue()) setImmediate(() => this.#prune(this.#groupFolder(group)));
    this.#endUse();
  }

  /** Begins a record as the writer whose lock is held while it is open. */
  #asWriter<T>(begin: (writer: string) => T): T {
    let writer: string | undefined;
    try {
      writer = this.#lock.begin();
      if (writer === undefined) throw backendError("LOCK_TIMEOUT", this.#directory, "the journal is locked");
      return begin(writer);
    } catch (error) {
      if (writer !== undefined) this.#lock.end();
      throw journalWriteError(this.#stateDir, error);
    }
  }

  /** Begins a record, while the lock of its writer is held. */
  #beginAs(writer: string, id: string): OpenRecord {
    const key = this.#open();
    const path = this.#pathOf(writer, id);
    const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    let previous: Buffer = Buffer.alloc(RECORD_MAC_BYTES);
    let held: readonly Uint8Array[] = [];
    return {
      append: (entry, durable) => {
        const { buffers, mac } = encodeRecord(entry, key, previous, id);
        previous = mac;
        const all = [...held, ...buffers];
        // A header alone has no effect: it is written with the first steps.
        held = entry.entry === "begin" ? all : [];
        if (held.length > 0) return undefined;
        const fails = (error: unknown): never => {
          throw journalWriteError(this.#stateDir, error);
        };
        try {
          return appendBuffers(fd, all, durable)?.catch(fails);
        } catch (error) {
          return fails(error);
        }
      },
      close: (group) => {
        // The disk reports only now that the record may be incomplete. The change stands, but can no
        // longer be undone.
        const whole = closesWithoutError(fd);
        this.#endRecord(path, id, whole ? group : null);
        if (!whole && group !== null)
          throw backendError("IO_ERROR", path, "the disk has not confirmed the record");
      },
    };
  }

  #pathOf(writer: string, id: string): string {
    return `${this.#directory}/open/${writer}.${id}`;
  }

  /** Ends a record whose file is closed: keeps it in the history of `group`, or removes it when `group` is null. */
  #endRecord(path: string, id: string, group: string | null): void {
    try {
      if (group === null) fs.rmSync(path, { force: true });
      else this.#endLater(path, id, group);
    } finally {
      this.#endUse();
    }
  }

  /** Counts a record as ended. */
  #endUse(): void {
    this.#lock.end();
    if (this.#users === 0 && !this.#lock.isInUse) setImmediate(() => this.#releaseUnused());
  }

  unfinished(): readonly StoredRecord[] {
    const folder = join(this.#directory, "open");
    const writers = new Set(namesInFolder(folder).map(writerInRecordName));
    const found: StoredRecord[] = [];
    for (const writer of writers) {
      if (writer === this.#lock.writer) continue;
      const lock = this.#tryLock(lockNameOfWriter(writer));
      if (lock === null) continue;
      const theirs = namesOfWriter(folder, writer, lock);
      let left = theirs.length;
      if (left === 0) {
        lock.release();
        continue;
      }
      const key = this.#open();
      const leave = (): void => {
        left -= 1;
        if (left === 0) lock.release();
      };
      for (const name of theirs) {
        const path = join(folder, name);
        const id = idOfOpenRecord(path);
        const { entries, end } = id === undefined ? unnamedRecord(path) : decodeRecord(path, key, id, true);
        const close = (group: string | null): void => {
          if (end === "damaged") this.#putAway(path, name);
          else this.#end(path, id ?? "", group);
          leave();
        };
        found.push({ entries, damaged: end === "damaged", close, leave });
      }
    }
    return found;
  }

  history(group: string): readonly StoredRecord[] {
    this.#settle();
    const found = new Map<string, RecordFile>();
    // Reads first those that may be moved during the listing.
    for (const name of namesInFolder(join(this.#directory, "open"))) {
      const path = join(this.#directory, "open", name);
      const id = idOfOpenRecord(path);
      if (id === undefined) continue;
      const read = completeRecordOf(decodeRecord(path, this.#open(), id, false), group);
      if (read !== null) found.set(id, read);
    }
    const folder = this.#groupFolder(group);
    const known = this.#decoded.get(folder);
    const decoded = new Map<string, DecodedRecord>();
    for (const id of namesInFolder(folder)) {
      if (found.has(id)) continue;
      const path = join(folder, id);
      const file = settledFileState(path);
      const last = known?.get(id);
      const isSame = last !== undefined && last.file === file;
      const read = isSame ? last.read : decodeRecord(path, this.#open(), id, false);
      found.set(id, read);
      if (file !== undefined && read.end === "whole" && read.entries.length <= MAX_DECODED_ENTRIES)
        decoded.set(id, { file, read });
    }
    this.#decoded.set(folder, decoded);
    return [...found].sort(([a], [b]) => (a < b ? 1 : -1)).map(([, read]) => toStoredRecord(read));
  }

  async find(group: string, id: string): Promise<StoredRecord | null> {
    this.#settle();
    for (const name of namesInFolder(join(this.#directory, "open"))) {
      const path = join(this.#directory, "open", name);
      if (idOfOpenRecord(path) !== id) continue;
      const read = completeRecordOf(await decodeRecordYielding(path, this.#open(), id, true), group);
      if (read !== null) return toStoredRecord(read);
    }
    const path = join(this.#groupFolder(group), id);
    if (!fs.existsSync(path)) return null;
    return toStoredRecord(await decodeRecordYielding(path, this.#open(), id, true));
  }

  #groupFolder(group: string): string {
    const known = this.#folders.get(group);
    if (known !== undefined) return known;
    const name = createHash("sha256").update(group).digest("hex").slice(0, 32);
    const folder = join(this.#directory, "done", name);
    this.#folders.set(group, folder);
    return folder;
  }

  /**
   * Moves a complete record to the history, but only after the call was answered. Until then it counts as history
   * where it is; if this process ends before, the next one moves it.
   */
  #endLater(path: string, id: string, group: string): void {
    if (this.#ended.length === 0) setImmediate(() => this.#settle());
    this.#ended.push(() => this.#end(path, id, group));
  }

  #settle(): void {
    this.#files?.settle();
    for (const end of this.#ended.splice(0)) {
      try {
        end();
      } catch {
        // The change was made and its record is complete: it stays where it is.
      }
    }
  }

  /** Moves a damaged record to the directory `damaged`, where a person can inspect it. Nothing reads it again. */
  #putAway(path: string, name: string): void {
    const folder = join(this.#directory, "damaged");
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.renameSync(path, join(folder, name));
  }

  #end(path: string, id: string, group: string | null): void {
    if (group === null) {
      fs.rmSync(path, { force: true });
      return;
    }
    const folder = this.#groupFolder(group);
    try {
      fs.renameSync(path, `${folder}/${id}`);
    } catch {
      // Creates only this directory: the whole state directory may have been removed.
      fs.mkdirSync(folder, { mode: 0o700 });
      fs.renameSync(path, `${folder}/${id}`);
    }
    if (this.#isPruneDue()) this.#prune(folder);
  }

  #isPruneDue(): boolean {
    return this.#closed++ % CHANGES_PER_PRUNE === 0;
  }

  /** Removes the oldest records of a group beyond the maximum number and the maximum size. */
  #prune(folder: string): void {
    let bytes = 0;
    const known = this.#sizes.get(folder);
    const sizes = new Map<string, number>();
    const removed: string[] = [];
    for (const [index, name] of namesToPrune(folder).entries()) {
      const path = join(folder, name);
      try {
        // Records in the history are never written again.
        const size = known?.get(name) ?? fs.lstatSync(path).size;
        bytes += size;
        if (index >= MAX_RECORDS_PER_GROUP || bytes > MAX_BYTES_PER_GROUP) removed.push(path);
        else sizes.set(name, size);
      } catch {
        // Another process was faster.
      }
    }
    this.#sizes.set(folder, sizes);
    forgetKeptFiles(this.#stateDir).catch(() => undefined);
    if (removed.length > 0) this.#remove(folder, removed);
  }

  /** Removes records of a group, and notes before how far back the group is complete from then on. */
  #remove(folder: string, paths: readonly string[]): void {
    try {
      const facts = paths.map((path) => fs.lstatSync(path, { throwIfNoEntry: false }));
      const until = Math.max(
        readPrunedTime(this.#prunedFile(folder)),
        ...facts.map((fact) => (fact?.mtimeMs ?? 0) + CLOCK_TICK_MS),
      );
      writePrunedTime(this.#prunedFile(folder), until);
      const small: string[] = [];
      const removed: string[] = [];
      for (const [at, path] of paths.entries())
        ((facts[at]?.size ?? 0) <= MAX_REUSED_BYTES ? small : removed).push(path);
      removed.push(...(this.#files?.reuse(small) ?? small));
      for (const path of removed) fs.rmSync(path, { force: true });
    } catch {
      // The disk is full, or another process was faster: the next change tries again.
    }
  }

  #prunedFile(folder: string): string {
    return join(this.#directory, "pruned", basename(folder));
  }

  prunedUntil(group: string): number | undefined {
    const time = readPrunedTime(this.#prunedFile(this.#groupFolder(group)));
    return time === 0 ? undefined : time;
  }

  /** Returns the key for the MACs. Creates the directory and the key if they are missing. @throws INVALID_ARGUMENT */
  #open(): RecordKey {
    if (this.#key !== undefined) return this.#key;
    for (const folder of ["open", "done"])
      fs.mkdirSync(join(this.#directory, folder), { recursive: true, mode: 0o700 });
    const at = fs.lstatSync(this.#directory);
    if (!at.isDirectory() || !isOursAlone(at, 0o022)) {
      throw backendError("INVALID_ARGUMENT", this.#directory, "others may write in the journal's directory");
    }
    this.#key = recordKeyOf(readOrMakeKey(join(this.#directory, "key")));
    return this.#key;
  }
}

/** The end of a record: the id of its call, and the group in whose history it is kept; null for none. */
interface RecordEnd {
  readonly id: string;
  readonly group: string | null;
}

/**
 * Returns the record in a file without an id: none where the file was made ahead, or its writer ended while it wrote the
 * beginning. A beginning that is not ours is damaged.
 */
function unnamedRecord(path: string): RecordFile {
  return { entries: [], end: hasBeginning(path) ? "damaged" : "cut" };
}

/** The maximum size in bytes of a forgotten record whose file is used again. A larger one is removed at once. */
const MAX_REUSED_BYTES = 1024 * 1024;

/** Returns `read` if it is a complete record of this group that the history keeps; null otherwise. */
function completeRecordOf(read: RecordFile, group: string): RecordFile | null {
  const [first, last] = [read.entries[0], read.entries.at(-1)];
  const whole = read.end !== "damaged" && last?.entry === "commit" && staysInHistory(last);
  return whole && first?.entry === "begin" && first.header.cwd === group ? read : null;
}

/**
 * Returns the state of a file, which is another one after every write to it; undefined while a further write could leave
 * the same times, and for a missing file.
 */
function settledFileState(path: string): string | undefined {
  try {
    const { ino, size, mtimeMs, ctimeMs } = fs.lstatSync(path);
    return Date.now() - ctimeMs > CLOCK_TICK_MS ? `${ino} ${size} ${mtimeMs} ${ctimeMs}` : undefined;
  } catch {
    return undefined; // Another process has removed it, or it cannot be read.
  }
}

/**
 * Writes the note of removed records. The file is not emptied before, because ext4 then waits until the former note is on
 * the disk: 0.8 ms, measured with a note every 32 changes.
 */
function writePrunedTime(path: string, time: number): void {
  fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
  try {
    fs.writeSync(fd, String(time).padEnd(PRUNED_TIME_CHARS), 0);
  } finally {
    fs.closeSync(fd);
  }
}

/** The length of a note of removed records: that of the longest number, so that a note replaces any other. */
const PRUNED_TIME_CHARS = 32;

/** Returns the time in a note of removed records, in milliseconds since 1970; 0 without one. */
function readPrunedTime(path: string): number {
  try {
    return Number(fs.readFileSync(path, "utf8")) || 0;
  } catch {
    return 0;
  }
}

/** Returns a record of the history. It is closed already, so `close` and `leave` do nothing. */
function toStoredRecord({ entries, end }: RecordFile): StoredRecord {
  return { entries, damaged: end === "damaged", close: () => undefined, leave: () => undefined };
}
