/** What is common to the engine's workers on every platform. */
import type { Pool } from "./pool.ts";

/** How many workers there may be. */
export interface WorkersOptions {
  /** The most workers at once. Default: one fewer than the processors, at least 1 and at most 4. */
  readonly size?: number | undefined;
}

/** The workers in use. */
export interface EngineWorkers {
  /** The workers there are now: they are made when they are needed. */
  readonly count: number;
  /** Why everything runs in place; undefined where workers are used. */
  readonly reason: string | undefined;
  /** Ends them. What is under way, and everything after it, runs in place. */
  close(): void;
}

/** The default of {@link WorkersOptions.size}. */
export function defaultSize(): number {
  const { navigator } = globalThis as { readonly navigator?: { readonly hardwareConcurrency?: number } };
  return Math.min(4, Math.max(1, (navigator?.hardwareConcurrency ?? 2) - 1));
}

/** Where there are none. */
export function inPlaceOnly(reason: string): EngineWorkers {
  return Object.freeze({ count: 0, reason, close: () => undefined });
}

/** The workers of a pool; `leave` takes it out of use. */
export function workersOf(pool: Pool, leave: () => void): EngineWorkers {
  return Object.freeze({
    get count() {
      return pool.workers;
    },
    get reason() {
      return pool.ended;
    },
    close() {
      leave();
      pool.close();
    },
  });
}
