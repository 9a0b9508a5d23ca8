/** The file store of a backend: the files below one of its directories, with links and permission bits where it has them. */
import type { Files } from "../../backends/files.ts";
import type { FsEntry, FsStat } from "../../backends/backend.ts";
import { concurrentGroups } from "../../backends/concurrent.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { moveEntry } from "../../backends/fallback/fallback-tree.ts";
import { backendError, isMissing } from "../../backends/failure.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import {
  pathsBelow,
  type FileStore,
  type FoundEntry,
  type FoundFile,
  type StoreWrite,
} from "./file-store.ts";

/** Returns the file store of a backend below a root. */
export function filesOfBackend(backend: Files, root: string): FileStore {
  return new BackendFiles(backend, root);
}

class BackendFiles implements FileStore {
  readonly abilities: FileStore["abilities"];
  readonly #backend: Files;
  readonly #paths: ReturnType<typeof pathsBelow>;

  constructor(backend: Files, root: string) {
    this.#backend = backend;
    this.#paths = pathsBelow(root);
    const { links, modes } = backend.abilities;
    this.abilities = Object.freeze({ emptyDirs: true, links, modes, moves: "trees" });
  }

  async stat(path: string): Promise<FoundEntry | null> {
    const stat = await lstatOrNull(this.#backend, this.#paths.real(path));
    return stat === null ? null : this.#found(path, stat);
  }

  async list(directory: string): Promise<readonly FoundEntry[]> {
    const found: FoundEntry[] = [];
    const listed = await this.#listed(this.#paths.real(directory));
    for (const group of concurrentGroups(listed)) {
      const stats = await Promise.all(group.map(({ path }) => this.#listedEntry(path)));
      // An entry that vanished since it was listed is left out.
      for (const one of stats) if (one !== null) found.push(one);
    }
    return found;
  }

  /** Returns an entry of a listing. A file whose content is its version and cannot be read has its size and time for it. */
  async #listedEntry(real: string): Promise<FoundEntry | null> {
    const stat = await lstatOrNull(this.#backend, real);
    if (stat === null) return null;
    const path = this.#paths.stored(real);
    try {
      return await this.#found(path, stat);
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      return isMissing(error) ? null : toFile(path, stat, `unread ${stat.size} ${stat.mtime}`);
    }
  }

  /** Returns the entries of a directory; none for one that is gone. */
  async #listed(directory: string): Promise<readonly FsEntry[]> {
    try {
      return await this.#backend.listDir(directory, { facts: false });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }

  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: FoundFile }> {
    const content = await this.#backend.read(this.#paths.real(path));
    const { bytes, version, stat } = content as NonNullable<typeof content>;
    return { bytes, file: toFile(path, { ...stat, size: bytes.length }, version) };
  }

  async hash(path: string): Promise<{ readonly hash: string; readonly file: FoundFile }> {
    const { hash, version } = await this.#backend.hash(this.#paths.real(path));
    const stat = await lstatOrNull(this.#backend, this.#paths.real(path));
    if (stat?.version === version) return { hash, file: toFile(path, stat, version) };
    const { bytes, file } = await this.read(path);
    return { hash: await engine().onThreads.sha256(bytes), file };
  }

  async write(path: string, body: Uint8Array, { mode, ifVersion, hash }: StoreWrite): Promise<FoundEntry> {
    const real = this.#paths.real(path);
    const condition = ifVersion === null ? { ifAbsent: true } : { ifVersion };
    const options = { ...condition, hash, ...(mode === undefined ? {} : { mode }) };
    const { version } = await this.#backend.writeBytes(real, body, options);
    const now = await this.#present(path);
    if (now.type !== "file") return now;
    // What another program has written since is not given other bits, and does not count as written here.
    const isOurs = version === undefined || version === now.version;
    const hasBits = mode === undefined || now.mode === undefined || (now.mode & 0o7777) === mode;
    // The umask may have taken bits away.
    if (isOurs && !hasBits && this.#backend.abilities.modes) return this.chmod(path, mode);
    return version === undefined ? now : { ...now, version, size: body.length };
  }

  async remove(path: string, ifVersion?: string): Promise<void> {
    const options = ifVersion === undefined ? {} : { ifVersion };
    await this.#backend.delete(this.#paths.real(path), options);
  }

  async move(from: string, to: string, ifVersion?: string): Promise<FoundEntry> {
    await moveEntry(this.#backend, this.#paths.real(from), this.#paths.real(to), { ifVersion });
    return this.#present(to);
  }

  async mkdir(path: string, mode: number | undefined): Promise<FoundEntry> {
    await this.#backend.mkdir(this.#paths.real(path), { parents: false, existOk: true });
    return mode === undefined ? this.#present(path) : this.chmod(path, mode);
  }

  async symlink(path: string, target: string): Promise<FoundEntry> {
    await this.#backend.symlink(target, this.#paths.real(path));
    return this.#present(path);
  }

  async chmod(path: string, mode: number): Promise<FoundEntry> {
    await this.#backend.chmod(this.#paths.real(path), mode);
    return this.#present(path);
  }

  async #present(path: string): Promise<FoundEntry> {
    const found = await this.stat(path);
    if (found === null) throw backendError("IO_ERROR", path, "the entry is gone that was just made");
    return found;
  }

  async #found(path: string, stat: FsStat): Promise<FoundEntry | null> {
    const { type, mtime, mode, target, fileId = "" } = stat;
    if (type === "dir") return { type, path, id: fileId, mtime, mode };
    if (type === "symlink") return { type, path, id: fileId, mtime, target: target ?? "" };
    if (type !== "file") return null;
    if (stat.version !== undefined) return toFile(path, stat, stat.version);
    return (await this.hash(path)).file;
  }
}

function toFile(path: string, { size, mtime, mode }: FsStat, version: string): FoundFile {
  return { type: "file", path, version, size, mtime, mode };
}
