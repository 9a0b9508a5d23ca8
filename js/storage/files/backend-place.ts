/** The place of a backend: the files below one of its directories, with links and permission bits where it has them. */
import type { FsBackend, FsStat } from "../../backends/backend.ts";
import {
  chmodVia,
  lstatOrNull,
  readVersioned,
  symlinkVia,
  writeVia,
} from "../../backends/fallback/fallback.ts";
import { deleteVia, renameVia } from "../../backends/fallback/fallback-tree.ts";
import { backendError } from "../../backends/failure.ts";
import { engine } from "../../engine/current.ts";
import { pathsBelow, type Place, type Placed, type PlacedFile, type PlaceWrite } from "./place.ts";

/** Returns the place of the files of a backend below a root. */
export function backendPlace(backend: FsBackend, root: string): Place {
  return new BackendPlace(backend, root);
}

class BackendPlace implements Place {
  readonly abilities: Place["abilities"];
  readonly #backend: FsBackend;
  readonly #paths: ReturnType<typeof pathsBelow>;

  constructor(backend: FsBackend, root: string) {
    this.#backend = backend;
    this.#paths = pathsBelow(root);
    const { symlink, lstat, readLink, chmod } = backend;
    const links = symlink !== undefined && lstat !== undefined && readLink !== undefined;
    this.abilities = Object.freeze({ emptyDirs: true, links, modes: chmod !== undefined, moves: "trees" });
  }

  async stat(path: string): Promise<Placed | null> {
    const stat = await lstatOrNull(this.#backend, this.#paths.real(path));
    return stat === null ? null : this.#placed(path, stat);
  }

  async list(directory: string): Promise<readonly Placed[]> {
    const listed = await this.#backend.listDir(this.#paths.real(directory), { facts: false });
    // An entry that vanished since it was listed is left out.
    const found = await Promise.all(listed.map(({ path }) => this.stat(this.#paths.stored(path))));
    return found.filter((one) => one !== null);
  }

  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: PlacedFile }> {
    const content = await readVersioned(this.#backend, this.#paths.real(path));
    const { bytes, version, stat } = content as NonNullable<typeof content>;
    return { bytes, file: toFile(path, { ...stat, size: bytes.length }, version) };
  }

  async hash(path: string): Promise<{ readonly hash: string; readonly file: PlacedFile }> {
    if (this.#backend.hash !== undefined) {
      const { hash, version } = await this.#backend.hash(this.#paths.real(path));
      const stat = await lstatOrNull(this.#backend, this.#paths.real(path));
      if (stat?.version === version) return { hash, file: toFile(path, stat, version) };
    }
    const { bytes, file } = await this.read(path);
    return { hash: engine().sha256(bytes), file };
  }

  async write(path: string, body: Uint8Array, { mode, ifVersion, hash }: PlaceWrite): Promise<Placed> {
    const real = this.#paths.real(path);
    const condition = ifVersion === null ? { ifAbsent: true } : { ifVersion };
    const options = { ...condition, hash, ...(mode === undefined ? {} : { mode }) };
    const { version } = await writeVia(this.#backend, real, body, options);
    // The umask may have taken bits away.
    if (mode !== undefined && this.#backend.chmod !== undefined) return this.chmod(path, mode);
    const now = await this.#present(path);
    return now.type === "file" && version !== undefined ? { ...now, version, size: body.length } : now;
  }

  async remove(path: string, ifVersion?: string): Promise<void> {
    const options = ifVersion === undefined ? {} : { ifVersion };
    await deleteVia(this.#backend, this.#paths.real(path), options);
  }

  async move(from: string, to: string): Promise<Placed> {
    await renameVia(this.#backend, this.#paths.real(from), this.#paths.real(to));
    return this.#present(to);
  }

  async mkdir(path: string, mode: number | undefined): Promise<Placed> {
    await this.#backend.mkdir(this.#paths.real(path), { parents: false, existOk: true });
    return mode === undefined ? this.#present(path) : this.chmod(path, mode);
  }

  async symlink(path: string, target: string): Promise<Placed> {
    await symlinkVia(this.#backend, target, this.#paths.real(path));
    return this.#present(path);
  }

  async chmod(path: string, mode: number): Promise<Placed> {
    await chmodVia(this.#backend, this.#paths.real(path), mode);
    return this.#present(path);
  }

  async #present(path: string): Promise<Placed> {
    const found = await this.stat(path);
    if (found === null) throw backendError("IO_ERROR", path, "the entry is gone that was just made");
    return found;
  }

  async #placed(path: string, stat: FsStat): Promise<Placed | null> {
    const { type, mtime, mode, target, fileId = "" } = stat;
    if (type === "dir") return { type, path, id: fileId, mtime, mode };
    if (type === "symlink") return { type, path, id: fileId, mtime, target: target ?? "" };
    if (type !== "file") return null;
    if (stat.version !== undefined) return toFile(path, stat, stat.version);
    return (await this.hash(path)).file;
  }
}

function toFile(path: string, { size, mtime, mode }: FsStat, version: string): PlacedFile {
  return { type: "file", path, version, size, mtime, mode };
}
