/**
 * Locks between processes. They wait on the event loop and not in a thread of the pool, because the holder of the
 * lock could need that thread to finish.
 */
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

/**
 * The open directories of locks, by state directory. Each is open while a lock of it is held or waited for, so a
 * process that goes through many state directories has no descriptor of those that it no longer uses. A journal holds a
 * lock during a series of changes, so its directory is not opened for every change.
 */
const openByStateDir = new Map<string, { readonly locks: Locks; users: number }>();

/** Opens the directory of locks unless it is open. Returns its locks, and a function that ends this use. */
function useLocks(stateDir: string): { readonly locks: Locks; readonly end: () => void } {
  let open = openByStateDir.get(stateDir);
  if (open === undefined) {
    open = { locks: openLocks(stateDir), users: 0 };
    openByStateDir.set(stateDir, open);
  }
  const used = open;
  used.users += 1;
  let isEnded = false;
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    used.users -= 1;
    if (used.users > 0) return;
    openByStateDir.delete(stateDir);
    used.locks.close();
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
