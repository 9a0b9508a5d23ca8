/**
 * The files of a driver as a storage has them. Drivers store no empty directories, so this object remembers, in memory
 * alone, the directories that were made and those from which the last file was removed or moved. It forgets a directory
 * once the driver has it: when another program then removes the directory, it is gone.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { backendError, isMissing } from "../../backends/failure.ts";
import { parentOf } from "../../backends/paths.ts";
import type { Driver, DriverEntry } from "./driver.ts";
import {
  pathsBelow,
  type FileStore,
  type FoundEntry,
  type FoundFile,
  type StoreWrite,
} from "./file-store.ts";

/** The maximum number of attempts to read a file that another program changes during the read. */
const MAX_READ_ATTEMPTS = 5;

/** Returns the file store of a driver below a root. */
export function filesOfDriver(driver: Driver, root: string): FileStore {
  return new DriverFiles(driver, root);
}

class DriverFiles implements FileStore {
  readonly abilities: FileStore["abilities"];
  readonly #driver: Driver;
  readonly #paths: ReturnType<typeof pathsBelow>;
  readonly #remembered = new Set<string>();

  constructor(driver: Driver, root: string) {
    this.#driver = driver;
    this.#paths = pathsBelow(root);
    const moves = driver.move === undefined ? "none" : "files";
    this.abilities = Object.freeze({ emptyDirs: false, links: false, modes: true, moves });
  }

  async stat(path: string): Promise<FoundEntry | null> {
    const found = await this.#stored(path);
    if (found !== null) return found;
    if (path === "/" || this.#remembered.has(path)) return directoryAt(path);
    for (const one of this.#remembered) if (one.startsWith(`${path}/`)) this.#remembered.delete(one);
    return null;
  }

  async list(directory: string): Promise<readonly FoundEntry[]> {
    const real = this.#paths.real(directory);
    const found = new Map<string, FoundEntry>();
    for (const entry of (await orNull(directory, () => this.#driver.list(real))) ?? []) {
      const path = this.#paths.stored(entry.path);
      if (parentOf(path) !== directory || path === directory)
        throw backendError("IO_ERROR", directory, "the driver listed a path that is not in this directory");
      found.set(path, toFound(path, entry));
      this.#remembered.delete(path);
    }
    for (const path of this.#remembered)
      if (parentOf(path) === directory && path !== directory && !found.has(path))
        found.set(path, directoryAt(path));
    return [...found.values()];
  }

  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: FoundFile }> {
    const real = this.#paths.real(path);
    let before = await this.#file(path);
    for (let attempt = 0; attempt < MAX_READ_ATTEMPTS; attempt++) {
      const bytes = new Uint8Array(await withDriverErrors(path, () => this.#driver.read(real)));
      const after = await this.#file(path);
      if (after.version === before.version) return { bytes, file: { ...after, size: bytes.length } };
      before = after;
    }
    throw backendError("IO_ERROR", path, "the file changed during every attempt to read it");
  }

  async hash(path: string): Promise<{ readonly hash: string; readonly file: FoundFile }> {
    const { bytes, file } = await this.read(path);
    return { hash: await engine().onThreads.sha256(bytes), file };
  }

  async write(path: string, body: Uint8Array, options: Omit<StoreWrite, "hash">): Promise<FoundEntry> {
    const { ifVersion, mode = options.modeBefore } = options;
    const conditions = mode === undefined ? { ifVersion } : { ifVersion, mode };
    const real = this.#paths.real(path);
    const written = await withDriverErrors(path, () => this.#driver.write(real, body, conditions));
    this.#forgetAbove(path);
    return toFound(path, written);
  }

  async remove(path: string, ifVersion?: string): Promise<void> {
    const real = this.#paths.real(path);
    const there = await this.stat(path);
    if (there === null) throw backendError("NOT_FOUND", path);
    if (there.type === "file") {
      await this.#leaving(path, () => this.#driver.remove(real, ifVersion));
      return;
    }
    if ((await this.list(path)).length > 0) throw backendError("NOT_EMPTY", path);
    await this.#leaving(path, async () => {
      if ((await this.#driver.stat(real)) !== null) await this.#driver.remove(real);
      this.#remembered.delete(path);
    });
  }

  async move(from: string, to: string): Promise<FoundEntry> {
    const driver = this.#driver;
    if (driver.move === undefined)
      throw backendError("UNSUPPORTED_OPERATION", from, "the driver does not support moves");
    const [source, target] = [this.#paths.real(from), this.#paths.real(to)];
    const moved = await this.#leaving(from, async () => driver.move?.(source, target));
    this.#forgetAbove(to);
    if (moved === undefined)
      throw backendError("IO_ERROR", to, "the driver returned no entry for the moved file");
    return toFound(to, moved);
  }

  async mkdir(path: string): Promise<FoundEntry> {
    this.#remembered.add(path);
    return directoryAt(path);
  }

  async symlink(path: string): Promise<FoundEntry> {
    throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no symbolic links");
  }

  async chmod(path: string, mode: number): Promise<FoundEntry> {
    const there = await this.stat(path);
    if (there?.type !== "file" || there.mode === undefined)
      throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no permission bits here");
    const { bytes, file } = await this.read(path);
    return this.write(path, bytes, { mode, modeBefore: file.mode, ifVersion: file.version });
  }

  /** Returns what the driver itself has at a path. */
  async #stored(path: string): Promise<FoundEntry | null> {
    const found = await orNull(path, () => this.#driver.stat(this.#paths.real(path)));
    if (found === null) return null;
    this.#remembered.delete(path);
    return toFound(path, found);
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

  /** Forgets the directories above a file that the driver has. */
  #forgetAbove(path: string): void {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) this.#remembered.delete(at);
  }

  async #file(path: string): Promise<FoundFile> {
    const there = await this.stat(path);
    if (there === null) throw backendError("NOT_FOUND", path);
    if (there.type !== "file") throw backendError("IS_DIRECTORY", path);
    return there;
  }
}

function directoryAt(path: string): FoundEntry {
  return { type: "dir", path, id: "" };
}

function toFound(path: string, entry: DriverEntry): FoundEntry {
  if (entry.type === "dir") return directoryAt(path);
  const { version, size, mtime, mode } = entry;
  return { type: "file", path, version, size, mtime, mode };
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
