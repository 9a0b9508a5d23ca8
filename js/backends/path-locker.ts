/**
 * The locks of paths within this process: a first-in-first-out queue per canonical path, for the calls of workspaces, the
 * writes of a host's backend, the leases of a storage in memory, and browsers without Web Locks.
 *
 * A request names all its paths at once and is granted when no earlier request overlaps it, so
 * requests for several paths cannot deadlock. A request for a whole directory (`tree`) waits for
 * everything below it, and blocks it. Entries are removed on release. The backend's own `lock`
 * excludes other processes.
 */
import { FilewrightError } from "../engine/errors.ts";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../engine/yielder.ts";
import { isWithin } from "./paths.ts";

/** The longest time of a timer in milliseconds. A longer one would end at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** One path to lock. */
export interface LockKey {
  /** The canonical path, with links resolved. */
  readonly path: string;
  /** True when everything below the path is locked, too. */
  readonly tree: boolean;
}

/** How long to wait, in milliseconds, and the signal that ends the wait. */
interface LockWait {
  /** `Infinity` for a wait without end. */
  readonly timeoutMs: number;
  /** True when `timeoutMs` is that of the whole wait. Otherwise progress of the queue starts it again. */
  readonly whole?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The queue of the locks of one storage. Workspaces with the same storage share one. */
export interface PathLocker {
  /**
   * Waits for the keys. Returns the function that releases them. @throws FilewrightError LOCK_TIMEOUT,
   * CANCELLED
   */
  acquire(keys: readonly LockKey[], wait: LockWait): Promise<() => void>;
  /** Returns true while a request has named this path. */
  isTaken(path: string): boolean;
  /** The number of granted and waiting requests: 0 when idle. */
  readonly size: number;
}

interface LockRequest {
  readonly keys: readonly LockKey[];
  /** The number of earlier requests that overlap and are not released yet. */
  blockers: number;
  /** The later requests that wait for this one. */
  readonly followers: Set<LockRequest>;
  /** Called when a blocker is released; `granted` is true for the last one. */
  wake: ((granted: boolean) => void) | undefined;
}

/** Returns true when a path of one request is locked by the other, too: the same path, or one in a locked tree. */
export function overlaps(a: readonly LockKey[], b: readonly LockKey[]): boolean {
  for (const x of a) {
    for (const y of b) {
      if (x.path === y.path) return true;
      if (x.tree && isWithin(y.path, x.path)) return true;
      if (y.tree && isWithin(x.path, y.path)) return true;
    }
  }
  return false;
}

/**
 * Waits until the host has the means for one more request, such as descriptors. Returns the function that gives them
 * back; undefined where there is no such limit.
 */
export type TakeRoom = (wait: LockWait) => (() => void) | Promise<() => void> | undefined;

/** Creates an empty queue. A request takes its room when no other request blocks it. */
export function makePathLocker(takeRoom?: TakeRoom): PathLocker {
  const requests = new Set<LockRequest>();
  // Most requests are for files. They can overlap only requests for the same file, and for trees.
  const byPath = new Map<string, LockRequest | Set<LockRequest>>();
  const trees = new Set<LockRequest>();

  const enter = (request: LockRequest): void => {
    requests.add(request);
    for (const { path, tree } of request.keys) {
      const same = byPath.get(path);
      // Nearly always one request: a set for each of thousands of paths takes longer than all the rest.
      if (same === undefined) byPath.set(path, request);
      else if (same instanceof Set) same.add(request);
      else byPath.set(path, new Set([same, request]));
      if (tree) trees.add(request);
    }
  };
  const earlierThan = (keys: readonly LockKey[]): ReadonlySet<LockRequest> => {
    const earlier = new Set(trees);
    for (const { path, tree } of keys) {
      if (tree) return requests;
      const same = byPath.get(path);
      if (same instanceof Set) for (const request of same) earlier.add(request);
      else if (same !== undefined) earlier.add(same);
    }
    return earlier;
  };

  const release = (request: LockRequest): void => {
    if (!requests.delete(request)) return;
    trees.delete(request);
    for (const { path } of request.keys) {
      const same = byPath.get(path);
      if (same instanceof Set) same.delete(request);
      if (same === request || (same instanceof Set && same.size === 0)) byPath.delete(path);
    }
    for (const follower of request.followers) {
      follower.blockers -= 1;
      follower.wake?.(follower.blockers === 0);
    }
    request.followers.clear();
  };

  return {
    get size(): number {
      return requests.size;
    },
    isTaken: (path) => byPath.has(path),
    async acquire(keys: readonly LockKey[], wait: LockWait): Promise<() => void> {
      // All paths enter the queue at once, which takes long for thousands.
      if (keys.length > STEPS_PER_YIELD_CHECK) await new Yielder({}).yieldNow();
      const request: LockRequest = { keys, blockers: 0, followers: new Set(), wake: undefined };
      for (const earlier of earlierThan(keys)) {
        if (!overlaps(earlier.keys, keys)) continue;
        earlier.followers.add(request);
        request.blockers += 1;
      }
      enter(request);
      if (request.blockers > 0) await waitUntilGranted(request, requests, release, wait);
      const leaveRoom = await takeRoom?.(wait);
      return () => {
        release(request);
        leaveRoom?.();
      };
    },
  };
}

/** Waits until no request blocks this one; withdraws it on a timeout or an abort. */
async function waitUntilGranted(
  request: LockRequest,
  requests: ReadonlySet<LockRequest>,
  release: (request: LockRequest) => void,
  { timeoutMs, whole, signal }: LockWait,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      // Progress of the queue restarts the timeout, so that a long but moving queue does not fail. The timer
      // is not replaced, because each waiting request is notified of every release.
      let progress = performance.now();
      const arm = (milliseconds: number): void => {
        timer = setTimeout(
          () => {
            const left = progress + timeoutMs - performance.now();
            if (left > 0) return arm(left);
            reject(
              new FilewrightError(
                "LOCK_TIMEOUT",
                `another writer holds the lock for more than ${timeoutMs} ms`,
              ),
            );
          },
          Math.min(milliseconds, MAX_TIMER_MS),
        );
      };
      request.wake = (free) => {
        if (free) resolve();
        else if (whole !== true) progress = performance.now();
      };
      onAbort = () => reject(new FilewrightError("CANCELLED", "cancelled while waiting for the lock"));
      signal?.addEventListener("abort", onAbort, { once: true });
      if (Number.isFinite(timeoutMs)) arm(timeoutMs);
      if (signal?.aborted === true) onAbort();
    });
  } catch (error) {
    for (const other of requests) other.followers.delete(request);
    release(request);
    throw error;
  } finally {
    clearTimeout(timer);
    request.wake = undefined;
    if (onAbort !== undefined) signal?.removeEventListener("abort", onAbort);
  }
}
