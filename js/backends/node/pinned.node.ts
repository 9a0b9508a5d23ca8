/**
 * Directories and files that are held while they are used, so that a path cannot lead elsewhere between its check
 * and its use.
 *
 * Paths are real ones, of which no name may be a link; only {@link realPathOf} takes others. On Linux the kernel
 * says under which path an open descriptor lies (`/proc/self/fd/N`), and names are reached through the descriptor
 * of their directory: what was checked is what is used. Where procfs is missing, identity and real path are compared when a directory is pinned and
 * again by `verify`, which leaves the time between as a window; what {@link pinBelow} returns is compared only when
 * it is pinned.
 */
import { type BigIntStats, constants } from "node:fs";
import * as fs from "node:fs";
import process from "node:process";
import { hasNameEscape } from "../name-escapes.ts";
import { nameOf, parentOf } from "../paths.ts";
import { notRegular, osError, pathChanged, systemErrorName } from "./errors.node.ts";
import { isSameEntry } from "./facts.node.ts";
import { type HostPath, hostPath, isTopPath, pathOfHostBytes } from "./host-path.node.ts";

/** Flags that exist only on some systems; 0 elsewhere. */
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0, O_DIRECTORY = 0 } = constants;
/** The flag of Linux that opens an entry without access to its content. `node:fs` does not name it. */
const O_PATH = 0o10000000;
const DESCRIPTORS = descriptorFolder();
/** The suffix that procfs adds to the path of an entry that has been removed. */
const DELETED = " (deleted)";

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
      const through = fs.statSync(`${DESCRIPTORS}/${fd}/.`, { bigint: true });
      return (
        fs.readlinkSync(`${DESCRIPTORS}/${fd}`) === "/" &&
        isSameEntry(through, fs.fstatSync(fd, { bigint: true }))
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

/** A held directory. */
export interface PinnedDirectory {
  /** The real path of the directory. */
  readonly path: string;
  /** The facts about the directory, by which it is told from others. They are read while it is held. */
  readonly facts: BigIntStats;
  /** Returns the path under which the system reaches an entry of the directory. */
  at(name: string): HostPath;
  /** @throws CONFLICT when the path has come to lead elsewhere; never where a descriptor holds the directory */
  verify(): void;
  close(): void;
}

/**
 * Holds a directory by its real path.
 * @throws CONFLICT of `pathChanged` when the path leads elsewhere; NOT_FOUND, NOT_DIRECTORY
 */
export function pinDirectory(path: string): PinnedDirectory {
  return mode === "descriptor" ? pinByDescriptor(path, hostPath(path), true) : pinByComparing(path);
}

/** Returns the path of an entry of a held directory. */
function pathIn({ path }: PinnedDirectory, name: string): string {
  return path === "/" ? `/${name}` : `${path}/${name}`;
}

/** Holds a directory in a held one, without following a link. */
export function pinBelow(parent: PinnedDirectory, name: string): PinnedDirectory {
  const path = pathIn(parent, name);
  if (mode === "compare") return pinByComparing(path);
  // The parent is held and no link is followed, so the path of the descriptor need not be compared.
  return pinByDescriptor(path, parent.at(name), false);
}

function pinByDescriptor(path: string, place: HostPath, compare: boolean): PinnedDirectory {
  let fd: number;
  try {
    fd = fs.openSync(place, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    throw directoryError(error, place, path);
  }
  try {
    if (compare && !isPathOfDescriptor(fd, path)) throw pathChanged(path);
    const base = `${DESCRIPTORS}/${fd}/`;
    let facts: BigIntStats | undefined;
    return {
      path,
      // Few callers need them, and each call of the system counts where thousands of directories are held in turn.
      get facts() {
        facts ??= fs.fstatSync(fd, { bigint: true });
        return facts;
      },
      at: (name) => hostPath(base + name),
      verify: () => undefined,
      close: () => fs.closeSync(fd),
    };
  } catch (error) {
    fs.closeSync(fd);
    throw osError(error, path);
  }
}

/** Returns the error of opening a directory. A link in its place means that the path has changed. */
function directoryError(error: unknown, place: HostPath, path: string): unknown {
  const name = systemErrorName(error);
  if (name === "ELOOP") return pathChanged(path);
  if (name === "ENOTDIR" && fs.lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    return pathChanged(path);
  return osError(error, path);
}

function pinByComparing(path: string): PinnedDirectory {
  const facts = comparedFacts(path);
  if (!facts.isDirectory())
    throw osError(Object.assign(new Error(), { code: "ENOTDIR", syscall: "open" }), path);
  const base = path === "/" ? "/" : `${path}/`;
  return {
    path,
    facts,
    at: (name) => hostPath(base + name),
    verify: () => {
      if (!isSameEntry(comparedFacts(path), facts)) throw pathChanged(path);
    },
    close: () => undefined,
  };
}

/** Returns the facts about a real path. @throws CONFLICT when a name of it is a link */
function comparedFacts(path: string): BigIntStats {
  try {
    const facts = fs.lstatSync(hostPath(path), { bigint: true });
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
  if (mode === "compare")
    return pathOfHostBytes(fs.realpathSync.native(hostPath(path), { encoding: "buffer" }) as Buffer);
  const fd = fs.openSync(hostPath(path), O_PATH);
  try {
    const real = pathOfDescriptor(fd);
    if (!real.endsWith(DELETED)) return real;
  } finally {
    fs.closeSync(fd);
  }
  return pathOfHostBytes(fs.realpathSync.native(hostPath(path), { encoding: "buffer" }) as Buffer);
}

/** Runs a function on the directory that contains a real path, and on the name there; `.` for the root or a drive. */
export function inParent<T>(path: string, run: (directory: PinnedDirectory, name: string) => T): T {
  const directory = pinDirectory(isTopPath(path) ? path : parentOf(path));
  try {
    const result = run(directory, isTopPath(path) ? "." : nameOf(path));
    directory.verify();
    return result;
  } catch (error) {
    throw osError(error, path);
  } finally {
    directory.close();
  }
}

/** Like {@link inParent}, for a function that returns a promise. */
export async function inParentAsync<T>(
  path: string,
  run: (directory: PinnedDirectory, name: string) => Promise<T>,
): Promise<T> {
  const directory = pinDirectory(isTopPath(path) ? path : parentOf(path));
  return whileHeld(directory, path, () => run(directory, isTopPath(path) ? "." : nameOf(path)));
}

/** Runs a function on a held directory, verifies the directory afterwards, and closes it. Errors are about `path`. */
export async function whileHeld<T>(
  directory: PinnedDirectory,
  path: string,
  run: () => Promise<T>,
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

/** Returns the facts about an entry of a held directory, a link not followed; undefined when it does not exist. */
export function factsIn(directory: PinnedDirectory, name: string): BigIntStats | undefined {
  return fs.lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

/** An open regular file. */
export interface PinnedFile {
  readonly fd: number;
  readonly facts: BigIntStats;
}

/**
 * Opens a regular file by its real path. The caller closes it.
 * @throws CONFLICT of `pathChanged`; IS_DIRECTORY, NOT_REGULAR_FILE, NOT_FOUND
 */
export function openFile(path: string): PinnedFile {
  if (mode === "compare") return openComparing(path);
  return inParent(path, (directory, name) => {
    // A device is not opened at all, because opening some devices has an effect.
    checkRegular(fs.lstatSync(directory.at(name), { bigint: true }), path);
    return openFileIn(directory, name);
  });
}

function openComparing(path: string): PinnedFile {
  const place = hostPath(path);
  let fd: number | undefined;
  try {
    // A device is not opened at all, because opening some devices has an effect.
    const before = fs.lstatSync(place, { bigint: true });
    checkRegular(before, path);
    comparedFacts(parentOf(path));
    fd = fs.openSync(place, READ_FLAGS);
    const facts = fs.fstatSync(fd, { bigint: true });
    checkRegular(facts, path);
    if (!isSameEntry(comparedFacts(path), facts)) throw pathChanged(path);
    return { fd, facts };
  } catch (error) {
    if (fd !== undefined) fs.closeSync(fd);
    throw systemErrorName(error) === "ELOOP" ? pathChanged(path) : osError(error, path);
  }
}

/**
 * Opens a regular file in a held directory. The caller closes it.
 * @throws CONFLICT for a link, IS_DIRECTORY, NOT_REGULAR_FILE, and exceptions of `node:fs` as they are
 */
export function openFileIn(directory: PinnedDirectory, name: string, flags: number = READ_FLAGS): PinnedFile {
  const path = pathIn(directory, name);
  let fd: number;
  try {
    fd = fs.openSync(directory.at(name), flags);
  } catch (error) {
    throw systemErrorName(error) === "ELOOP" ? pathChanged(path) : error;
  }
  try {
    const facts = fs.fstatSync(fd, { bigint: true });
    checkRegular(facts, path);
    return { fd, facts };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

/**
 * Returns the flags with which an entry is opened to change its mode, and the path through which its descriptor is
 * changed. A descriptor without access to the content needs no read permission, but is changed through procfs only.
 */
export function flagsForChmod(): { readonly flags: number; readonly through?: (fd: number) => string } {
  if (mode === "compare") return { flags: READ_FLAGS };
  return { flags: O_PATH | O_NOFOLLOW, through: (fd) => `${DESCRIPTORS}/${fd}` };
}

/** @throws IS_DIRECTORY, NOT_REGULAR_FILE, or CONFLICT for a link */
function checkRegular(facts: BigIntStats, path: string): void {
  if (facts.isFile()) return;
  if (facts.isSymbolicLink()) throw pathChanged(path);
  if (facts.isDirectory())
    throw osError(Object.assign(new Error(), { code: "EISDIR", syscall: "read" }), path);
  throw notRegular(path);
}
