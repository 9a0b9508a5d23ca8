/**
 * Directories and files that are held while they are used, so that a path cannot lead elsewhere between its check
 * and its use.
 *
 * Paths are real ones, of which no name may be a link; only {@link realPathOf} takes others. On Linux the kernel
 * says under which path an open descriptor lies (`/proc/self/fd/N`), and names are reached through the descriptor
 * of their directory: what was checked is what is used. Where procfs is missing, identity and real path are compared
 * when a directory is pinned and again by `verify`, which leaves the time between as a window; what
 * {@link PinnedEntry.pin} returns is compared only when it is pinned.
 */
import { type BigIntStats, constants } from "node:fs";
import * as fs from "node:fs";
import { backendError } from "../failure.ts";
import { hasNameEscape } from "../name-escapes.ts";
import { nameOf, parentOf } from "../paths.ts";
import { notRegular, osError, pathChanged, systemErrorName } from "./errors.node.ts";
import { isSameEntry, isSameState } from "./facts.node.ts";
import { type HostPath, hostPath, isTopPath, pathOfHostBytes } from "./host-path.node.ts";

/** Flags that exist only on some systems; 0 elsewhere. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0, O_DIRECTORY = 0 } = constants;
/** The flag of Linux that opens an entry without access to its content. `node:fs` does not name it. */
const O_PATH = 0o10000000;
const DESCRIPTORS = descriptorFolder();
/** The suffix that procfs adds to the path of an entry that has been removed. */
const DELETED = " (deleted)";
/** The option of `node:fs` for facts with nanoseconds. */
const BIGINT = { bigint: true } as const;

/** The flags for the content of a file: never a link, never waiting for the other end of a FIFO. */
const READ_FLAGS: number = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
/** The flags for a file that is rewritten in place. */
export const REWRITE_FLAGS: number = constants.O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

/**
 * Returns the directory in which procfs has the descriptors of this process. Its name without a link is faster, but
 * procfs can belong to another namespace, where this process has another number.
 */
function descriptorFolder(): string {
  try {
    if (fs.readlinkSync("/proc/self") === String(process.pid)) return `/proc/${process.pid}/fd`;
  } catch {
    // Where procfs is missing, directories are not held by descriptors.
  }
  return "/proc/self/fd";
}

/** How this process holds directories: by a descriptor that the kernel names, or by comparing. */
export type PinMode = "descriptor" | "compare";

/** Returns true when the kernel tells the path of a descriptor and lets names be reached through it. */
function hasNamedDescriptors(): boolean {
  if (process.platform !== "linux") return false;
  try {
    const fd = fs.openSync("/", O_PATH | O_DIRECTORY | O_NOFOLLOW);
    try {
      const through = fs.statSync(`${DESCRIPTORS}/${fd}/.`, BIGINT);
      return (
        fs.readlinkSync(`${DESCRIPTORS}/${fd}`) === "/" && isSameEntry(through, fs.fstatSync(fd, BIGINT))
      );
    } finally {
      fs.closeSync(fd);
    }
  } catch {
    return false;
  }
}

let mode: PinMode = hasNamedDescriptors() ? "descriptor" : "compare";

/** Returns how this process holds directories. */
export function pinMode(): PinMode {
  return mode;
}

/** Chooses how directories are held, for tests of the portable way. Returns what was chosen before. */
export function setPinMode(next: PinMode): PinMode {
  const before = mode;
  mode = next;
  return before;
}

/** Returns the path under which the kernel knows a descriptor. */
function pathOfDescriptor(fd: number): string {
  return pathOfHostBytes(fs.readlinkSync(`${DESCRIPTORS}/${fd}`, { encoding: "buffer" }));
}

/** Returns true when the kernel knows a descriptor under this path. */
function isPathOfDescriptor(fd: number, path: string): boolean {
  // A text without this character has been read without loss, and most paths are such.
  const text = fs.readlinkSync(`${DESCRIPTORS}/${fd}`);
  return (text === path && !text.includes("\ufffd") && !hasNameEscape(text)) || pathOfDescriptor(fd) === path;
}

/** Returns the facts about a real path. @throws CONFLICT when a name of it is a link */
function comparedFacts(path: string): BigIntStats {
  try {
    const facts = fs.lstatSync(hostPath(path), BIGINT);
    if (facts.isSymbolicLink() || realPathOf(path) !== path) throw pathChanged(path);
    return facts;
  } catch (error) {
    throw osError(error, path);
  }
}

/**
 * Returns the path with all links resolved, as the system knows it. @throws the exception of `node:fs` when it does
 * not exist
 */
export function realPathOf(path: string): string {
  if (mode === "descriptor") {
    const fd = fs.openSync(hostPath(path), O_PATH);
    try {
      const real = pathOfDescriptor(fd);
      if (!real.endsWith(DELETED)) return real;
    } finally {
      closeQuietly(fd);
    }
  }
  return pathOfHostBytes(fs.realpathSync.native(hostPath(path), { encoding: "buffer" }) as Buffer);
}

/** A held directory. The caller closes it. */
export class PinnedDirectory {
  /** The real path of the directory. */
  readonly path: string;
  readonly #base: string;
  /** The descriptor that holds it; undefined where it is compared. */
  readonly #fd: number | undefined;
  #facts: BigIntStats | undefined;

  constructor(path: string, by: number | BigIntStats) {
    this.path = path;
    this.#fd = typeof by === "number" ? by : undefined;
    this.#facts = typeof by === "number" ? undefined : by;
    this.#base = typeof by === "number" ? `${DESCRIPTORS}/${by}/` : path === "/" ? path : `${path}/`;
  }

  /** The facts about the directory, by which it is told from others. They are read while it is held. */
  get facts(): BigIntStats {
    // Few callers need them, and each call of the system counts where thousands of directories are held in turn.
    this.#facts ??= fs.fstatSync(this.#fd as number, BIGINT);
    return this.#facts;
  }

  /** Returns the path under which the system reaches an entry of the directory. */
  at(name: string): HostPath {
    return hostPath(this.#base + name);
  }

  /** Returns an entry by its name; the directory itself by `.`. */
  entry(name: string): PinnedEntry {
    return new PinnedEntry(this, name);
  }

  /** @throws CONFLICT when the path has come to lead elsewhere; never where a descriptor holds the directory */
  verify(): void {
    if (this.#fd === undefined && !isSameEntry(comparedFacts(this.path), this.facts))
      throw pathChanged(this.path);
  }

  close(): void {
    if (this.#fd !== undefined) closeQuietly(this.#fd);
  }
}

/** Closes a descriptor by which nothing was written that stays. It never fails, because it can come after a change. */
export function closeQuietly(fd: number): void {
  try {
    fs.closeSync(fd);
  } catch {
    // Linux has closed it all the same.
  }
}

/** An entry of a held directory, whether it exists or not. */
export class PinnedEntry {
  readonly directory: PinnedDirectory;
  readonly name: string;

  constructor(directory: PinnedDirectory, name: string) {
    this.directory = directory;
    this.name = name;
  }

  /** The real path of the entry. */
  get path(): string {
    const { path } = this.directory;
    return this.isTop ? path : `${path === "/" ? "" : path}/${this.name}`;
  }

  /** True for the root or a drive, which no directory contains: the entry is then the directory itself. */
  get isTop(): boolean {
    return this.name === ".";
  }

  /** The path under which the system reaches the entry. */
  get at(): HostPath {
    return this.directory.at(this.name);
  }

  /** Returns the facts about the entry, a link not followed; undefined when it does not exist. */
  facts(): BigIntStats | undefined {
    return fs.lstatSync(this.at, { bigint: true, throwIfNoEntry: false });
  }

  /** Returns the facts about an entry that is removed or moved. @throws NOT_FOUND, PROTECTED_PATH for the root */
  existing(): BigIntStats {
    if (this.isTop)
      throw backendError("PROTECTED_PATH", this.path, "a root cannot be moved, replaced or deleted");
    const facts = this.facts();
    if (facts === undefined) throw backendError("NOT_FOUND", this.path);
    return facts;
  }

  /**
   * Returns the facts as they are now. @throws CONFLICT of `pathChanged` unless they are of the same entry, with
   * `state` in the same state
   */
  still(before: BigIntStats, state: boolean = false): BigIntStats {
    const now = this.facts();
    if (now === undefined || !(state ? isSameState : isSameEntry)(now, before)) throw pathChanged(this.path);
    return now;
  }

  /** Returns another entry of the same directory. */
  sibling(name: string): PinnedEntry {
    return new PinnedEntry(this.directory, name);
  }

  /** Holds the entry as a directory, without following a link. */
  pin(): PinnedDirectory {
    if (mode === "compare") return pinDirectory(this.path);
    // The parent is held and no link is followed, so the path of the descriptor need not be compared.
    return new PinnedDirectory(this.path, openDirectory(this.path, this.at));
  }
}

/**
 * Holds a directory by its real path.
 * @throws CONFLICT of `pathChanged` when the path leads elsewhere; NOT_FOUND, NOT_DIRECTORY
 */
export function pinDirectory(path: string): PinnedDirectory {
  if (mode === "compare") {
    const facts = comparedFacts(path);
    if (!facts.isDirectory()) throw osError(systemError("ENOTDIR"), path);
    return new PinnedDirectory(path, facts);
  }
  const fd = openDirectory(path, hostPath(path));
  try {
    if (!isPathOfDescriptor(fd, path)) throw pathChanged(path);
    return new PinnedDirectory(path, fd);
  } catch (error) {
    closeQuietly(fd);
    throw osError(error, path);
  }
}

function openDirectory(path: string, place: HostPath): number {
  try {
    return fs.openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    // A link in its place means that the path has changed.
    const name = systemErrorName(error);
    const isLink = (): boolean => fs.lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    throw name === "ELOOP" || (name === "ENOTDIR" && isLink()) ? pathChanged(path) : osError(error, path);
  }
}

function systemError(code: "ENOTDIR" | "EISDIR"): Error {
  return Object.assign(new Error(code), { code, syscall: "open" });
}

/**
 * Runs a function on the entry at a real path while its directory is held, and verifies the directory afterwards.
 * Errors of the system are about the path.
 */
export async function atEntry<T>(path: string, run: (entry: PinnedEntry) => T | Promise<T>): Promise<T> {
  const isTop = isTopPath(path);
  const directory = pinDirectory(isTop ? path : parentOf(path));
  return whileHeld(directory, path, () => run(directory.entry(isTop ? "." : nameOf(path))));
}

/** Runs a function on a held directory, verifies the directory afterwards, and closes it. Errors are about `path`. */
export async function whileHeld<T>(
  directory: PinnedDirectory,
  path: string,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    const result = await run();
    directory.verify();
    return result;
  } catch (error) {
    throw osError(error, path);
  } finally {
    directory.close();
  }
}

/** An open regular file. */
export interface PinnedFile {
  readonly fd: number;
  readonly facts: BigIntStats;
}

/**
 * Opens a regular file by its real path. The caller closes it. A device is not opened at all, because opening some
 * devices has an effect.
 * @throws CONFLICT of `pathChanged`; IS_DIRECTORY, NOT_REGULAR_FILE, NOT_FOUND
 */
export function openFile(path: string): PinnedFile {
  try {
    return mode === "compare" ? openComparing(path) : openByDescriptor(path);
  } catch (error) {
    throw systemErrorName(error) === "ELOOP" ? pathChanged(path) : osError(error, path);
  }
}

/** Holds a file without access to its content, and opens that once its path and its type are those that are wanted. */
function openByDescriptor(path: string): PinnedFile {
  let held: number;
  try {
    held = fs.openSync(hostPath(path), O_PATH | O_NOFOLLOW);
  } catch (error) {
    // Where a directory of the path has become a link, the error says nothing about its target.
    pinDirectory(parentOf(path)).close();
    throw error;
  }
  try {
    if (!isPathOfDescriptor(held, path)) throw pathChanged(path);
    const facts = fs.fstatSync(held, BIGINT);
    checkRegular(facts, path);
    return { fd: fs.openSync(`${DESCRIPTORS}/${held}`, READ_FLAGS & ~O_NOFOLLOW), facts };
  } finally {
    closeQuietly(held);
  }
}

function openComparing(path: string): PinnedFile {
  checkRegular(fs.lstatSync(hostPath(path), BIGINT), path);
  comparedFacts(parentOf(path));
  const file = openIn(path, hostPath(path), READ_FLAGS);
  try {
    if (!isSameEntry(comparedFacts(path), file.facts)) throw pathChanged(path);
    return file;
  } catch (error) {
    closeQuietly(file.fd);
    throw error;
  }
}

/**
 * Opens a regular file in a held directory. The caller closes it.
 * @throws CONFLICT for a link, IS_DIRECTORY, NOT_REGULAR_FILE, and exceptions of `node:fs` as they are
 */
export function openFileIn(entry: PinnedEntry, flags: number = READ_FLAGS): PinnedFile {
  return openIn(entry.path, entry.at, flags);
}

function openIn(path: string, place: HostPath, flags: number): PinnedFile {
  let fd: number;
  try {
    fd = fs.openSync(place, flags);
  } catch (error) {
    throw systemErrorName(error) === "ELOOP" ? pathChanged(path) : error;
  }
  try {
    const facts = fs.fstatSync(fd, BIGINT);
    checkRegular(facts, path);
    return { fd, facts };
  } catch (error) {
    closeQuietly(fd);
    throw error;
  }
}

/**
 * Sets the permission bits of an entry, if it is the one with these facts. A descriptor without access to the content
 * needs no read permission, but is changed through procfs only.
 */
export function setPermissions(entry: PinnedEntry, facts: BigIntStats, bits: number): void {
  const fd = fs.openSync(entry.at, mode === "compare" ? READ_FLAGS : O_PATH | O_NOFOLLOW);
  try {
    if (!isSameEntry(fs.fstatSync(fd, BIGINT), facts)) throw pathChanged(entry.path);
    if (mode === "compare") fs.fchmodSync(fd, bits);
    else fs.chmodSync(`${DESCRIPTORS}/${fd}`, bits);
  } finally {
    closeQuietly(fd);
  }
}

/** @throws IS_DIRECTORY, NOT_REGULAR_FILE, or CONFLICT for a link */
function checkRegular(facts: BigIntStats, path: string): void {
  if (facts.isFile()) return;
  if (facts.isSymbolicLink()) throw pathChanged(path);
  throw facts.isDirectory() ? osError(systemError("EISDIR"), path) : notRegular(path);
}
