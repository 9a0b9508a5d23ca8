/**
 * The regular files and directories of a storage, copied into a directory of this machine, and a record file
 * (`record.json`) with the hash, size and stamp of each file.
 *
 * A file is written first and recorded afterwards. So a file that differs from the record was left by a crash or
 * changed by another program: it is removed when the copy is opened, and read from the storage again. A copy contains
 * no symbolic links, so no path in it can lead to a place outside.
 */
import { randomBytes } from "node:crypto";
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { uptime } from "node:os";
import { join } from "node:path";
import { engine } from "../../engine/current.ts";
import { Yielder } from "../../engine/yielder.ts";
import { foldsCase } from "../../backends/node/folding.node.ts";
import { makePrivateDirectory } from "../../backends/private-directory.node.ts";
import { byteLength, parentOf } from "../../backends/paths.ts";
import type { Entry } from "../entry.ts";

/** The format of the record file. A record of another format is ignored. */
const FORMAT = 1;
/** The maximum length of a path on the disk, in bytes: PATH_MAX of Linux without the terminating NUL. */
const MAX_DISK_PATH_BYTES = 4095;
/** The errors of names that this disk cannot hold. */
const NAME_ERRORS: ReadonlySet<string> = new Set(["ENAMETOOLONG", "EINVAL", "EILSEQ"]);

/** A file of the copy: the content that was written, and the state of the file after the write. */
interface KeptFile {
  readonly hash: string;
  readonly size: number;
  /** The inode number, mtime and ctime after the write. Any later change of the file changes one of them. */
  readonly stamp: string;
}

type RecordedFile = readonly [path: string, hash: string, size: number, stamp: string];

/** The files of a storage on the disk. Whether a file has a content is decided by the record, without reading it. */
export class DiskCopy {
  /** The directory of the files: the file at `/a/b` of the storage is at `/a/b` below it. */
  readonly files: string;
  /**
   * The paths of the storage that are missing here because the disk cannot hold their names: too long, invalid, or
   * equal to another name but for letter case.
   */
  readonly rest: Set<string> = new Set();
  readonly #directory: string;
  readonly #kept = new Map<string, KeptFile>();
  /** The paths of the directories of the copy. */
  readonly #directories = new Set<string>(["/"]);
  /** On a disk that ignores letter case: the path that is in use, by its folded form. Undefined on other disks. */
  readonly #spellings: Map<string, string> | undefined;
  #bytes = 0;
  #unsaved = false;

  private constructor(directory: string) {
    this.#directory = directory;
    this.files = join(directory, "files");
    makePrivateDirectory(this.files);
    this.#spellings = foldsCase(directory, true) ? new Map() : undefined;
  }

  /**
   * Opens the copy in a directory, and removes every file that differs from the record. Sizes and stamps are compared.
   * After a restart of the machine the hashes of the contents are compared as well, because a file may have lost data
   * that was not flushed.
   */
  static async open(directory: string): Promise<DiskCopy> {
    makePrivateDirectory(directory);
    for (const name of readdirSync(directory)) if (DRAFTS.test(name)) unlinkIfThere(join(directory, name));
    const copy = new DiskCopy(directory);
    const record = readRecord(directory);
    const known = new Map(record?.files.map((file) => [file[0], file]));
    const isSameBoot = record !== undefined && Math.abs(record.boot - bootTime()) < 5;
    await copy.#check("/", known, !isSameBoot, new Yielder({}));
    return copy;
  }

  /** The bytes of all files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The paths of the files, in any order. */
  get paths(): Iterable<string> {
    return this.#kept.keys();
  }

  /** The paths of the directories, parents first. */
  get directories(): Iterable<string> {
    return this.#directories;
  }

  /** Returns true when the file at the path of an entry was written with its content. */
  holds({ path, hash }: Entry): boolean {
    return this.#kept.get(path)?.hash === hash;
  }

  /** Returns the bytes that the file at a path takes; 0 where the copy has none. */
  sizeOf(path: string): number {
    return this.#kept.get(path)?.size ?? 0;
  }

  /** Reads the content of an entry; undefined when the copy has no file with this content. */
  async read(entry: Entry): Promise<Uint8Array | undefined> {
    if (!this.holds(entry)) return undefined;
    try {
      const bytes = new Uint8Array(await readFile(this.files + entry.path));
      // The file may have been replaced during the read.
      return bytes.length === entry.size && this.holds(entry) ? bytes : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Writes a file, and makes its missing directories. Returns false for a name that this disk cannot hold.
   * @throws a system error, such as that of a full disk. The copy then has no file at the path
   */
  write(path: string, hash: string, body: Uint8Array): boolean {
    this.remove(path);
    if (this.#directories.has(path)) this.#removeDirectory(path);
    if (byteLength(this.files + path) > MAX_DISK_PATH_BYTES || !this.#claim(path)) return this.#leave(path);
    try {
      this.#makeDirectory(parentOf(path));
      const stamp = writeNewFile(this.files + path, body);
      this.#kept.set(path, { hash, size: body.length, stamp });
    } catch (error) {
      if (NAME_ERRORS.has(String((error as NodeJS.ErrnoException).code))) return this.#leave(path);
      throw error;
    }
    this.#bytes += body.length;
    this.#unsaved = true;
    return true;
  }

  /** Makes a directory. Empty ones are needed too, because a search counts the ignored directories that it skips. */
  addDirectory(path: string): void {
    this.rest.delete(path);
    if (this.#directories.has(path)) return;
    if (byteLength(this.files + path) > MAX_DISK_PATH_BYTES || !this.#claim(path)) {
      this.rest.add(path);
      return;
    }
    try {
      this.#makeDirectory(path);
    } catch (error) {
      if (!NAME_ERRORS.has(String((error as NodeJS.ErrnoException).code))) throw error;
      this.rest.add(path);
    }
  }

  /** Removes a directory that the storage no longer has, with everything in it. */
  dropDirectory(path: string): void {
    if (path === "/" || !this.#directories.has(path)) return;
    for (const file of this.#kept.keys()) if (file.startsWith(`${path}/`)) this.remove(file);
    this.#removeDirectory(path);
  }

  /** Removes a file, if there is one. Its directory stays. */
  remove(path: string): void {
    this.rest.delete(path);
    const kept = this.#kept.get(path);
    if (kept === undefined) return;
    unlinkIfThere(this.files + path);
    this.#kept.delete(path);
    if (this.#spellings?.get(foldName(path)) === path) this.#spellings.delete(foldName(path));
    this.#bytes -= kept.size;
    this.#unsaved = true;
  }

  /**
   * Replaces the record file atomically. After a crash, files that were written since the last call are read from the
   * storage again.
   * @throws a system error, such as that of a full disk. The last record is then unchanged
   */
  save(): void {
    if (!this.#unsaved) return;
    const files: RecordedFile[] = [];
    for (const [path, { hash, size, stamp }] of this.#kept) files.push([path, hash, size, stamp]);
    const record = JSON.stringify({ format: FORMAT, boot: bootTime(), files });
    const draft = join(this.#directory, `record-${randomBytes(6).toString("hex")}`);
    try {
      writeFileSync(draft, record, { mode: 0o600 });
      renameSync(draft, join(this.#directory, RECORD));
    } catch (error) {
      // On a full disk, each further attempt would leave one more draft.
      unlinkIfThere(draft);
      throw error;
    }
    this.#unsaved = false;
  }

  /** Removes all files. */
  clear(): void {
    rmSync(this.files, { recursive: true, force: true });
    rmSync(join(this.#directory, RECORD), { force: true });
    makePrivateDirectory(this.files);
    this.#kept.clear();
    this.#directories.clear();
    this.#directories.add("/");
    this.#spellings?.clear();
    this.rest.clear();
    this.#bytes = 0;
    this.#unsaved = false;
  }

  /** Takes over the files below a directory that are as recorded, and removes all others. */
  async #check(
    directory: string,
    known: ReadonlyMap<string, RecordedFile>,
    byContent: boolean,
    yielder: Yielder,
  ): Promise<void> {
    for (const found of readdirSync(this.files + directory, { withFileTypes: true })) {
      await yielder.yieldIfDue();
      const path = directory === "/" ? `/${found.name}` : `${directory}/${found.name}`;
      // Directories have no record. The caller removes those that the storage no longer has.
      if (found.isDirectory()) {
        this.#directories.add(path);
        this.#spellings?.set(foldName(path), path);
        await this.#check(path, known, byContent, yielder);
        continue;
      }
      const recorded = known.get(path);
      if (recorded !== undefined && this.#isAsRecorded(recorded, byContent)) {
        const [, hash, size, stamp] = recorded;
        this.#kept.set(path, { hash, size, stamp });
        this.#spellings?.set(foldName(path), path);
        this.#bytes += size;
      } else {
        unlinkIfThere(this.files + path);
        this.#unsaved = true;
      }
    }
  }

  #isAsRecorded([path, hash, size, stamp]: RecordedFile, byContent: boolean): boolean {
    try {
      const stat = lstatSync(this.files + path, { bigint: true });
      if (!stat.isFile() || Number(stat.size) !== size || stampOf(stat) !== stamp) return false;
      return !byContent || engine().sha256(new Uint8Array(readFileSync(this.files + path))) === hash;
    } catch {
      return false;
    }
  }

  #makeDirectory(path: string): void {
    if (this.#directories.has(path)) return;
    this.#makeDirectory(parentOf(path));
    makePrivateDirectory(this.files + path);
    this.#directories.add(path);
  }

  /** Removes a directory. The caller has removed the files below it from the records in memory. */
  #removeDirectory(path: string): void {
    rmSync(this.files + path, { recursive: true, force: true });
    for (const one of this.#directories)
      if (one === path || one.startsWith(`${path}/`)) {
        this.#directories.delete(one);
        this.#spellings?.delete(foldName(one));
      }
  }

  /** Notes a path that this disk cannot hold. */
  #leave(path: string): false {
    this.rest.add(path);
    return false;
  }

  /**
   * Reserves the spelling of a path and of its parents on a disk that ignores letter case. Returns false when one of
   * them is in use in another spelling.
   */
  #claim(path: string): boolean {
    const spellings = this.#spellings;
    if (spellings === undefined) return true;
    const names: string[] = [];
    for (let at = path; at !== "/"; at = parentOf(at)) names.push(at);
    if (names.some((name) => (spellings.get(foldName(name)) ?? name) !== name)) return false;
    for (const name of names) spellings.set(foldName(name), name);
    return true;
  }
}

const RECORD = "record.json";
/** The temporary files that remain when a process ends during `save` or `foldsCase`. */
const DRAFTS = /^(?:record|probe)-[0-9a-f]{12}$/u;

interface CopyRecord {
  readonly boot: number;
  readonly files: readonly RecordedFile[];
}

/** Returns the record of a copy; undefined where there is none that can be read. */
function readRecord(directory: string): CopyRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(join(directory, RECORD), "utf8"));
    const { format, boot, files } = record as Partial<CopyRecord> & { readonly format?: unknown };
    return format === FORMAT && typeof boot === "number" && Array.isArray(files)
      ? { boot, files }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the time at which this machine was started, in seconds since 1970. */
function bootTime(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

/**
 * Writes a file that does not exist yet, and returns its stamp. A file that was written only in part is removed: it
 * would make every later write of the path fail, because it has no record by which the copy could remove it.
 */
function writeNewFile(path: string, body: Uint8Array): string {
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;
  const file = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    try {
      for (let at = 0; at < body.length; ) at += writeSync(file, body, at);
      return stampOf(fstatSync(file, { bigint: true }));
    } finally {
      closeSync(file);
    }
  } catch (error) {
    unlinkIfThere(path);
    throw error;
  }
}

function stampOf({ ino, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${mtimeNs} ${ctimeNs}`;
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Returns a form that is equal for names that a disk without letter case takes for the same. */
function foldName(path: string): string {
  return path.normalize("NFC").toLowerCase();
}
