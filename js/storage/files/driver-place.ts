/**
 * The place of a driver. It keeps the directories that this process has made, or from which it has removed or moved a
 * file, because they stay when they have no file. They end with the process.
 */
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../../backends/failure.ts";
import { parentOf } from "../../backends/paths.ts";
import type { Driver, DriverEntry } from "./driver.ts";
import { pathsBelow, type Place, type Placed, type PlacedFile, type PlaceWrite } from "./place.ts";

/** How often a content is read again that another program changes meanwhile. */
const MAX_READS = 5;

/** Returns the place of the files of a driver below a root. */
export function driverPlace(driver: Driver, root: string): Place {
  return new DriverPlace(driver, root);
}

class DriverPlace implements Place {
  readonly abilities: Place["abilities"];
  readonly #driver: Driver;
  readonly #paths: ReturnType<typeof pathsBelow>;
  readonly #kept = new Set<string>();

  constructor(driver: Driver, root: string) {
    this.#driver = driver;
    this.#paths = pathsBelow(root);
    const moves = driver.move === undefined ? "none" : "files";
    this.abilities = Object.freeze({ emptyDirs: false, links: false, modes: true, moves });
  }

  async stat(path: string): Promise<Placed | null> {
    const found = await orNothing(path, () => this.#driver.stat(this.#paths.real(path)));
    if (found !== null) return toPlaced(path, found);
    return path === "/" || this.#kept.has(path) ? directoryAt(path) : null;
  }

  async list(directory: string): Promise<readonly Placed[]> {
    const real = this.#paths.real(directory);
    const found = new Map<string, Placed>();
    for (const entry of (await orNothing(directory, () => this.#driver.list(real))) ?? []) {
      const path = this.#paths.stored(entry.path);
      if (parentOf(path) !== directory || path === directory)
        throw backendError("IO_ERROR", directory, "the driver lists a path of another directory");
      found.set(path, toPlaced(path, entry));
    }
    for (const path of this.#kept)
      if (parentOf(path) === directory && path !== directory && !found.has(path))
        found.set(path, directoryAt(path));
    return [...found.values()];
  }

  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: PlacedFile }> {
    const real = this.#paths.real(path);
    let before = await this.#file(path);
    for (let reads = 0; reads < MAX_READS; reads++) {
      const bytes = new Uint8Array(await failing(path, () => this.#driver.read(real)));
      const after = await this.#file(path);
      if (after.version === before.version) return { bytes, file: { ...after, size: bytes.length } };
      before = after;
    }
    throw backendError("IO_ERROR", path, "the file is changed again and again");
  }

  async hash(path: string): Promise<{ readonly hash: string; readonly file: PlacedFile }> {
    const { bytes, file } = await this.read(path);
    return { hash: engine().sha256(bytes), file };
  }

  async write(path: string, body: Uint8Array, options: PlaceWrite): Promise<Placed> {
    const { ifVersion, mode = options.modeBefore } = options;
    const conditions = mode === undefined ? { ifVersion } : { ifVersion, mode };
    const real = this.#paths.real(path);
    return toPlaced(path, await failing(path, () => this.#driver.write(real, body, conditions)));
  }

  async remove(path: string, ifVersion?: string): Promise<void> {
    const real = this.#paths.real(path);
    const there = await this.stat(path);
    if (there === null) throw backendError("NOT_FOUND", path);
    if (there.type === "file") {
      await failing(path, () => this.#driver.remove(real, ifVersion));
      this.#keep(parentOf(path));
      return;
    }
    if ((await this.list(path)).length > 0) throw backendError("NOT_EMPTY", path);
    const isStored = (await orNothing(path, () => this.#driver.stat(real))) !== null;
    if (isStored) await failing(path, () => this.#driver.remove(real));
    this.#kept.delete(path);
    this.#keep(parentOf(path));
  }

  async move(from: string, to: string): Promise<Placed> {
    const driver = this.#driver;
    if (driver.move === undefined)
      throw backendError("UNSUPPORTED_OPERATION", from, "the driver moves nothing");
    const [source, target] = [this.#paths.real(from), this.#paths.real(to)];
    const moved = await failing(from, async () => driver.move?.(source, target));
    this.#keep(parentOf(from));
    if (moved === undefined) throw backendError("IO_ERROR", to, "the driver has not said what it moved");
    return toPlaced(to, moved);
  }

  async mkdir(path: string): Promise<Placed> {
    this.#keep(path);
    return directoryAt(path);
  }

  async symlink(path: string): Promise<Placed> {
    throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no symbolic links");
  }

  async chmod(path: string, mode: number): Promise<Placed> {
    const there = await this.stat(path);
    if (there?.type !== "file" || there.mode === undefined)
      throw backendError("UNSUPPORTED_OPERATION", path, "this storage has no permission bits here");
    const { bytes, file } = await this.read(path);
    const hash = engine().sha256(bytes);
    return this.write(path, bytes, { mode, modeBefore: file.mode, ifVersion: file.version, hash });
  }

  /** Keeps a directory and those above it. */
  #keep(directory: string): void {
    for (let at = directory; at !== "/" && !this.#kept.has(at); at = parentOf(at)) this.#kept.add(at);
  }

  async #file(path: string): Promise<PlacedFile> {
    const there = await this.stat(path);
    if (there === null) throw backendError("NOT_FOUND", path);
    if (there.type !== "file") throw backendError("IS_DIRECTORY", path);
    return there;
  }
}

function directoryAt(path: string): Placed {
  return { type: "dir", path, id: "" };
}

function toPlaced(path: string, entry: DriverEntry): Placed {
  if (entry.type === "dir") return directoryAt(path);
  const { version, size, mtime, mode } = entry;
  return { type: "file", path, version, size, mtime, mode };
}

/** Runs a call of the driver; an exception that is no error of the closed list becomes IO_ERROR. */
async function failing<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (cause) {
    if (cause instanceof FilewrightError) throw cause;
    throw backendError("IO_ERROR", path, "the driver failed", { cause });
  }
}

/** Does the same for a call that may say that nothing is there. */
async function orNothing<T>(path: string, call: () => Promise<T | null>): Promise<T | null> {
  try {
    return await failing(path, call);
  } catch (error) {
    const { code } = error as FilewrightError;
    if (code === "NOT_FOUND" || code === "NOT_DIRECTORY") return null;
    throw error;
  }
}
