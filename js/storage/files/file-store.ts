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

/** A file of a store. */
export interface FoundFile {
  readonly type: "file";
  readonly path: string;
  /** The version by which the file store compares. */
  readonly version: string;
  readonly size: number;
  readonly mtime: number;
  readonly mode?: number | undefined;
}

/** An entry of a store. The `id` of a directory or link changes when another one takes its path, where that is known. */
export type FoundEntry =
  | FoundFile
  | {
      readonly type: "dir";
      readonly path: string;
      readonly id: string;
      readonly mtime?: number | undefined;
      readonly mode?: number | undefined;
    }
  | {
      readonly type: "symlink";
      readonly path: string;
      readonly id: string;
      readonly mtime?: number | undefined;
      readonly target: string;
    };

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
  async stat(path: string): Promise<FoundEntry | null> {
    const stat = await lstatOrNull(this.files, this.real(path));
    return stat === null ? null : this.found(path, stat);
  }

  /** Returns the entries of a directory; none for one that is gone. */
  async list(directory: string): Promise<readonly FoundEntry[]> {
    const found: FoundEntry[] = [];
    for (const group of concurrentGroups(await this.#listed(this.real(directory)))) {
      const stats = await Promise.all(group.map(({ path }) => this.#listedEntry(path)));
      // An entry that vanished since it was listed is left out.
      for (const one of stats) if (one !== null) found.push(one);
    }
    return found;
  }

  /** Returns a content and the file that has it, in one state. @throws NOT_FOUND */
  async read(path: string): Promise<{ readonly bytes: Uint8Array; readonly file: FoundFile }> {
    const content = await this.files.read(this.real(path));
    const { bytes, version, stat } = content as NonNullable<typeof content>;
    return { bytes, file: toFile(path, { ...stat, size: bytes.length }, version) };
  }

  /** Returns the hash of a content and the file that has it. */
  async hash(path: string): Promise<{ readonly hash: string; readonly file: FoundFile }> {
    const { hash, version } = await this.files.hash(this.real(path));
    const stat = await lstatOrNull(this.files, this.real(path));
    return stat?.version === version ? { hash, file: toFile(path, stat, version) } : this.hashOfContent(path);
  }

  /** Does the same by a read. */
  protected async hashOfContent(path: string): Promise<{ readonly hash: string; readonly file: FoundFile }> {
    const { bytes, file } = await this.read(path);
    return { hash: await engine().onThreads.sha256(bytes), file };
  }

  /** Returns what a change has left at a path; `made` is its result. What others have written since does not count. */
  async left(path: string, made: WriteResult | undefined): Promise<FoundEntry | null> {
    const now = await this.stat(path);
    const version = made?.version;
    return now?.type !== "file" || version === undefined ? now : { ...now, version };
  }

  /** Returns the entry that some facts are of. */
  protected async found(path: string, stat: FsStat): Promise<FoundEntry | null> {
    const { type, mtime, mode, target, fileId: id = "" } = stat;
    if (type === "dir") return { type, path, id, mtime, mode };
    if (type === "symlink") return { type, path, id, mtime, target: target ?? "" };
    if (type !== "file") return null;
    return stat.version === undefined ? (await this.hash(path)).file : toFile(path, stat, stat.version);
  }

  /** Returns an entry of a listing. A file whose content is its version and cannot be read has its size and time for it. */
  async #listedEntry(real: string): Promise<FoundEntry | null> {
    const stat = await lstatOrNull(this.files, real);
    if (stat === null) return null;
    const path = this.stored(real);
    try {
      return await this.found(path, stat);
    } catch (error) {
      if (!(error instanceof FilewrightError) || error.code === "CANCELLED") throw error;
      return isMissing(error) ? null : toFile(path, stat, `unread ${stat.size} ${stat.mtime}`);
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

function toFile(path: string, { size, mtime, mode }: FsStat, version: string): FoundFile {
  return { type: "file", path, version, size, mtime, mode };
}

/** Returns the version of an entry in the storage, which covers its permission bits; null where there is none. */
export function versionOf(found: FoundEntry | null): string | null {
  if (found === null) return null;
  const { type } = found;
  if (type === "file") return `${found.mode?.toString(8) ?? ""}:${found.version}`;
  return type === "dir" ? `dir ${found.id} ${found.mode ?? ""}` : `link ${found.id} ${found.target}`;
}

/** Returns the version by which the file store compares, from the version in the storage. */
export function storeVersion(version: string): string {
  return version.slice(version.indexOf(":") + 1);
}

/** Returns an entry of the storage. `hash` is that of the content of a file; undefined if that cannot be read. */
export function entryOf(found: FoundEntry, hash: string | undefined): Entry {
  const { path, type, mtime } = found;
  const mode = found.type === "symlink" ? undefined : found.mode;
  return Object.freeze({
    path,
    type,
    version: versionOf(found) as string,
    ...(mtime === undefined ? {} : { mtime }),
    ...(mode === undefined ? {} : { mode: mode & 0o7777 }),
    ...(found.type === "file" ? withoutUndefined({ hash, size: found.size }) : {}),
    ...(found.type === "symlink" ? { target: found.target } : {}),
  });
}
