/**
 * The worker threads for calls that would block the event loop: the longer ones of the WebAssembly engine, and those of
 * built files. They end some time after the last call.
 */
import type { RunOptions, WorkerPool } from "./pool.ts";
import { getEnginePool, makeThreadPool } from "./threads.node.ts";

/** The time in milliseconds after which unused workers end. Starting one takes about 100 ms, and it needs some 30 MB. */
const MAX_IDLE_MS = 30_000;

/** The pool of those that did not ask for one. That of `useWorkers` is used in its place. */
let ownPool: WorkerPool | undefined;
let calls = 0;
let idle: NodeJS.Timeout | undefined;

/** Runs a call in a worker, or `inPlace`, which is the same call, where none can be started; see `run` of the pool. */
export async function runInBackground<T>(
  name: string,
  args: readonly unknown[],
  inPlace: () => T | Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  if (getEnginePool() === undefined) ownPool ??= makeThreadPool();
  const pool = (getEnginePool() ?? ownPool) as WorkerPool;
  clearTimeout(idle);
  calls += 1;
  try {
    return await pool.run(name, args, inPlace, options);
  } finally {
    calls -= 1;
    if (calls === 0) idle = setTimeout(endWorkers, MAX_IDLE_MS).unref();
  }
}

function endWorkers(): void {
  ownPool?.close();
  ownPool = undefined;
}
