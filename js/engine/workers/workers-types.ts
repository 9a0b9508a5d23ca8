/** Types and defaults of the engine's workers on every platform. */
import type { Pool } from "./pool.ts";

/** Options for the number of workers. */
export interface WorkersOptions {
  /** The most workers at once. Default: one fewer than the processors, at least 1 and at most 4. */
  readonly size?: number | undefined;
}

/** The workers in use. */
export interface EngineWorkers {
  /** The current number of workers: they are created on demand. */
  readonly count: number;
  /** The reason why everything runs in place; undefined when workers are used. */
  readonly reason: string | undefined;
  /** Ends them. Running and later calls run in place. */
  close(): void;
}

/** Returns the default of {@link WorkersOptions.size}. */
export function defaultSize(): number {
  const { navigator } = globalThis as { readonly navigator?: { readonly hardwareConcurrency?: number } };
  return Math.min(4, Math.max(1, (navigator?.hardwareConcurrency ?? 2) - 1));
}

/** Returns the object for a platform without workers. */
export function inPlaceOnly(reason: string): EngineWorkers {
  return Object.freeze({ count: 0, reason, close: () => undefined });
}

/** Returns the object for the workers of a pool; `leave` stops using the pool. */
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
