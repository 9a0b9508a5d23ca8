/**
 * The files under a storage: those of a backend below one of its directories, or of a driver. Paths are those of the
 * storage; the changes of a commit are made on `files`, whose paths `real` returns.
 */
import type { Files } from "../../backends/files.ts";
import type { FsEntry, FsStat, WriteResult } from "../../backends/backend.ts";
import { concurrentGroups } from "../../backends/concurrent.ts";
import { lstatOrNull } from "../../backends/fallback/fallback.ts";
import { isMissing } from "../../backends/failure.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Op } from "../commit.ts";
import type { Entry } from "../entry.ts";

/** The files below a root. */
export class FileStore {
  readonly files: Files;
  /** The reach of one move: `trees` also a directory with its content, `files` a file. */
  readonly moves: "trees" | "files" = "trees";
  /** True when a directory without content stays when the process ends. */
  readonly emptyDirs: boolean = true;
  readonly #root: string;

  constructor(files: Files, root: string) {
    this.files = files;
    this.#root = root === "/" ? "" : root;
  }

  /** Returns the path in the files. */
  real(path: string): string {
    return path === "/" && this.#root !== "" ? this.#root : this.#root + path;
  }

  /** Returns the path in the storage. */
  stored(real: string): string {
    return real === this.#root ? "/" : real.slice(this.#root.length);
  }

  /** Returns a change with its paths in the files. */
  placed(op: Op): Op {
    if (op.op === "move") return { ...op, from: this.real(op.from), to: this.real(op.to) };
    return { ...op, path: this.real(op.path) };
  }

  /** Returns the entry itself; null where there is none, or one that is neither a file, a directory nor a link. */
  async stat(path: string): Promise<Entry | null> {
    const stat = await lstatOrNull(this.files, this.real(path));
    return stat === null ? null : this.found(path, stat);
  }

  /** Returns the entries of a directory; none for one that is gone. */
  async list(directory: string): Promise<readonly Entry[]> {
    const found: Entry[] = [];
    for (const group of concurrentGroups(await this.#listed(this.real(directory)))) {
      const stats = await Promise.all(group.map(({ path }) => this.#listedEntry(path)));
      // An entry that vanished since it was listed is left out.
      for (const one of stats) if (one !== null) found.push(one);
    }
    return found;
  }

  /** Returns a content and the file that has it, in one state. @throws NOT_FOUND */
  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly entry: Entry }> {
    const content = await this.files.read(this.real(path));
    const { bytes, version, stat } = content as NonNullable<typeof content>;
    return { bytes, entry: toEntry(path, { ...stat, size: bytes.length }, version) as Entry };
  }

  /** Returns a file with the hash of its content. */
  async hash(path: string): Promise<Entry> {
    const { hash, version } = await this.files.hash(this.real(path));
    const stat = await lstatOrNull(this.files, this.real(path));
    if (stat?.version !== version) return this.hashOfContent(path);
    return Object.freeze({ ...(toEntry(path, stat) as Entry), hash });
  }

  /** Does the same by a read. */
  protected async hashOfContent(path: string): Promise<Entry> {
    const { bytes, entry } = await this.read(path);
    return Object.freeze({ ...entry, hash: await engine().onThreads.sha256(bytes) });
  }

  /** Returns what a change has left at a path; `made` is its result. What others have written since does not count. */
  async left(path: string, made: WriteResult | undefined): Promise<Entry | null> {
    const stat = await lstatOrNull(this.files, this.real(path));
    if (stat === null || made?.version === undefined) return stat && this.found(path, stat);
    return toEntry(path, stat, made.version);
  }

  /** Returns the entry that some facts are of; for a file without a version, that of its content. */
  protected async found(path: string, stat: FsStat): Promise<Entry | null> {
    return stat.isFile && stat.version === undefined ? this.hash(path) : toEntry(path, stat);
  }

  /** Returns an entry of a listing. A file whose content is its version and cannot be read has its size and time for it. */
  async #listedEntry(real: string): Promise<Entry | null> {
    const stat = await lstatOrNull(this.files, real);
    if (stat === null) return null;
    const path = this.stored(real);
    try {
      return await this.found(path, stat);
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      return isMissing(error) ? null : toEntry(path, stat, `unread ${stat.size} ${stat.mtime}`);
    }
  }

  async #listed(directory: string): Promise<readonly FsEntry[]> {
    try {
      return await this.files.listDir(directory, { facts: false });
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }
}

/**
 * Returns the entry of a path, without a hash. The version of a file covers its permission bits; that of a directory or
 * link changes when another one takes its path, where the files have ids.
 */
function toEntry(path: string, stat: FsStat, own: string = stat.version ?? ""): Entry | null {
  const { type, size, mtime, mode, target = "", fileId = "" } = stat;
  const bits = mode === undefined ? undefined : mode & 0o7777;
  switch (type) {
    case "file": {
      const version = `${mode?.toString(8) ?? ""}:${own}`;
      return Object.freeze(withoutUndefined({ path, type, version, size, mtime, mode: bits }));
    }
    case "dir": {
      const version = `dir ${fileId} ${mode ?? ""}`;
      // Directories that are only implied by their files have no time.
      return Object.freeze(withoutUndefined({ path, type, version, mtime: mtime || undefined, mode: bits }));
    }
    case "symlink":
      return Object.freeze({ path, type, version: `link ${fileId} ${target}`, mtime, target });
    default:
      return null;
  }
}

/** Returns the version by which the files compare, from the version of an entry. */
export function storeVersion(version: string): string {
  return version.slice(version.indexOf(":") + 1);
}
