/**
 * The worker threads for calls that would block the event loop: the longer ones of the WebAssembly engine, and those of
 * built files. They end some time after the last call.
 */
import type { RunOptions } from "./pool.ts";
import { type SharedWorkers, shareWorkers } from "./threads.node.ts";

/** The time in milliseconds after which unused workers end. Starting one takes about 100 ms, and it needs some 30 MB. */
const MAX_IDLE_MS = 30_000;

let use: SharedWorkers | undefined;
let calls = 0;
let idle: NodeJS.Timeout | undefined;

/** Runs a call in a worker; see `run` of the pool. */
export async function runInBackground<T>(
  name: string,
  args: readonly unknown[],
  inPlace: () => T | Promise<T>,
  options: RunOptions = {},
): Promise<T> {
  use ??= shareWorkers();
  clearTimeout(idle);
  calls += 1;
  try {
    return await use.pool.run(name, args, inPlace, options);
  } finally {
    calls -= 1;
    if (calls === 0) idle = setTimeout(endUse, MAX_IDLE_MS).unref();
  }
}

function endUse(): void {
  use?.release();
  use = undefined;
}
