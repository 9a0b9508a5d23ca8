/**
 * The files of a driver. Drivers store no empty directories, so this object remembers, in memory alone, the directories
 * that were made and those from which the last file was removed or moved. It forgets a directory once the driver has it:
 * when another program then removes the directory, it is gone.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { CompleteFiles } from "../../backends/complete.ts";
import type {
  DeleteOptions,
  FsEntry,
  FsStat,
  MkdirOptions,
  MoveOptions,
  ReadOptions,
  VersionedBytes,
  WriteOptions,
  WriteResult,
} from "../../backends/backend.ts";
import { backendError, isMissing } from "../../backends/failure.ts";
import {
  assertVersion,
  lstatOrNull,
  missingParents,
  placeOfStat,
  readWhole,
} from "../../backends/fallback/fallback.ts";
import { nameOf, parentOf } from "../../backends/paths.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { checkReplaced, checkWrite } from "../../backends/tree/checks.ts";
import type { Driver, DriverEntry } from "./driver.ts";
import type { Entry } from "../entry.ts";
import { FileStore } from "./file-store.ts";

/** The maximum number of attempts to read a file that another program changes during the read. */
const MAX_READ_ATTEMPTS = 5;

/** The result of a write or a move, with the facts that the driver has returned. */
interface DriverResult extends WriteResult {
  readonly stat: FsStat;
}

/** The files of a driver below a root. */
export class DriverStore extends FileStore {
  override readonly moves = "files";
  override readonly emptyDirs = false;
  readonly #driver: DriverFiles;

  constructor(driver: Driver, root: string) {
    const files = new DriverFiles(driver);
    super(files, root);
    this.#driver = files;
  }

  override async list(directory: string): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (const stat of await this.#driver.entries(this.real(directory)))
      found.push((await this.found(this.stored(stat.path), stat)) as Entry);
    return found;
  }

  override hash(path: string): ReturnType<FileStore["hash"]> {
    return this.hashOfContent(path);
  }

  override async left(path: string, made: Partial<DriverResult> | undefined): Promise<Entry | null> {
    return made?.stat === undefined ? super.left(path, made) : this.found(path, made.stat);
  }
}

class DriverFiles extends CompleteFiles {
  readonly #driver: Driver;
  readonly #remembered = new Set<string>();

  constructor(driver: Driver) {
    super({ modes: true, moves: driver.move !== undefined });
    this.#driver = driver;
  }

  async stat(path: string): Promise<FsStat> {
    const found = await this.#stored(path);
    if (found !== null) return found;
    if (path === "/" || this.#remembered.has(path)) return directoryAt(path);
    for (const one of this.#remembered) if (one.startsWith(`${path}/`)) this.#remembered.delete(one);
    throw backendError("NOT_FOUND", path);
  }

  /** Returns the facts about what stands directly in a directory; none for a missing one. */
  async entries(directory: string): Promise<readonly FsStat[]> {
    const found = new Map<string, FsStat>();
    for (const entry of (await orNull(directory, () => this.#driver.list(directory))) ?? []) {
      const { path } = entry;
      if (parentOf(path) !== directory || path === directory)
        throw backendError("IO_ERROR", directory, "the driver listed a path that is not in this directory");
      found.set(path, toStat(path, entry));
      this.#remembered.delete(path);
    }
    for (const path of this.#remembered)
      if (parentOf(path) === directory && path !== directory && !found.has(path))
        found.set(path, directoryAt(path));
    return [...found.values()];
  }

  async listDir(path: string): Promise<readonly FsEntry[]> {
    return (await this.entries(path)).map((stat) => ({ ...stat, name: nameOf(stat.path) }));
  }

  async read(path: string, request: ReadOptions = {}): Promise<VersionedBytes | null> {
    let before = await this.#file(path);
    for (let attempt = 0; attempt < MAX_READ_ATTEMPTS; attempt++) {
      const bytes = new Uint8Array(await withDriverErrors(path, () => this.#driver.read(path)));
      const stat = await this.#file(path);
      if (stat.version === before.version)
        return readWhole({ stat: () => stat, readBytes: () => bytes }, path, request);
      before = stat;
    }
    throw backendError("IO_ERROR", path, "the file changed during every attempt to read it");
  }

  async writeBytes(path: string, content: Uint8Array, options: WriteOptions = {}): Promise<DriverResult> {
    const there = await lstatOrNull(this, path);
    const { ifAbsent, ifVersion: wanted, mode = there?.mode } = options;
    // The driver itself makes the directories above, and judges the bits of the file.
    const place = placeOfStat(path, there && withoutUndefined({ ...there, mode: undefined }));
    if (ifAbsent === true) checkReplaced(place, false, path);
    checkWrite(place, { ifVersion: wanted }, path);
    const ifVersion = there?.version ?? null;
    const conditions = mode === undefined ? { ifVersion } : { ifVersion, mode };
    const written = await withDriverErrors(path, () => this.#driver.write(path, content, conditions));
    return this.#made(path, written);
  }

  async delete(path: string, { ifVersion }: DeleteOptions = {}): Promise<void> {
    const there = await this.stat(path);
    if (there.isFile) {
      await assertVersion(this, path, ifVersion, there);
      await this.#leaving(path, () => this.#driver.remove(path, ifVersion));
      return;
    }
    if ((await this.entries(path)).length > 0) throw backendError("NOT_EMPTY", path);
    await this.#leaving(path, async () => {
      if ((await this.#driver.stat(path)) !== null) await this.#driver.remove(path);
      this.#remembered.delete(path);
    });
  }

  override async rename(from: string, to: string, { ifVersion }: MoveOptions = {}): Promise<WriteResult> {
    const { move } = this.#driver;
    const there = await this.stat(from);
    if (move === undefined || there.isDir) return super.rename(from, to);
    await assertVersion(this, from, ifVersion, there);
    if ((await lstatOrNull(this, to)) !== null) throw backendError("ALREADY_EXISTS", to);
    return this.#made(to, await this.#leaving(from, () => move.call(this.#driver, from, to)));
  }

  async mkdir(path: string, { existOk = true }: MkdirOptions = {}): Promise<void> {
    const there = await lstatOrNull(this, path);
    if (there !== null && !(there.isDir && existOk)) throw backendError("ALREADY_EXISTS", path);
    const missing = there === null ? [path, ...(await missingParents(this, path))] : [];
    for (const directory of missing) this.#remembered.add(directory);
  }

  override async chmod(path: string, mode: number): Promise<void> {
    const { isFile, mode: there } = await this.stat(path);
    if (!isFile || there === undefined)
      throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no permission bits here");
    const { bytes, version: ifVersion } = (await this.read(path)) as VersionedBytes;
    await this.writeBytes(path, bytes, { mode, ifVersion });
  }

  /** Returns what the driver itself has at a path. */
  async #stored(path: string): Promise<FsStat | null> {
    const found = await orNull(path, () => this.#driver.stat(path));
    if (found === null) return null;
    this.#remembered.delete(path);
    return toStat(path, found);
  }

  /** Returns the result of a write or a move, after which the driver has the directories above. */
  #made(path: string, entry: DriverEntry | undefined): DriverResult {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) this.#remembered.delete(at);
    if (entry?.type !== "file") throw backendError("IO_ERROR", path, "the driver returned no file");
    return { version: entry.version, stat: toStat(path, entry) };
  }

  /** Runs a call after which a path is gone, and remembers the directories above it that the driver has no more. */
  async #leaving<T>(path: string, call: () => Promise<T>): Promise<T> {
    try {
      return await withDriverErrors(path, call);
    } finally {
      // A call that fails may have happened. Where the driver does not answer, the next look forgets again.
      for (let at = parentOf(path); at !== "/" && !this.#remembered.has(at); at = parentOf(at)) {
        if ((await this.#stored(at).catch(() => null)) !== null) break;
        this.#remembered.add(at);
      }
    }
  }

  async #file(path: string): Promise<FsStat> {
    const there = await this.stat(path);
    if (!there.isFile) throw backendError("IS_DIRECTORY", path);
    return there;
  }
}

function directoryAt(path: string): FsStat {
  return { path, type: "dir", size: 0, isDir: true, isFile: false, mtime: 0 };
}

function toStat(path: string, entry: DriverEntry): FsStat {
  if (entry.type === "dir") return directoryAt(path);
  const { version, size, mtime, mode } = entry;
  const stat = { path, type: "file", size, isDir: false, isFile: true, mtime, version } as const;
  return mode === undefined ? stat : { ...stat, mode };
}

/** Calls the driver; an exception other than a FilewrightError becomes IO_ERROR. */
async function withDriverErrors<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof FilewrightError) throw cause;
    throw backendError("IO_ERROR", path, "the driver failed", { cause });
  }
}

/** Does the same as {@link withDriverErrors}, and returns null where there is nothing. */
async function orNull<T>(path: string, call: () => Promise<T | null>): Promise<T | null> {
  try {
    return await withDriverErrors(path, call);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
