/**
 * Locks between processes without the native addon, in the same directory as those of the addon.
 *
 * A lock is a directory named like the lock file of the addon, with one file in it whose name identifies the
 * holder. It appears by renaming a prepared directory, which fails while another holder's file is in the way, so
 * exactly one process gets it. Each kind sees the other's locks: to the addon a directory is no lock file that it
 * could open, which `local/lock.node.ts` reads as held, and here a file in the place of the directory counts as held.
 *
 * A holder that has ended, a process or a worker thread, is recognised by its pid and start time; one of another boot,
 * machine or container, and a worker where threads have no pids, by a file that it has not touched for
 * {@link MAX_SILENCE_MS}.
 */
import { createHash, randomBytes } from "node:crypto";
import * as fs from "node:fs";
import { join } from "node:path";
import type { LockHandle } from "../backend.ts";
import { backendError } from "../failure.ts";
import { systemErrorName, withOsErrors } from "./errors.node.ts";
import { bytesOfPath } from "./host-path.node.ts";
import { hasEnded, ownThreadIdentity, type ProcessIdentity } from "./process-identity.node.ts";

/** The time between two touches of the files of held locks, in milliseconds. */
const TOUCH_INTERVAL_MS = 20_000;
/** The time without a touch after which a holder of another realm counts as ended, in milliseconds. */
const MAX_SILENCE_MS = 300_000;

/** The content of the file of a holder. */
const TOUCH = "\n";

/** The files of the locks that this process holds. */
const heldFiles = new Set<string>();
let touchTimer: NodeJS.Timeout | undefined;

/** Opens the directory of locks in a state directory. @throws INVALID_ARGUMENT when others may write in one of them */
export function openLockDirectory(stateDir: string): string {
  const directory = join(stateDir, "locks");
  withOsErrors(directory, () => {
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    assertPrivate(directory, fs.lstatSync(directory));
  });
  assertPrivateStateDirectory(stateDir);
  removeLeftovers(directory);
  return directory;
}

/**
 * Checks a state directory itself: who can write in it can rename its directory of locks.
 * @throws INVALID_ARGUMENT when others may write in it
 */
export function assertPrivateStateDirectory(stateDir: string): void {
  withOsErrors(stateDir, () => assertPrivate(stateDir, fs.statSync(stateDir)));
}

function assertPrivate(directory: string, facts: fs.Stats): void {
  const own = process.getuid?.();
  if (own === undefined) return; // On this platform permissions are not in the mode.
  const ours = facts.uid === own || own === 0;
  if (!facts.isDirectory() || !ours || (facts.mode & 0o022) !== 0)
    throw backendError(
      "INVALID_ARGUMENT",
      directory,
      "the state directory is not ours, or others may write in it",
    );
}

/** The prefix of a prepared directory that is not yet a lock. */
const PREPARED_PREFIX = ".prepared-";
/** The text between the name of a lock and that of a file by which the clock of the file system is read. */
const CLOCK_INFIX = ".clock-";

/** Removes what processes left that ended while they took a lock. */
function removeLeftovers(directory: string): void {
  for (const name of fs.readdirSync(directory)) {
    const holder = name.startsWith(PREPARED_PREFIX)
      ? name.slice(PREPARED_PREFIX.length)
      : name.split(CLOCK_INFIX)[1];
    const identity = holder === undefined ? undefined : identityOfHolder(holder);
    if (identity !== undefined && hasEnded(identity) === true)
      fs.rmSync(join(directory, name), { recursive: true, force: true });
  }
}

/** Takes the lock of a name without waiting. Returns null when another process holds it. */
export function tryLockByName(directory: string, name: string): LockHandle | null {
  const place = join(directory, lockFileName(name));
  return withOsErrors(directory, () => {
    const holder = holderFileName();
    const prepared = join(directory, PREPARED_PREFIX + holder);
    fs.mkdirSync(prepared, { mode: 0o700 });
    try {
      // The byte is there from the beginning, so that a touch needs no space.
      fs.writeFileSync(join(prepared, holder), TOUCH, { flag: "wx", mode: 0o600 });
      if (!takeOver(prepared, place)) return null;
    } finally {
      // Gone when it was renamed.
      fs.rmSync(prepared, { recursive: true, force: true });
    }
    return heldLock(place, join(place, holder));
  });
}

/** Renames the prepared directory to the place of the lock. Returns false when another process holds it. */
function takeOver(prepared: string, place: string): boolean {
  for (let mayRetry = true; ; mayRetry = false) {
    try {
      // On Windows a rename replaces no directory. An empty one belongs to a holder that is just releasing the lock.
      if (process.platform === "win32") removeIfEmpty(place);
      fs.renameSync(prepared, place);
      return true;
    } catch (error) {
      const code = systemErrorName(error);
      // A file in the way is a lock of the addon.
      if (code === "ENOTDIR") return false;
      const taken =
        code === "ENOTEMPTY" || code === "EEXIST" || (process.platform === "win32" && code === "EPERM");
      if (!taken) throw error;
      if (!mayRetry || !removeEndedHolder(place)) return false;
    }
  }
}

/**
 * Removes the file of a holder that has ended from a lock. Returns true when the lock can be tried again. Two
 * processes may do so at once: the names of holders are never used twice, so neither removes the other's.
 */
export function removeEndedHolder(place: string): boolean {
  let names: readonly string[];
  try {
    names = fs.readdirSync(place);
  } catch {
    return true; // It was released meanwhile, or is a file, which the next attempt tells.
  }
  for (const name of names) {
    const identity = identityOfHolder(name);
    if (identity === undefined) return false;
    const file = join(place, name);
    const ended = hasEnded(identity) ?? isSilent(place, file);
    if (!ended) return false;
    fs.rmSync(file, { force: true });
  }
  removeIfEmpty(place);
  return true;
}

/** Returns true when the file of a holder was not touched for long, by the clock of its own file system. */
function isSilent(place: string, file: string): boolean {
  const probe = place + CLOCK_INFIX + holderFileName();
  try {
    fs.writeFileSync(probe, "", { flag: "wx", mode: 0o600 });
    const now = fs.statSync(probe).mtimeMs;
    return now - fs.statSync(file).mtimeMs > MAX_SILENCE_MS;
  } catch {
    return false;
  } finally {
    fs.rmSync(probe, { force: true });
  }
}

function heldLock(place: string, file: string): LockHandle {
  heldFiles.add(file);
  touchTimer ??= setInterval(touchHeldFiles, TOUCH_INTERVAL_MS).unref();
  return Object.freeze({
    release() {
      if (!heldFiles.delete(file)) return;
      if (heldFiles.size === 0) {
        clearInterval(touchTimer);
        touchTimer = undefined;
      }
      fs.rmSync(file, { force: true });
      removeIfEmpty(place);
    },
  });
}

/** Writes to the files, so that the clock of the file system sets their times, by which others judge them. */
function touchHeldFiles(): void {
  for (const file of heldFiles) {
    try {
      const fd = fs.openSync(file, "r+");
      try {
        fs.writeSync(fd, TOUCH, 0);
      } finally {
        fs.closeSync(fd);
      }
    } catch {
      // The next touch tries again.
    }
  }
}

function removeIfEmpty(directory: string): void {
  try {
    fs.rmdirSync(directory);
  } catch {
    // Another process has taken it, or removed it already.
  }
}

/** Returns the name of the lock file of a real path, or of any other name, as the addon has it. */
export function lockFileName(name: string): string {
  return createHash("sha256").update(bytesOfPath(name)).digest("hex");
}

function holderFileName(): string {
  const { realm, pid, started } = ownThreadIdentity();
  return `${realm}-${pid.toString(16)}-${started.toString(16)}-${randomBytes(8).toString("hex")}`;
}

const HOLDER_NAME = /^([0-9a-f]{8})-([0-9a-f]{1,8})-([0-9a-f]{1,16})-[0-9a-f]{16}$/;

function identityOfHolder(name: string): ProcessIdentity | undefined {
  const parts = HOLDER_NAME.exec(name);
  if (parts === null) return undefined;
  const [, realm, pid, started] = parts as unknown as readonly [string, string, string, string];
  return { realm, pid: Number.parseInt(pid, 16), started: Number.parseInt(started, 16) };
}
