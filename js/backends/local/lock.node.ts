/**
 * Locks between processes. They wait on the event loop and not in a thread of the pool, because the holder of the
 * lock could need that thread to finish.
 */
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, join } from "node:path";
import { loadNative, type NativeBinding } from "../../engine/load.node.ts";
import type { NativeLock, NativeLocks } from "../../engine/generated/binding.ts";
import type { LockHandle } from "../backend.ts";
import { checkSignal, backendError } from "../failure.ts";
import { withPathInError } from "./local-calls.ts";

/** The longest pause between two attempts to take a lock, in milliseconds. */
const MAX_RETRY_PAUSE_MS = 20;

const locksByStateDir = new Map<string, NativeLocks>();

/** Returns the default directory of private files: the user's state directory. */
export function defaultStateDir(): string {
  const state = process.env["XDG_STATE_HOME"];
  if (state !== undefined && isAbsolute(state)) return join(state, "filewright");
  const home = homedir();
  if (isAbsolute(home) && home !== "/") return join(home, ".local", "state", "filewright");
  return join(tmpdir(), `filewright-${userInfo().uid}`);
}

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
  const locks = locksOfStateDir(native, stateDir ?? defaultStateDir(), path);
  const deadline = performance.now() + timeoutMs;
  for (let pause = 1; ; pause = Math.min(pause * 2, MAX_RETRY_PAUSE_MS)) {
    checkSignal(signal, path);
    const lock = withPathInError(path, () => locks.tryLock(real));
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
  const lock = withPathInError(stateDir, () =>
    locksOfStateDir(loaded.binding, stateDir, stateDir).tryLock(name),
  );
  return lock === null ? null : toLockHandle(lock);
}

function locksOfStateDir(native: NativeBinding, stateDir: string, path: string): NativeLocks {
  const known = locksByStateDir.get(stateDir);
  if (known !== undefined) return known;
  const locks = withPathInError(path, () => new native.NativeLocks(stateDir));
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
