/**
 * The layer of an overlay: what was changed, over what lies below, and the way
 * from a path to either. Links are followed name by name where any may be, since
 * those above and those below lead through each other.
 */
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { EntryType, FsBackend, FsStat } from "./backend.ts";
import { failure } from "./failure.ts";
import { lstatOrNull, lstatVia } from "./fallback.ts";
import { resolveLinks, type Step } from "./links.ts";
import { walkTree } from "./walk-tree.ts";
import { checkPath, childOf, isLongName, isWithin, nameOf, normalise, parentOf } from "./paths.ts";

/** What was put at a path. A file's content is here, or still where it was copied from. */
export type Changed =
  | {
      readonly type: "file";
      readonly bytes: Uint8Array | null;
      /** Where the content is while it is not here. */
      readonly from: FsStat | null;
      readonly stat: FsStat;
    }
  | { readonly type: "dir"; readonly stat: FsStat }
  | { readonly type: "symlink"; readonly target: string; readonly stat: FsStat };

/** Stands for the version of a directory. */
export const DIRECTORY = "dir";

/** A map that counts how often it was changed. */
class Counted<V> extends Map<string, V> {
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

/** Changes over a backend. Paths are real unless it is said otherwise. */
export class OverlayLayer {
  readonly lower: FsBackend;
  /** What was changed; null where something was taken away. A directory here hides the lower one. */
  readonly upper: Counted<Changed | null> = new Counted();
  /** The version each changed file had below when it was first changed; null where nothing was. */
  readonly base: Map<string, string | null> = new Map();
  /** What was in each directory that was taken away: its files, by size and time. */
  readonly gone: Map<string, ReadonlyMap<string, string>> = new Map();
  #writes = 0;

  constructor(lower: FsBackend) {
    this.lower = lower;
  }

  /** Whether what is at the path was changed, or anything above it. */
  touched(path: string): boolean {
    return this.upper.has(path) || this.cover(path) !== undefined;
  }

  /** The nearest change above a path: what is below it is not the lower backend's. */
  cover(path: string): Changed | null | undefined {
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const node = this.upper.get(at);
      if (node !== undefined) return node;
    }
    return undefined;
  }

  /** Puts a change at a path. */
  async set(path: string, node: Changed): Promise<void> {
    await this.#remember(path);
    this.upper.set(path, node);
  }

  /** Takes a path away, with everything below it. */
  async remove(path: string): Promise<void> {
    await this.#remember(path);
    for (const at of this.upper.keys()) if (isWithin(at, path)) this.upper.delete(at);
    this.upper.set(path, null);
  }

  async #remember(path: string): Promise<void> {
    if (this.base.has(path)) return;
    const version = await this.versionBelow(path);
    this.base.set(path, version);
    if (version === DIRECTORY) this.gone.set(path, await this.filesBelow(path));
  }

  /** The files of a directory of the lower backend, each with its size and time. */
  async filesBelow(path: string): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>();
    for await (const entry of walkTree(this.lower, path)) {
      if (entry.isDir) continue;
      const known = entry.size !== undefined && entry.mtime !== undefined;
      const { size, mtime } = known ? entry : await lstatVia(this.lower, entry.path);
      files.set(entry.path, `${size}:${mtime}`);
    }
    return files;
  }

  /** The version of a file of the lower backend, {@link DIRECTORY}, or null where nothing is. */
  async versionBelow(path: string): Promise<string | null> {
    const there = await this.below(path);
    if (there === null) return null;
    if (there.type !== "file") return there.type === "dir" ? DIRECTORY : `${there.type}:${there.target}`;
    return (
      there.version ??
      (await this.lower.stat(path)).version ??
      engine().sha256(await this.lower.readBytes(path))
    );
  }

  /** What the lower backend has at a path, whatever was changed. */
  async below(path: string): Promise<FsStat | null> {
    return lstatOrNull(this.lower, path);
  }

  /** What is at a real path; null for nothing. */
  async at(path: string): Promise<FsStat | null> {
    const node = this.upper.get(path);
    if (node === null) return null;
    if (node !== undefined) return node.stat;
    return this.cover(path) === undefined ? this.below(path) : null;
  }

  /**
   * The path without links; what is missing at its end is kept.
   *
   * @param keepMissingDirectory keeps also the missing end of a link that names a directory (`gone/`)
   * @throws NOT_DIRECTORY, NOT_FOUND (`..` after a missing name), LOOP, NAME_TOO_LONG, INVALID_ARGUMENT
   */
  async real(given: string, follow: boolean, keepMissingDirectory = false): Promise<string> {
    checkPath(given);
    const { path, directory } = normalise(given);
    for (const name of path.split("/")) if (isLongName(name)) throw failure("NAME_TOO_LONG", given);
    if (path === "/") return path;
    const real = await this.#resolve(path, follow || directory, keepMissingDirectory);
    if (directory && (await this.at(real))?.isDir === false) throw failure("NOT_DIRECTORY", given);
    return real;
  }

  async #resolve(path: string, follow: boolean, keepMissingDirectory: boolean): Promise<string> {
    const { readLink, realpath } = this.lower;
    if (!this.anyLinks()) {
      if (readLink === undefined || realpath === undefined) return path;
      if (!this.touched(path)) {
        const below = await this.#realBelow(path, follow);
        // A link below may lead through what was changed here: then it is followed name by name.
        if (below !== undefined && (below === path || this.upper.size === 0)) return below;
      }
    }
    const look = (at: string, isLast: boolean): Promise<Step | null> => this.#step(at, isLast);
    return resolveLinks(path, { follow, look, keepMissingDirectory });
  }

  /** Whether a link was made here. */
  anyLinks(): boolean {
    for (const node of this.upper.values()) if (node?.type === "symlink") return true;
    return false;
  }

  /** Whether the content of a copy is still where it was copied from. */
  anyCopies(): boolean {
    for (const node of this.upper.values()) if (node?.type === "file" && node.bytes === null) return true;
    return false;
  }

  /** The lower backend's own answer; undefined where a change here may make it another one. */
  async #realBelow(path: string, follow: boolean): Promise<string | undefined> {
    const resolved = follow ? path : parentOf(path);
    try {
      const real = (await this.lower.realpath?.(resolved)) ?? resolved;
      return follow ? real : childOf(real, nameOf(path));
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      // Above a root nothing may be looked at; a root is real as it is.
      if (error.code === "OUTSIDE_ALLOWED" && !follow) return path;
      if (this.upper.size > 0 && ["NOT_FOUND", "NOT_DIRECTORY", "LOOP"].includes(error.code))
        return undefined;
      throw error;
    }
  }

  /** What stands at a path. Directories above a root may not be looked at; they are no links. */
  async #step(at: string, isLast: boolean): Promise<Step | null> {
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

  /** The directories that must be made for a path, outermost first. @throws NOT_DIRECTORY */
  async missing(path: string, asked: string): Promise<readonly string[]> {
    const missing: string[] = [];
    for (let at = parentOf(path); at !== "/"; at = parentOf(at)) {
      const there = await this.at(at);
      if (there?.isDir === true) break;
      if (there !== null) throw failure("NOT_DIRECTORY", asked);
      missing.push(at);
    }
    return missing.reverse();
  }

  /** The facts of something new. */
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

  /** A directory that was made here. */
  directory(path: string): Changed {
    return { type: "dir", stat: this.facts(path, "dir", 0, 0o755) };
  }

  /** The content of a changed file. @throws CONFLICT where what it was copied from has changed meanwhile */
  async content(node: Changed & { readonly type: "file" }): Promise<Uint8Array> {
    if (node.bytes !== null) return node.bytes;
    const { path, version } = node.from as FsStat;
    const bytes = await this.lower.readBytes(path);
    if (version !== undefined && (await this.versionBelow(path)) !== version)
      throw failure("CONFLICT", path, "what was copied has changed since");
    return bytes;
  }
}
