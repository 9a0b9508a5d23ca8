/**
 * Locks between processes. They wait on the event loop and not in a thread of the pool, because the holder of the
 * lock could need that thread to finish.
 */
import { loadNative, type NativeBinding } from "../../engine/load.node.ts";
import type { NativeLock, NativeLocks } from "../../engine/generated/binding.ts";
import type { LockHandle } from "../backend.ts";
import { checkSignal, backendError } from "../failure.ts";
import { defaultStateDir, inStateDirectory } from "../state-directory.node.ts";

/** The longest pause between two attempts to take a lock, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 20;

const locksByStateDir = new Map<string, NativeLocks>();

/**
 * Takes the lock of a real path.
 * @throws LOCK_TIMEOUT, CANCELLED
 */
export async function lockPath(
  native: NativeBinding,
  stateDir: string | undefined,
  real: string,
  path: string,
  options: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<LockHandle> {
  const { timeoutMs, signal } = options;
  const directory = stateDir ?? defaultStateDir();
  const locks = locksOfStateDir(native, directory);
  const deadline = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, MAX_RETRY_PAUSE_MS)) {
    checkSignal(signal, path);
    const lock = inStateDirectory(directory, () => locks.tryLock(real));
    if (lock !== null) return toLockHandle(lock);
    const left = deadline - performance.now();
    if (left <= 0) {
      throw backendError("LOCK_TIMEOUT", path, "another process holds the lock", {
        hint: "try again when it has finished",
        details: { timeout_ms: timeoutMs },
      });
    }
    await waitOrAbort(Math.min(pause, left), signal);
  }
}

/** Takes a lock by name in a state directory. Returns null when another process holds it. */
export function tryLock(stateDir: string, name: string): LockHandle | null {
  const loaded = loadNative();
  if ("failure" in loaded) {
    const { message, remedy } = loaded.failure;
    throw backendError("UNSUPPORTED_PLATFORM", stateDir, message, { hint: remedy });
  }
  const locks = locksOfStateDir(loaded.binding, stateDir);
  const lock = inStateDirectory(stateDir, () => locks.tryLock(name));
  return lock === null ? null : toLockHandle(lock);
}

function locksOfStateDir(native: NativeBinding, stateDir: string): NativeLocks {
  const known = locksByStateDir.get(stateDir);
  if (known !== undefined) return known;
  const locks = inStateDirectory(stateDir, () => new native.NativeLocks(stateDir));
  locksByStateDir.set(stateDir, locks);
  return locks;
}

function toLockHandle(lock: NativeLock): LockHandle {
  return Object.freeze({ release: () => lock.release() });
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
