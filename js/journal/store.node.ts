/**
 * A journal in files: one for each change, in a directory of state that is ours
 * alone.
 *
 * `open/WRITER.CALL` is being written; `done/GROUP/CALL` is history. Each record
 * is chained to the one before by a keyed hash, so that a planted or altered
 * file is recognised; one that is merely cut short was cut by the death of its
 * writer, who held a lock all the while: a record is unfinished when nobody does.
 */
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import { failure } from "../backends/failure.ts";
import { type Entry, fromFrame, toFrame } from "./step.ts";
import { type JournalStore, KEPT_BYTES, KEPT_RECORDS, type Log, type StoredLog } from "./store.ts";

/** A lock between processes that is free when its holder has ended. */
export type TryLock = (name: string) => { release(): void } | null;

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = fs.constants;
/** The lengths of the JSON and of the contents, and the contents' hash. */
const HEAD = 4 + 4 + 32;
const MAC = 32;
/** Larger records are written off the event loop. */
const OFF_LOOP_BYTES = 256 * 1024;
/** How often old records are looked for: once in so many changes. */
const PRUNE_EVERY = 32;
/** JSON of one record beyond this is not ours. */
const MAX_JSON_BYTES = 64 * 1024 * 1024;

/** A journal in the directory `journal` of a state directory. */
export class FileJournal implements JournalStore {
  readonly #directory: string;
  readonly #tryLock: TryLock;
  readonly #writer: string = randomBytes(8).toString("hex");
  #held: { release(): void } | undefined;
  #key: Buffer | undefined;
  #closed = 0;

  /** `tryLock` must keep other processes of the same state directory out. */
  constructor(stateDir: string, tryLock: TryLock) {
    this.#directory = join(stateDir, "journal");
    this.#tryLock = tryLock;
  }

  begin(id: string): Log {
    if (this.#held === undefined) {
      this.#held = this.#tryLock(lockName(this.#writer)) ?? undefined;
      if (this.#held === undefined) throw failure("LOCK_TIMEOUT", this.#directory, "the journal is locked");
    }
    const key = this.#open();
    const path = join(this.#directory, "open", `${this.#writer}.${id}`);
    const fd = fs.openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    let previous: Buffer = Buffer.alloc(MAC);
    return {
      append: (entry, durable) => {
        const { buffers, mac } = seal(entry, key, previous, id);
        previous = mac;
        return writeAll(fd, buffers, durable);
      },
      close: (group) => {
        fs.closeSync(fd);
        this.#end(path, id, group);
      },
    };
  }

  unfinished(): readonly StoredLog[] {
    const folder = join(this.#directory, "open");
    const names = namesIn(folder);
    if (names.length === 0) return [];
    const key = this.#open();
    const found: StoredLog[] = [];
    const writers = byWriter(names);
    for (const [writer, theirs] of writers) {
      if (writer === this.#writer) continue;
      const lock = this.#tryLock(lockName(writer));
      if (lock === null) continue;
      let left = theirs.length;
      const leave = (): void => {
        left -= 1;
        if (left === 0) lock.release();
      };
      for (const name of theirs) {
        const path = join(folder, name);
        const id = name.slice(writer.length + 1);
        const { entries, authentic } = read(path, key, id, true);
        const close = (group: string | null): void => {
          this.#end(path, id, group);
          leave();
        };
        found.push({ entries, authentic, close, leave });
      }
    }
    return found;
  }

  history(group: string): readonly StoredLog[] {
    const folder = this.#groupFolder(group);
    const names = namesIn(folder).sort().reverse();
    if (names.length === 0) return [];
    const key = this.#open();
    return names.map((name) => finished(read(join(folder, name), key, name, false)));
  }

  find(group: string, id: string): StoredLog | null {
    const path = join(this.#groupFolder(group), id);
    if (!fs.existsSync(path)) return null;
    return finished(read(path, this.#open(), id, true));
  }

  #groupFolder(group: string): string {
    const name = createHash("sha256").update(group).digest("hex").slice(0, 32);
    return join(this.#directory, "done", name);
  }

  #end(path: string, id: string, group: string | null): void {
    if (group === null) {
      fs.rmSync(path, { force: true });
      return;
    }
    const folder = this.#groupFolder(group);
    try {
      fs.renameSync(path, join(folder, id));
    } catch {
      fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
      fs.renameSync(path, join(folder, id));
    }
    if (this.#closed++ % PRUNE_EVERY === 0) prune(folder);
  }

  /** The key; makes the directory and the key where they are missing. @throws INVALID_ARGUMENT */
  #open(): Buffer {
    if (this.#key !== undefined) return this.#key;
    fs.mkdirSync(join(this.#directory, "open"), { recursive: true, mode: 0o700 });
    const own = process.getuid?.();
    const at = fs.lstatSync(this.#directory);
    if (!at.isDirectory() || (own !== undefined && own !== 0 && at.uid !== own) || (at.mode & 0o022) !== 0) {
      throw failure("INVALID_ARGUMENT", this.#directory, "others may write in the journal's directory");
    }
    this.#key = keyOf(join(this.#directory, "key"));
    return this.#key;
  }
}

const lockName = (writer: string): string => `journal:${writer}`;
const writerOf = (name: string): string => name.split(".", 1)[0] as string;

function byWriter(names: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const name of names) groups.set(writerOf(name), [...(groups.get(writerOf(name)) ?? []), name]);
  return groups;
}

function namesIn(folder: string): string[] {
  try {
    return fs.readdirSync(folder);
  } catch {
    return [];
  }
}

/** The key of a directory of state: made once, by whoever is first. */
function keyOf(path: string): Buffer {
  if (!fs.existsSync(path)) {
    const made = `${path}.${randomBytes(8).toString("hex")}`;
    fs.writeFileSync(made, randomBytes(32), { mode: 0o600, flag: "wx" });
    try {
      fs.linkSync(made, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      fs.unlinkSync(made);
    }
  }
  const fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW);
  try {
    const { mode, uid, size } = fs.fstatSync(fd);
    const own = process.getuid?.();
    if ((mode & 0o077) !== 0 || (own !== undefined && own !== 0 && uid !== own) || size !== 32) {
      throw failure("INVALID_ARGUMENT", path, "the journal's key is not ours alone");
    }
    return fs.readFileSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** A record as it is written, and what the next one is chained to. */
function seal(
  entry: Entry,
  key: Buffer,
  previous: Buffer,
  id: string,
): { readonly buffers: readonly Uint8Array[]; readonly mac: Buffer } {
  const { json, blobs } = toFrame(entry);
  const text = Buffer.from(json);
  const hash = createHash("sha256");
  for (const blob of blobs) hash.update(blob);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(text.length, 0);
  head.writeUInt32LE(
    blobs.reduce((sum, blob) => sum + blob.length, 0),
    4,
  );
  hash.digest().copy(head, 8);
  const mac = macOf(key, previous, id, head, text);
  return { buffers: [head, text, ...blobs, mac], mac };
}

/** A record may neither be moved to another call nor be put behind another record. */
function macOf(key: Buffer, previous: Buffer, id: string, head: Buffer, text: Buffer): Buffer {
  return createHmac("sha256", key).update(previous).update(`${id}\n`).update(head).update(text).digest();
}

function writeAll(fd: number, buffers: readonly Uint8Array[], durable: boolean): void | Promise<void> {
  const size = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
  if (size > OFF_LOOP_BYTES) return writeLater(fd, buffers, durable);
  const whole = Buffer.concat(buffers, size);
  for (let at = 0; at < size; ) at += fs.writeSync(fd, whole, at);
  if (durable) fs.fsyncSync(fd);
}

async function writeLater(fd: number, buffers: readonly Uint8Array[], durable: boolean): Promise<void> {
  for (const buffer of buffers) {
    for (let at = 0; at < buffer.length; ) {
      at += await new Promise<number>((resolve, reject) => {
        fs.write(fd, buffer, at, buffer.length - at, null, (error, count) =>
          error === null ? resolve(count) : reject(error),
        );
      });
    }
  }
  if (!durable) return;
  await new Promise<void>((resolve, reject) => {
    fs.fsync(fd, (error) => (error === null ? resolve() : reject(error)));
  });
}

/** The records of a file up to where it was cut; contents only where they are wanted. */
function read(
  path: string,
  key: Buffer,
  id: string,
  contents: boolean,
): { readonly entries: readonly Entry[]; readonly authentic: boolean } {
  const entries: Entry[] = [];
  const forged = { entries: [], authentic: false };
  let fd: number;
  try {
    fd = fs.openSync(path, O_RDONLY | O_NOFOLLOW | (fs.constants.O_NONBLOCK ?? 0));
  } catch {
    return forged;
  }
  try {
    const facts = fs.fstatSync(fd);
    if (!facts.isFile()) return forged;
    let previous: Buffer = Buffer.alloc(MAC);
    for (let at = 0; at + HEAD <= facts.size; ) {
      const head = piece(fd, at, HEAD);
      const [json, blob] = [head.readUInt32LE(0), head.readUInt32LE(4)];
      const end = at + HEAD + json + blob + MAC;
      if (end > facts.size) break; // Cut while it was written.
      if (json > MAX_JSON_BYTES) return forged;
      const text = piece(fd, at + HEAD, json);
      const mac = macOf(key, previous, id, head, text);
      if (!timingSafeEqual(mac, piece(fd, end - MAC, MAC))) return forged;
      const bytes = contents ? piece(fd, at + HEAD + json, blob) : Buffer.alloc(0);
      if (contents && !createHash("sha256").update(bytes).digest().equals(head.subarray(8, 40)))
        return forged;
      const entry = fromFrame(text.toString(), bytes);
      if (entry === null) return forged;
      entries.push(entry);
      previous = mac;
      at = end;
    }
    return { entries, authentic: true };
  } finally {
    fs.closeSync(fd);
  }
}

function piece(fd: number, at: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  for (let got = 0; got < length; ) {
    const count = fs.readSync(fd, buffer, got, length - got, at + got);
    if (count === 0) break;
    got += count;
  }
  return buffer;
}

function finished(read: { readonly entries: readonly Entry[]; readonly authentic: boolean }): StoredLog {
  return { ...read, close: () => undefined, leave: () => undefined };
}

/** Removes the oldest records beyond what is kept. */
function prune(folder: string): void {
  let bytes = 0;
  for (const [index, name] of namesIn(folder).sort().reverse().entries()) {
    const path = join(folder, name);
    try {
      bytes += fs.lstatSync(path).size;
      if (index >= KEPT_RECORDS || bytes > KEPT_BYTES) fs.rmSync(path, { force: true });
    } catch {
      // Another process was faster.
    }
  }
}
