/**
 * Locks between processes. They wait on the event loop and not in a thread of the pool, because the holder of the
 * lock could need that thread to finish.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { loadNative, type NativeBinding } from "../../engine/load.node.ts";
import { fromEngine } from "../../engine/errors.ts";
import type { LockHandle } from "../backend.ts";
import { checkSignal, backendError } from "../failure.ts";
import {
  assertPrivateStateDirectory,
  lockFileName,
  openLockDirectory,
  removeEndedHolder,
  tryLockByName,
} from "../node/lock-directory.node.ts";
import { inStateDirectory, stateDirectoryError } from "../state-directory.node.ts";

/** The longest pause between two attempts to take a lock, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 20;

/** A held lock, as the addon or Node gives it. */
type Releasable = Pick<LockHandle, "release">;

/** The locks of a state directory: those of the addon, or of Node where it does not load. */
interface Locks {
  /** Takes a lock by name without waiting. Returns null when another process holds it. */
  tryLock(name: string): Releasable | null;
  /** Closes the directory. Held locks stay held. */
  close(): void;
}

/** The time for which a directory stays open after its last use, in milliseconds. */
const IDLE_MS = 250;
/** The maximum number of directories that are open without a use. */
const MAX_IDLE_DIRECTORIES = 1;

/** An open directory of locks. */
interface OpenDirectory {
  readonly locks: Locks;
  /** Its identity and permissions, by which another one at its path is recognised. */
  readonly facts: string;
  /** The locks of it that are held or waited for. */
  users: number;
}

/**
 * The open directories of locks, by state directory, the one that was used last at the end. Each is open while a lock of
 * it is held or waited for, and a little longer, so that a series of calls opens it once. A process that goes through many
 * state directories keeps the descriptors of a few.
 */
const openByStateDir = new Map<string, OpenDirectory>();
let isClosePlanned = false;

/** Closes the directories without a use, except for the `most` that were used last. */
function closeIdle(most: number): void {
  const idle = [...openByStateDir].filter(([, { users }]) => users === 0);
  for (const [stateDir, { locks }] of idle.slice(0, Math.max(0, idle.length - most))) {
    openByStateDir.delete(stateDir);
    locks.close();
  }
}

/** Closes the directories that are without a use for a while. */
function planClose(): void {
  closeIdle(MAX_IDLE_DIRECTORIES);
  if (isClosePlanned) return;
  isClosePlanned = true;
  const close = (): void => {
    isClosePlanned = false;
    clearTimeout(timer);
    process.removeListener("exit", close);
    closeIdle(0);
  };
  const timer = setTimeout(close, IDLE_MS).unref();
  // The addon does not remove the kept file of a process that ends at once.
  process.once("exit", close);
}

/** Returns the identity and the permissions of the directory of locks. */
function directoryFacts(stateDir: string): string {
  const { dev, ino, mode, uid } = fs.statSync(join(stateDir, "locks"), { throwIfNoEntry: false }) ?? {};
  return `${dev} ${ino} ${mode} ${uid}`;
}

/** Returns the directory that was used before, if it is still the one at its path. One in use is not looked at. */
function openDirectory(stateDir: string): OpenDirectory | undefined {
  const known = openByStateDir.get(stateDir);
  openByStateDir.delete(stateDir);
  if (known === undefined || known.users > 0) return known;
  let isSame = false;
  try {
    isSame = known.facts === directoryFacts(stateDir);
  } finally {
    // It has left the map: nothing else closes it, also after an error.
    if (!isSame) known.locks.close();
  }
  return isSame ? known : undefined;
}

function openAnew(stateDir: string): OpenDirectory {
  const locks = openLocks(stateDir);
  try {
    return { locks, facts: directoryFacts(stateDir), users: 0 };
  } catch (error) {
    locks.close();
    throw error;
  }
}

/** Opens the directory of locks unless it is open. Returns its locks, and a function that ends this use. */
function useLocks(stateDir: string): { readonly locks: Locks; readonly end: () => void } {
  const used = openDirectory(stateDir) ?? openAnew(stateDir);
  openByStateDir.set(stateDir, used);
  used.users += 1;
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    used.users -= 1;
    if (used.users === 0) planClose();
  };
  return { locks: used.locks, end };
}

/**
 * Takes the lock of a real path.
 * @throws LOCK_TIMEOUT, CANCELLED
 */
export async function lockPath(
  stateDir: string,
  real: string,
  path: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<LockHandle> {
  const { timeoutMs, signal } = options;
  const { locks, end } = useLocks(stateDir);
  let lock: Releasable | null = null;
  try {
    const deadline = performance.now() + timeoutMs;
    for (let pause = 1; ; pause = Math.min(pause * 2, MAX_RETRY_PAUSE_MS)) {
      checkSignal(signal, path);
      lock = tryIn(stateDir, locks, real);
      if (lock !== null) return heldUntil(lock, end);
      const left = deadline - performance.now();
      if (left <= 0) {
        throw backendError("LOCK_TIMEOUT", path, "another process holds the lock", {
          hint: "try again when it has finished",
          details: { timeout_ms: timeoutMs },
        });
      }
      await waitOrAbort(Math.min(pause, left), signal);
    }
  } finally {
    if (lock === null) end();
  }
}

/** Takes a lock by name in a state directory. Returns null when another process holds it. */
export function tryLock(stateDir: string, name: string): LockHandle | null {
  const { locks, end } = useLocks(stateDir);
  let lock: Releasable | null = null;
  try {
    lock = tryIn(stateDir, locks, name);
  } finally {
    if (lock === null) end();
  }
  return lock && heldUntil(lock, end);
}

/** Takes a lock of an open directory. Returns null when another process holds it. An error names the directory. */
function tryIn(stateDir: string, locks: Locks, name: string): Releasable | null {
  try {
    return locks.tryLock(name);
  } catch (error) {
    throw stateDirectoryError(stateDir, error);
  }
}

/** Returns the handle of a lock whose release also ends the use of its directory. */
function heldUntil(lock: Releasable, end: () => void): LockHandle {
  return Object.freeze({
    release() {
      try {
        lock.release();
      } finally {
        end();
      }
    },
  });
}

function openLocks(stateDir: string): Locks {
  const loaded = loadNative();
  return inStateDirectory(stateDir, () =>
    "binding" in loaded ? openNativeLocks(loaded.binding, stateDir) : openNodeLocks(stateDir),
  );
}

function openNodeLocks(stateDir: string): Locks {
  const directory = openLockDirectory(stateDir);
  return { tryLock: (name) => tryLockByName(directory, name), close: () => undefined };
}

function openNativeLocks(native: NativeBinding, stateDir: string): Locks {
  const locks = new native.NativeLocks(stateDir);
  try {
    // The addon checks the directory of locks, and not the one that contains it.
    assertPrivateStateDirectory(stateDir);
  } catch (error) {
    locks.close();
    throw error;
  }
  return {
    tryLock: (name) => {
      try {
        return locks.tryLock(name);
      } catch (error) {
        // A directory in the place of the lock file is the lock of a process without the addon.
        if (fromEngine(error).code !== "IS_DIRECTORY") throw error;
      }
      if (!removeEndedHolder(join(stateDir, "locks", lockFileName(name)))) return null;
      try {
        return locks.tryLock(name);
      } catch (error) {
        if (fromEngine(error).code === "IS_DIRECTORY") return null;
        throw error;
      }
    },
    close: () => locks.close(),
  };
}

/** Waits `ms`, or until the signal fires. */
function waitOrAbort(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}
