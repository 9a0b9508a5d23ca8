/**
 * The layer of an overlay: the changes over a lower backend, and the resolution of paths across
 * both. Where links may exist they are followed name by name, since links of both layers lead
 * through each other.
 */
import { DEFAULT_DIR_MODE } from "../entry.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { EntryType, FsBackend, FsEntry, FsStat, ListOptions } from "../backend.ts";
import { backendError } from "../failure.ts";
import { lstatOrNull, lstatVia, readVersioned } from "../fallback/fallback.ts";
import { resolveLinks, type FoundEntry } from "../fallback/links.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { checkPath, childOf, isLongName, isWithin, nameOf, normalise, parentOf } from "../paths.ts";

/** An entry that was written in the overlay. The content of a file is in memory, or still at the source of a copy. */
export type ChangedNode =
  | {
      readonly type: "file";
      readonly bytes: Uint8Array | null;
      /** The source of the content while `bytes` is null. */
      readonly from: FsStat | null;
      readonly stat: FsStat;
    }
  | { readonly type: "dir"; readonly stat: FsStat }
  | { readonly type: "symlink"; readonly target: string; readonly stat: FsStat };

/** The state of a path in the lower backend when it was first changed here. */
export interface Origin {
  readonly stat: FsStat;
  /** The version of a file; see {@link OverlayLayer.versionBelow}. */
  readonly version: string;
  /** `sha256:` of the content of a file; of one that may not be read, a text that stands for its version. */
  readonly hash?: string;
  /** The content of a file of at most {@link MAX_ORIGIN_BYTES}. */
  readonly bytes?: Uint8Array;
}

/** The largest file of which the content at its first change is kept in memory. */
const MAX_ORIGIN_BYTES = 16 * 1024 * 1024;

/** The largest file of which a copy in a fork is read at once. */
const MAX_EAGER_COPY_BYTES = 1024 * 1024;

/** The text that stands for the version of a directory, which has none. */
export const DIRECTORY_VERSION = "dir";

/** A map that counts its changes. */
class RevisionMap<V> extends Map<string, V> {
  revision = 0;

  override set(path: string, value: V): this {
    this.revision++;
    return super.set(path, value);
  }
  override delete(path: string): boolean {
    this.revision++;
    return super.delete(path);
  }
  override clear(): void {
    this.revision++;
    super.clear();
  }
}

/** The changes over a lower backend. Paths are real unless stated otherwise. */
export class OverlayLayer {
  readonly lower: FsBackend;
  /** The changed entries by path; null for a removed one. A directory here hides the lower one. */
  readonly upper: RevisionMap<ChangedNode | null> = new RevisionMap();
  /** The version of each changed file in the lower backend when it was first changed; null when it did not exist. */
  readonly base: Map<string, string | null> = new Map();
  /** The files of each removed directory, with size and time. */
  readonly gone: Map<string, ReadonlyMap<string, string>> = new Map();
  /** The permission bits that directories were given, of this layer or the lower backend. */
  readonly modes: Map<string, number> = new Map();
  /** The origin of each changed path, null for one that did not exist; undefined where origins are not kept. */
  readonly origins: Map<string, Origin | null> | undefined;
  /** The directories below each removed directory, where origins are kept. */
  readonly goneDirectories: Map<string, readonly string[]> = new Map();
  /** The permission bits that directories had before they were given others. */
  readonly modesBefore: Map<string, number | undefined> = new Map();
  #writes = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param keepsOrigins true to keep the content of a file when it is first changed, for a three-way merge */
  constructor(lower: FsBackend, keepsOrigins = false) {
    this.lower = lower;
    this.origins = keepsOrigins ? new Map() : undefined;
  }

  /** Runs changes one after another, so that each sees the one before. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(run, run);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Returns true when the path or any of its parents was changed. */
  touched(path: string): boolean {
    return this.upper.has(path) || this.cover(path) !== undefined;
  }

  /** Returns the nearest change above a path. What is below such a change does not come from the lower backend. */
  cover(path: string): ChangedNode | null | undefined {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const node = this.upper.get(at);
      if (node !== undefined) return node;
    }
    return undefined;
  }

  /** Records a change at a path. */
  async set(path: string, node: ChangedNode): Promise<void> {
    await this.#remember(path);
    this.upper.set(path, node);
  }

  /** Records the permission bits of a directory. `before` are those that it has. */
  setMode(path: string, mode: number, before: number | undefined): void {
    if (!this.modesBefore.has(path)) this.modesBefore.set(path, before);
    this.modes.set(path, mode);
  }

  /** Removes a path, with everything below it. */
  async remove(path: string): Promise<void> {
    await this.#remember(path);
    for (const at of this.upper.keys()) if (isWithin(at, path)) this.upper.delete(at);
    for (const at of this.modes.keys()) {
      if (!isWithin(at, path)) continue;
      this.modes.delete(at);
      this.modesBefore.delete(at);
    }
    this.upper.set(path, null);
  }

  /** Records what a path is below, before its first change. */
  async #remember(path: string): Promise<void> {
    if (this.base.has(path)) return;
    const { origins } = this;
    const origin = origins === undefined ? undefined : await this.#originOf(path);
    origins?.set(path, origin ?? null);
    const version = origins === undefined ? await this.versionBelow(path) : (origin?.version ?? null);
    this.base.set(path, version);
    if (version !== DIRECTORY_VERSION) return;
    const { files, directories } = await this.#treeBelow(path);
    this.gone.set(path, files);
    if (origins !== undefined) this.goneDirectories.set(path, directories);
  }

  async #originOf(path: string): Promise<Origin | null> {
    const stat = await this.below(path);
    if (stat === null) return null;
    if (stat.type !== "file") {
      const version = await this.versionBelow(path);
      return version === null ? null : { stat, version };
    }
    if (stat.size > MAX_ORIGIN_BYTES && this.lower.hash !== undefined) {
      const { hash, version } = await this.lower.hash(path);
      return { stat, version, hash };
    }
    const found = await readVersioned(this.lower, path).catch(nullIfKept);
    if (found === null) {
      // A secret may be replaced and not read: its version stands for its content.
      const version = (await this.versionBelow(path)) ?? "";
      return { stat, version, hash: `unread ${version}` };
    }
    const { bytes, version } = found;
    const kept = bytes.length > MAX_ORIGIN_BYTES ? {} : { bytes };
    return { stat, version, hash: engine().sha256(bytes), ...kept };
  }

  /** Returns the files of a lower directory, each with its size and time. */
  async filesBelow(path: string): Promise<ReadonlyMap<string, string>> {
    return (await this.#treeBelow(path)).files;
  }

  async #treeBelow(path: string): Promise<{
    readonly files: ReadonlyMap<string, string>;
    readonly directories: readonly string[];
  }> {
    const files = new Map<string, string>();
    const directories: string[] = [];
    for await (const entry of walkTree(this.lower, path)) {
      if (entry.isDir) {
        directories.push(entry.path);
        continue;
      }
      const known = entry.size !== undefined && entry.mtime !== undefined;
      const { size, mtime } = known ? entry : await lstatVia(this.lower, entry.path);
      files.set(entry.path, `${size}:${mtime}`);
    }
    return { files, directories };
  }

  /**
   * Returns the version of a file in the lower backend; {@link DIRECTORY_VERSION} for a directory, null when
   * nothing exists.
   */
  async versionBelow(path: string): Promise<string | null> {
    const there = await this.below(path);
    if (there === null) return null;
    if (there.type !== "file")
      return there.type === "dir" ? DIRECTORY_VERSION : `${there.type}:${there.target}`;
    return (
      there.version ??
      (await this.lower.stat(path)).version ??
      engine().sha256(await this.lower.readBytes(path))
    );
  }

  /** Returns the entry of the lower backend at a path, whatever was changed here. */
  async below(path: string): Promise<FsStat | null> {
    return lstatOrNull(this.lower, path);
  }

  /** Returns the entry at a real path, or null. */
  async at(path: string): Promise<FsStat | null> {
    const node = this.upper.get(path);
    if (node === null) return null;
    if (node !== undefined) return node.stat;
    if (this.cover(path) !== undefined) return null;
    const below = await this.below(path);
    const mode = this.modes.get(path);
    return below === null || mode === undefined ? below : Object.freeze({ ...below, mode });
  }

  /** Returns the entries of a directory at a real path, in any order. */
  async entries(real: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    const entries = new Map<string, FsEntry>();
    if (!this.touched(real))
      for (const entry of await this.lower.listDir(real, options)) entries.set(entry.name, entry);
    for (const [path, node] of this.upper) {
      if (path === real || parentOf(path) !== real) continue;
      if (node === null) entries.delete(nameOf(path));
      else entries.set(nameOf(path), entryOfStat(node.stat));
    }
    return [...entries.values()];
  }

  /** Returns the content of a file at a real path. @throws NOT_FOUND, CONFLICT */
  async bytes(real: string): Promise<Uint8Array> {
    const node = this.upper.get(real);
    if (node === undefined && this.cover(real) === undefined) return this.lower.readBytes(real);
    if (node?.type !== "file") throw backendError("NOT_FOUND", real);
    return this.content(node);
  }

  /**
   * Returns true when a copy reads its source at once: a fork keeps the content, because its parent may change the
   * source. The copy of a large file, and of any file in another overlay, is read when it is needed.
   */
  copiesEagerly({ size }: FsStat): boolean {
    return this.origins !== undefined && size <= MAX_EAGER_COPY_BYTES;
  }

  /** Forgets every change. */
  clear(): void {
    this.upper.clear();
    this.base.clear();
    this.gone.clear();
    this.modes.clear();
    this.origins?.clear();
    this.goneDirectories.clear();
    this.modesBefore.clear();
  }

  /**
   * Returns the path without links; missing names at its end are kept.
   *
   * @param keepMissingDirectory keeps also the missing end of a link that names a directory
   * (`gone/`)
   * @throws NOT_DIRECTORY, NOT_FOUND (`..` after a missing name), LOOP, NAME_TOO_LONG,
   * INVALID_ARGUMENT
   */
  async real(given: string, follow: boolean, keepMissingDirectory = false): Promise<string> {
    checkPath(given);
    const { path, directory } = normalise(given);
    for (const name of path.split("/")) if (isLongName(name)) throw backendError("NAME_TOO_LONG", given);
    if (path === "/") return path;
    const real = await this.#resolve(path, follow || directory, keepMissingDirectory);
    if (directory && (await this.at(real))?.isDir === false) throw backendError("NOT_DIRECTORY", given);
    return real;
  }

  async #resolve(path: string, follow: boolean, keepMissingDirectory: boolean): Promise<string> {
    const { readLink, realpath } = this.lower;
    if (!this.anyLinks()) {
      if (readLink === undefined || realpath === undefined) return path;
      if (!this.touched(path)) {
        const below = await this.#realBelow(path, follow);
        // A lower link may lead through a changed path: then it is followed name by name.
        if (below !== undefined && (below === path || this.upper.size === 0)) return below;
      }
    }
    const look = (at: string, isLast: boolean): Promise<FoundEntry | null> => this.#step(at, isLast);
    return resolveLinks(path, { follow, look, keepMissingDirectory });
  }

  /** Returns true when the overlay contains a new link. */
  anyLinks(): boolean {
    for (const node of this.upper.values()) if (node?.type === "symlink") return true;
    return false;
  }

  /** Returns true when the content of a copy is still at its source. */
  anyCopies(): boolean {
    for (const node of this.upper.values()) if (node?.type === "file" && node.bytes === null) return true;
    return false;
  }

  /** Resolves a path in the lower backend; undefined where a change may alter the result. */
  async #realBelow(path: string, follow: boolean): Promise<string | undefined> {
    const resolved = follow ? path : parentOf(path);
    try {
      const real = (await this.lower.realpath?.(resolved)) ?? resolved;
      return follow ? real : childOf(real, nameOf(path));
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      // Directories above a root may not be read; a root is a real path.
      if (error.code === "OUTSIDE_ALLOWED" && !follow) return path;
      if (this.upper.size > 0 && ["NOT_FOUND", "NOT_DIRECTORY", "LOOP"].includes(error.code))
        return undefined;
      throw error;
    }
  }

  /** Returns the entry at a path. Directories above a root may not be read; they are no links. */
  async #step(at: string, isLast: boolean): Promise<FoundEntry | null> {
    try {
      const stat = await this.at(at);
      if (stat === null) return null;
      if (stat.type !== "symlink") return { type: stat.type };
      return { type: "symlink", target: stat.target ?? (await this.lower.readLink?.(at)) ?? "" };
    } catch (error) {
      if (!isLast && error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED")
        return { type: "dir" };
      throw error;
    }
  }

  /** Returns the missing directories above a path, outermost first. @throws NOT_DIRECTORY */
  async missing(path: string, asked: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const there = await this.at(at);
      if (there?.isDir === true) break;
      if (there !== null) throw backendError("NOT_DIRECTORY", asked);
      missing.push(at);
    }
    return missing.reverse();
  }

  /** Returns the facts of a new entry. */
  facts(path: string, type: EntryType, size: number, mode: number, target?: string): FsStat {
    return Object.freeze({
      path,
      type,
      size,
      isDir: type === "dir",
      isFile: type === "file",
      mtime: Date.now(),
      mode,
      nlink: 1,
      ...(target === undefined ? {} : { target }),
      ...(type === "file" ? { version: `overlay:${++this.#writes}` } : {}),
    });
  }

  /** Returns a new directory. */
  directory(path: string): ChangedNode {
    return { type: "dir", stat: this.facts(path, "dir", 0, DEFAULT_DIR_MODE) };
  }

  /**
   * Returns the content of a changed file. @throws CONFLICT where the source of a copy has changed
   * meanwhile
   */
  async content(node: ChangedNode & { readonly type: "file" }): Promise<Uint8Array> {
    if (node.bytes !== null) return node.bytes;
    const { path, version } = node.from as FsStat;
    // A file of which only the mode was changed here keeps the content that it had then.
    const origin = path === node.stat.path ? this.origins?.get(path)?.bytes : undefined;
    if (origin !== undefined) return origin;
    const bytes = await this.lower.readBytes(path);
    if (version !== undefined && (await this.versionBelow(path)) !== version)
      throw backendError("CONFLICT", path, "what was copied has changed since");
    return bytes;
  }
}

/** Returns null for the error of a file that may not be read without a grant, and throws any other. */
export function nullIfKept(error: unknown): null {
  if (error instanceof FilewrightError && UNREADABLE.has(error.code)) return null;
  throw error;
}

const UNREADABLE: ReadonlySet<string> = new Set(["GRANT_DENIED", "PERMISSION_DENIED", "OUTSIDE_ALLOWED"]);

/** Returns an entry of a directory from the facts about it. */
export function entryOfStat(stat: FsStat): FsEntry {
  const { path, type, isDir, isFile, size, mtime, target } = stat;
  return Object.freeze({
    name: nameOf(path),
    path,
    type,
    isDir,
    isFile,
    ...(isDir ? {} : { size, mtime }),
    ...(target === undefined ? {} : { target }),
  });
}
