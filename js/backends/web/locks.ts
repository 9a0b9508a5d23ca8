/**
 * Locks among all pages and workers of an origin, by Web Locks. Where the browser has none, a queue orders the
 * calls of this page or worker only.
 */
import type { LockHandle, LockOptions } from "../backend.ts";
import { checkSignal, backendError } from "../failure.ts";
import { makePathLocker } from "../path-locker.ts";
import { exceptionName } from "./platform.ts";

/** The locks of this page or worker, where the browser has none. */
const ownLocks = makePathLocker();

/**
 * Runs an operation while it holds the locks of these names. Several are taken in one order, which avoids
 * deadlocks.
 */
export async function withExclusiveLock<T>(
  names: readonly string[],
  path: string,
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  checkSignal(signal, path);
  const locks = webLocks();
  const sorted = [...new Set(names)].sort();
  let started = false;
  const inside = (): Promise<T> => {
    started = true;
    return run();
  };
  try {
    return await (locks === undefined
      ? runInQueue(sorted, signal, inside)
      : runUnderLocks(locks, sorted, signal, inside));
  } catch (error) {
    if (!started && signal?.aborted === true) throw backendError("CANCELLED", path);
    throw error;
  }
}

async function runUnderLocks<T>(
  locks: LockManager,
  [name, ...rest]: readonly string[],
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  if (name === undefined) return run();
  const inside = (): Promise<T> => runUnderLocks(locks, rest, signal, run);
  return signal === undefined ? locks.request(name, inside) : locks.request(name, { signal }, inside);
}

/** Returns true where locks exclude other pages and workers. */
export function hasWebLocks(): boolean {
  return webLocks() !== undefined;
}

function webLocks(): LockManager | undefined {
  return typeof navigator === "undefined" ? undefined : (navigator as Partial<Navigator>).locks;
}

/** Runs an operation under locks of this page or worker. @throws CANCELLED */
async function runInQueue<T>(
  names: readonly string[],
  signal: AbortSignal | undefined,
  run: () => Promise<T>,
): Promise<T> {
  const keys = names.map((path) => ({ path, tree: false }));
  const release = await ownLocks.acquire(keys, { timeoutMs: Number.POSITIVE_INFINITY, signal });
  try {
    return await run();
  } finally {
    release();
  }
}

/** Takes the lock of a name until it is released. @throws LOCK_TIMEOUT, CANCELLED */
export function holdName(name: string, path: string, options: LockOptions): Promise<LockHandle> {
  const { timeoutMs, signal } = options;
  const late = AbortSignal.timeout(timeoutMs);
  return new Promise((resolve, reject) => {
    const both = signal === undefined ? late : AbortSignal.any([late, signal]);
    withExclusiveLock([name], path, both, () => {
      return new Promise<void>((release) => resolve(Object.freeze({ release: () => release() })));
    }).catch((error: unknown) => {
      if (signal?.aborted === true || !late.aborted) return reject(error);
      reject(
        backendError("LOCK_TIMEOUT", path, "another page or worker holds the lock", {
          hint: "try again when it has finished",
          details: { timeout_ms: timeoutMs },
        }),
      );
    });
  });
}

/** Runs an operation if the name is not locked; otherwise returns false. */
export async function tryLock(name: string, run: () => Promise<void>): Promise<boolean> {
  const locks = webLocks();
  if (locks === undefined) {
    if (ownLocks.isTaken(name)) return false;
    await runInQueue([name], undefined, run);
    return true;
  }
  return locks.request(name, { ifAvailable: true }, async (lock) => {
    if (lock !== null) await run();
    return lock !== null;
  });
}

/**
 * Runs an operation again while another page or worker has the file open, because the browser has no queue for
 * that. Fails after {@link MAX_RETRY_PAUSE_MS}.
 */
export async function withRetry<T>(
  signal: AbortSignal | undefined,
  path: string,
  run: () => Promise<T>,
): Promise<T> {
  for (let pause = 1, waited = 0; ; waited += pause, pause = Math.min(pause * 2, 50)) {
    try {
      return await run();
    } catch (error) {
      if (exceptionName(error) !== "NoModificationAllowedError" || waited > MAX_RETRY_PAUSE_MS) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    checkSignal(signal, path);
  }
}

/** The maximum wait for a file that another page or worker has open, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 3000;
