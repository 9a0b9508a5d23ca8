/** The files of a backend as entries of a storage: paths below a root, no links followed, changes one by one. */
import { engine } from "../../engine/current.ts";
import type { FsBackend, FsStat } from "../../backends/backend.ts";
import { backendError } from "../../backends/failure.ts";
import {
  chmodVia,
  lstatOrNull,
  readVersioned,
  symlinkVia,
  writeVia,
} from "../../backends/fallback/fallback.ts";
import { deleteVia, removeTreeVia, renameVia } from "../../backends/fallback/fallback-tree.ts";
import { parentOf } from "../../backends/paths.ts";
import type { Entry, Expect, Op, ReadEntry } from "../storage.ts";

/** The files below a directory of a backend. */
export class BackendFiles {
  readonly #backend: FsBackend;
  readonly #root: string;
  /** A path at which each content was seen, for the operation `link`. */
  readonly #pathByHash: Map<string, string>;

  constructor(backend: FsBackend, root: string, pathByHash: Map<string, string> = new Map()) {
    this.#backend = backend;
    this.#root = root;
    this.#pathByHash = pathByHash;
  }

  /** Returns the same files through another object, such as that of a transaction. */
  on(backend: FsBackend): BackendFiles {
    return new BackendFiles(backend, this.#root, this.#pathByHash);
  }

  /** Returns the path in the backend of a path in the storage. */
  real(path: string): string {
    if (this.#root === "/") return path;
    return path === "/" ? this.#root : this.#root + path;
  }

  /** Returns the path in the storage of a path in the backend. */
  stored(path: string): string {
    if (this.#root === "/") return path;
    return path === this.#root ? "/" : path.slice(this.#root.length);
  }

  /**
   * Returns what is at a path; null for nothing, and for what only a link leads to. With `maxBytes` the content of
   * a file, unless it is larger.
   */
  async read(path: string, maxBytes?: number): Promise<ReadEntry | null> {
    if (!(await this.#hasPlainParents(path))) return null;
    const stat = await this.#stat(path);
    if (stat === null || stat.type === "other") return null;
    if (stat.type !== "file") return { entry: toEntry(path, stat) };
    if (maxBytes === undefined && this.#backend.hash !== undefined) {
      const { hash, version } = await this.#backend.hash(this.real(path));
      this.#pathByHash.set(hash, path);
      return { entry: toEntry(path, stat, hash, version) };
    }
    const content = await readVersioned(this.#backend, this.real(path));
    const { bytes, version, stat: seen } = content as NonNullable<typeof content>;
    const hash = engine().sha256(bytes);
    this.#pathByHash.set(hash, path);
    const entry = toEntry(path, { ...seen, size: bytes.length }, hash, version);
    if (maxBytes === undefined) return { entry };
    return bytes.length > maxBytes ? { entry, left: true } : { entry, body: bytes };
  }

  /** Makes one change and returns the paths that it names, with the parents that it made. */
  async apply(op: Op, expect: readonly Expect[]): Promise<readonly string[]> {
    const path = op.op === "move" ? op.from : op.path;
    if (op.op !== "move") await this.#assertPlainParents(path);
    const there = await this.#stat(path);
    switch (op.op) {
      case "put":
        return this.#put(path, op.body, op.hash, op.mode, there, expect);
      case "link":
        return this.#put(path, await this.#content(op.hash, op.size, path), op.hash, op.mode, there, expect);
      case "mkdir": {
        if (there?.isDir === true) return [path];
        if (there !== null) throw backendError("ALREADY_EXISTS", path);
        const made = await this.#makeParents(path);
        await this.#backend.mkdir(this.real(path), { parents: false, existOk: true });
        if (op.mode !== undefined) await chmodVia(this.#backend, this.real(path), op.mode);
        return [...made, path];
      }
      case "symlink": {
        if (there !== null) throw backendError("ALREADY_EXISTS", path);
        const made = await this.#makeParents(path);
        await symlinkVia(this.#backend, op.target, this.real(path));
        return [...made, path];
      }
      case "chmod":
        if (there === null) throw backendError("NOT_FOUND", path);
        if (there.type === "symlink") throw backendError("INVALID_ARGUMENT", path, "a link has no mode");
        await chmodVia(this.#backend, this.real(path), op.mode);
        return [path];
      case "remove":
        if (there === null) throw backendError("NOT_FOUND", path);
        if (op.tree === true) await removeTreeVia(this.#backend, this.real(path));
        // A backend has versions of files alone.
        else await deleteVia(this.#backend, this.real(path), there.isFile ? versionOption(path, expect) : {});
        return [path];
      case "move": {
        if (there === null || !(await this.#hasPlainParents(path))) throw backendError("NOT_FOUND", path);
        await this.#assertPlainParents(op.to);
        if ((await this.#stat(op.to)) !== null) throw backendError("ALREADY_EXISTS", op.to);
        const made = await this.#makeParents(op.to);
        await renameVia(this.#backend, this.real(path), this.real(op.to));
        return [path, ...made, op.to];
      }
    }
  }

  async #put(
    path: string,
    body: Uint8Array,
    hash: string | undefined,
    mode: number | undefined,
    there: FsStat | null,
    expect: readonly Expect[],
  ): Promise<readonly string[]> {
    if (there?.isDir === true) throw backendError("IS_DIRECTORY", path);
    const own = engine().sha256(body);
    if (hash !== undefined && hash !== own)
      throw backendError("INVALID_ARGUMENT", path, "the hash is not that of the content");
    const made = await this.#makeParents(path);
    const real = this.real(path);
    if (there?.type === "symlink") await this.#backend.delete(real);
    const condition = there?.isFile === true ? versionOption(path, expect) : { ifAbsent: true };
    await writeVia(this.#backend, real, body, {
      ...condition,
      hash: own,
      ...(mode === undefined ? {} : { mode }),
    });
    if (mode !== undefined && this.#backend.chmod !== undefined) await this.#backend.chmod(real, mode);
    return [...made, path];
  }

  /** Returns a content that was seen in this storage. @throws NOT_FOUND when it is there no more */
  async #content(hash: string, size: number, path: string): Promise<Uint8Array> {
    const from = this.#pathByHash.get(hash);
    const found = from === undefined ? null : await this.read(from, Number.POSITIVE_INFINITY);
    if (found?.entry.hash !== hash || found.body?.length !== size)
      throw backendError("NOT_FOUND", path, "the storage has no such content");
    return found.body;
  }

  /** Makes the missing directories above a path, and returns them from the top. */
  async #makeParents(path: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/" && (await this.#stat(at)) === null; at = parentOf(at))
      missing.unshift(at);
    for (const at of missing) await this.#backend.mkdir(this.real(at), { parents: false, existOk: true });
    return missing;
  }

  #stat(path: string): Promise<FsStat | null> {
    return lstatOrNull(this.#backend, this.real(path));
  }

  /** Returns true when every existing parent of a path is a directory and no link. */
  async #hasPlainParents(path: string): Promise<boolean> {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const stat = await this.#stat(at);
      if (stat !== null && !stat.isDir) return false;
    }
    return true;
  }

  async #assertPlainParents(path: string): Promise<void> {
    if (!(await this.#hasPlainParents(path))) throw backendError("NOT_DIRECTORY", path);
  }
}

/** Returns the condition of a write that the backend itself compares at the last moment. */
function versionOption(path: string, expect: readonly Expect[]): { readonly ifVersion?: string } {
  const own = expect.find((one) => one.path === path && "version" in one);
  return own !== undefined && "version" in own && own.version !== null
    ? { ifVersion: own.version.slice(own.version.indexOf(":") + 1) }
    : {};
}

/** Returns the version of a file with its mode, which the version of a backend need not cover. */
function fileVersion(version: string, mode: number | undefined): string {
  return `${mode?.toString(8) ?? ""}:${version}`;
}

function toEntry(path: string, stat: FsStat, hash?: string, version?: string): Entry {
  const { mode, mtime, target, fileId = "" } = stat;
  const shared = { path, mtime, ...(mode === undefined ? {} : { mode: mode & 0o7777 }) };
  if (stat.type === "symlink")
    return Object.freeze({
      path,
      mtime,
      type: "symlink",
      version: `link ${fileId} ${target}`,
      target: target ?? "",
    });
  if (stat.type !== "file")
    return Object.freeze({ ...shared, type: "dir", version: `dir ${fileId} ${mode}` });
  return Object.freeze({
    ...shared,
    type: "file",
    version: fileVersion(version ?? "", mode),
    hash: hash ?? "",
    size: stat.size,
  });
}
