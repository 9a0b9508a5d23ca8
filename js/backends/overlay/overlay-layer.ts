/**
 * The layer of an overlay: the changes over a lower backend, and the resolution of paths across
 * both. Where links may exist they are followed name by name, since links of both layers lead
 * through each other.
 */
import type { Files } from "../files.ts";
import { engine } from "../../engine/current.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { FsEntry, FsStat, ListOptions } from "../backend.ts";
import { backendError } from "../failure.ts";
import { lstatOrNull, missingAbove, placeOfStat, statWithPath } from "../fallback/fallback.ts";
import { resolveLinks, type FoundEntry } from "../fallback/links.ts";
import { walkTree } from "../fallback/walk-tree.ts";
import { checkPath, childOf, isLongName, nameOf, normalise, parentOf } from "../paths.ts";
import {
  type ChangedNode,
  type ChangedPath,
  DIRECTORY_VERSION,
  Draft,
  type DraftState,
  givenMode,
  type Known,
  type LowerTree,
  NO_TREE,
} from "./draft.ts";
import { OverlayEdit, type OverlayPlace } from "./edit.ts";

/** The largest file of which the content at its first change is kept in memory. */
const MAX_KEPT_BYTES = 16 * 1024 * 1024;

/** The largest file of which a copy in a fork is read at once. */
const MAX_EAGER_COPY_BYTES = 1024 * 1024;

/** The changes over a lower backend. Paths are real unless stated otherwise. */
export class OverlayLayer {
  readonly lower: Files;
  readonly draft: Draft = new Draft();
  /** True to keep the content of a file when it is first changed, for a three-way merge. */
  readonly #keepsContents: boolean;
  #writes = 0;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(lower: Files, keepsContents = false) {
    this.lower = lower;
    this.#keepsContents = keepsContents;
  }

  /** Runs changes one after another, so that each sees the one before. */
  inTurn<T>(run: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(run, run);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  /** Returns the place of a path as a caller typed it. `versioned` for one whose version is compared. */
  async place(typed: string, follow: boolean, versioned = false): Promise<OverlayPlace> {
    const path = await this.real(typed, follow);
    const found = path === "/" ? await this.lower.stat(path) : await this.at(path);
    // A host's object may answer with another path.
    let stat = found === null ? undefined : statWithPath(found, path);
    const missing = stat === undefined ? await missingAbove((at) => this.at(at), path, typed) : [];
    if (versioned && stat?.isFile === true && stat.version === undefined)
      stat = Object.freeze({ ...stat, version: await this.#versionOf(stat) });
    const now = this.draft.get(path)?.now;
    const changed = now?.type === "gone" || now?.type === "hidden" ? undefined : now;
    return { ...placeOfStat(path, stat, missing), changed };
  }

  /** Makes a change of what stands at a place. */
  async change(place: OverlayPlace, change: (tree: OverlayEdit) => void): Promise<void> {
    const tree = new OverlayEdit(place, () => `overlay:${++this.#writes}`);
    change(tree);
    for (const [path, now] of tree.changes()) {
      if (now === undefined) this.draft.remove(path, await this.#before(path));
      else if (now.type === "mode") this.draft.set(path, await this.#ofDirectory(place), now);
      else await this.#set(path, now);
    }
  }

  async #set(path: string, now: ChangedNode): Promise<void> {
    const was = await this.#before(path);
    // A file that only gets other bits has the content of below, which may be known.
    const isBelow = now.type === "file" && !(now.content instanceof Uint8Array) && now.content.path === path;
    const content = isBelow && was?.type === "file" ? was.bytes : null;
    this.draft.set(path, was, content === null || now.type !== "file" ? now : { ...now, content });
  }

  /** Returns what a directory was before its bits are changed. What is in it stays, and is not looked at. */
  async #ofDirectory({ path, stat }: OverlayPlace): Promise<Known> {
    return this.draft.get(path)?.was ?? { type: "dir", stat: stat as FsStat, tree: NO_TREE };
  }

  /** Returns what a path was below before its first change. */
  async #before(path: string): Promise<Known> {
    const known = this.draft.get(path);
    if (known !== undefined && known.now.type !== "mode") return known.was;
    const found = await this.lookBelow(path);
    return found?.type === "dir" ? { ...found, tree: await this.treeBelow(path) } : found;
  }

  /** Returns what a path is below now. A file that still has the version of `known` is not read again. */
  async lookBelow(path: string, known: Known = null): Promise<Known> {
    const stat = await this.below(path);
    if (stat === null) return null;
    if (stat.type === "dir") return { type: "dir", stat, tree: NO_TREE };
    const version = await this.#versionOf(stat);
    if (stat.type !== "file") return { type: "other", stat, version };
    if (known?.type === "file" && known.version === version) return { ...known, stat };
    if (!this.#keepsContents) return unread(stat, version);
    if (stat.size > MAX_KEPT_BYTES)
      return { type: "file", stat, bytes: null, ...(await this.lower.hash(path)) };
    // A secret may be replaced and not read: its version stands for its content.
    const found = await this.lower.read(path).catch(nullIfKept);
    return found === null ? unread(stat, version) : fileOf(stat, found.version, found.bytes);
  }

  /** Returns what the overlay has at a changed path, in the form of {@link lookBelow}. */
  async shown({ was, now }: ChangedPath): Promise<Known> {
    switch (now.type) {
      case "mode":
        return was && { ...was, stat: { ...was.stat, mode: now.mode } };
      case "dir":
        return { type: "dir", stat: now.stat, tree: NO_TREE };
      case "symlink":
        return { type: "other", stat: now.stat, version: `symlink:${now.target}` };
      case "file":
        return fileOf(now.stat, now.stat.version ?? "", await this.content(now));
      default:
        return null;
    }
  }

  /** Forgets changes that the lower backend has now; those that were made meanwhile begin with it. */
  forget(merged: DraftState): Promise<void> {
    return this.draft.forget(merged, async (path, one, present): Promise<Known> => {
      // A directory that was removed meanwhile was looked at then.
      if (one.now.type === "mode" && present.now.type !== "mode") return present.was;
      const shown = await this.shown(one);
      return shown?.type === "file" ? { ...shown, version: (await this.versionBelow(path)) ?? "" } : shown;
    });
  }

  /** Returns what is below a lower directory. */
  async treeBelow(path: string): Promise<LowerTree> {
    const files = new Map<string, string>();
    const directories: string[] = [];
    for await (const entry of walkTree(this.lower, path)) {
      if (entry.isDir) {
        directories.push(entry.path);
        continue;
      }
      const known = entry.size !== undefined && entry.mtime !== undefined;
      const { size, mtime } = known ? entry : await this.lower.lstat(entry.path);
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
    return there && this.#versionOf(there);
  }

  async #versionOf({ path, type, target, version }: FsStat): Promise<string> {
    if (type === "dir") return DIRECTORY_VERSION;
    if (type !== "file") return `${type}:${target}`;
    return (
      version ?? (await this.lower.stat(path)).version ?? engine().sha256(await this.lower.readBytes(path))
    );
  }

  /** Returns the entry of the lower backend at a path, whatever was changed here. */
  async below(path: string): Promise<FsStat | null> {
    const isElsewhere = this.draft.isCovered(parentOf(path)) && (await this.#isLinkedBelow(parentOf(path)));
    return isElsewhere ? null : lstatOrNull(this.lower, path);
  }

  /** Returns true where a link below, which a directory has replaced here, leads from a path to another place. */
  async #isLinkedBelow(path: string): Promise<boolean> {
    try {
      return (await this.lower.realpath(path)) !== path;
    } catch (error) {
      if (error instanceof FilewrightError && NO_PLACE.has(error.code)) return true;
      throw error;
    }
  }

  /** Returns the entry at a real path, or null. */
  async at(path: string): Promise<FsStat | null> {
    const node = this.draft.node(path);
    if (node === null) return null;
    if (node !== undefined) return node.stat;
    if (this.draft.isCovered(path)) return null;
    const below = await this.below(path);
    const mode = givenMode(this.draft.get(path));
    return below === null || mode === undefined ? below : Object.freeze({ ...below, mode });
  }

  /** Returns the entries of a directory at a real path, in any order. */
  async entries(real: string, options?: ListOptions): Promise<readonly FsEntry[]> {
    const entries = new Map<string, FsEntry>();
    if (!this.draft.isCovered(real))
      for (const entry of await this.lower.listDir(real, options)) entries.set(entry.name, entry);
    for (const [path, node] of this.draft.nodes(real)) {
      if (parentOf(path) !== real) continue;
      if (node === null) entries.delete(nameOf(path));
      else entries.set(nameOf(path), entryOfStat(node.stat));
    }
    return [...entries.values()];
  }

  /** Returns the content of a file at a real path. @throws NOT_FOUND, CONFLICT */
  async bytes(real: string): Promise<Uint8Array> {
    if (!this.draft.isCovered(real)) return this.lower.readBytes(real);
    const node = this.draft.node(real);
    if (node?.type !== "file") throw backendError("NOT_FOUND", real);
    return this.content(node);
  }

  /**
   * Returns the content of a copy of a lower file, or the file itself. A fork reads it at once, because its parent may
   * change the source. A large file, and any file in another overlay, is read when it is needed.
   */
  async copied(source: string, facts: FsStat): Promise<Uint8Array | FsStat> {
    const isRead = this.#keepsContents && facts.size <= MAX_EAGER_COPY_BYTES;
    return isRead ? this.lower.readBytes(source) : facts;
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
    if (!this.draft.hasLinks) {
      if (!this.lower.abilities.links) return path;
      if (!this.draft.isCovered(path)) {
        const below = await this.#realBelow(path, follow);
        // A lower link may lead through a changed path: then it is followed name by name.
        if (below !== undefined && (below === path || this.draft.isEmpty)) return below;
      }
    }
    const look = (at: string, isLast: boolean): Promise<FoundEntry | null> => this.#step(at, isLast);
    return resolveLinks(path, { follow, look, keepMissingDirectory });
  }

  /** Resolves a path in the lower backend; undefined where a change may alter the result. */
  async #realBelow(path: string, follow: boolean): Promise<string | undefined> {
    const resolved = follow ? path : parentOf(path);
    try {
      const real = await this.lower.realpath(resolved);
      return follow ? real : childOf(real, nameOf(path));
    } catch (error) {
      if (!(error instanceof FilewrightError)) throw error;
      // Directories above a root may not be read; a root is a real path.
      if (error.code === "OUTSIDE_ALLOWED" && !follow) return path;
      if (!this.draft.isEmpty && ["NOT_FOUND", "NOT_DIRECTORY", "LOOP"].includes(error.code))
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
      return { type: "symlink", target: stat.target ?? (await this.lower.readLink(at)) };
    } catch (error) {
      if (!isLast && error instanceof FilewrightError && error.code === "OUTSIDE_ALLOWED")
        return { type: "dir" };
      throw error;
    }
  }

  /**
   * Returns the content of a changed file. @throws CONFLICT where the source of a copy has changed
   * meanwhile
   */
  async content(node: ChangedNode & { readonly type: "file" }): Promise<Uint8Array> {
    if (node.content instanceof Uint8Array) return node.content;
    const { path, version } = node.content;
    const bytes = await this.lower.readBytes(path);
    if (version !== undefined && (await this.versionBelow(path)) !== version)
      throw backendError("CONFLICT", path, "what was copied has changed since");
    return bytes;
  }
}

/** Returns a file with its content, unless that is large. */
function fileOf(stat: FsStat, version: string, bytes: Uint8Array): Known {
  const kept = bytes.length > MAX_KEPT_BYTES ? null : bytes;
  return { type: "file", stat, version, hash: engine().sha256(bytes), bytes: kept };
}

/** Returns a file whose content is not read. */
function unread(stat: FsStat, version: string): Known {
  return { type: "file", stat, version, hash: `unread ${version}`, bytes: null };
}

/** Returns null for the error of a file that may not be read without a grant, and throws any other. */
export function nullIfKept(error: unknown): null {
  if (error instanceof FilewrightError && UNREADABLE.has(error.code)) return null;
  throw error;
}

const NO_PLACE: ReadonlySet<string> = new Set(["NOT_FOUND", "NOT_DIRECTORY", "LOOP", "OUTSIDE_ALLOWED"]);
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
