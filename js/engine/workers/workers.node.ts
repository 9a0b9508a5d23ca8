/**
 * `filewright/workers` on Node. It serves the WebAssembly engine, when the addon does not load; the native
 * engine has threads of its own.
 *
 * @module filewright/workers
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { builtFilePath, loadWasm } from "../load.node.ts";
import { engine, setEngine } from "../current.ts";
import { makeEngine } from "../engine.ts";
import "../index.node.ts";
import {
  WorkerPool,
  type WorkerPort,
  type WorkerMessage,
  type SpawnWorker,
  type EngineWorkers,
  noWorkersBecause,
  type WorkersOptions,
  engineWorkersOf,
} from "./pool.ts";
import { withWorkerPool } from "./worker-calls.ts";

export type { EngineWorkers, WorkersOptions } from "./pool.ts";

/**
 * Runs longer calls of the WebAssembly engine in workers; see `useWorkers` outside Node. With the native
 * engine it does nothing, and says so in `reason`.
 */
export async function useWorkers(options: WorkersOptions = {}): Promise<EngineWorkers> {
  const { info } = engine();
  if (info.kind === "native") return noWorkersBecause("the native engine has threads of its own");
  const wasm = loadWasm();
  if ("reason" in wasm) return noWorkersBecause(wasm.reason);
  const pool = new WorkerPool(spawnWorkerThread, options.size ?? defaultSize());
  enginePool = pool;
  setEngine(makeEngine(withWorkerPool(wasm.binding, pool), info));
  return engineWorkersOf(pool, () => {
    if (enginePool === pool) enginePool = undefined;
    setEngine(makeEngine(wasm.binding, info));
  });
}

/** The pool of {@link useWorkers}, until it is closed. */
let enginePool: WorkerPool | undefined;
/** The pool of those that did not ask for one, and the number of its users. */
let commonPool: { readonly pool: WorkerPool; users: number } | undefined;

/**
 * Workers that several users have in common.
 *
 * @internal
 */
export interface SharedWorkers {
  /** The pool at this moment: that of {@link useWorkers} if there is one. */
  readonly pool: WorkerPool;
  /** Ends the use. The last user ends the workers. */
  release(): void;
}

/**
 * Returns the workers of this process for one more user. None is started before its first call.
 *
 * @internal
 */
export function shareWorkers(): SharedWorkers {
  commonPool ??= { pool: new WorkerPool(spawnWorkerThread, defaultSize()), users: 0 };
  const shared = commonPool;
  shared.users++;
  let released = false;
  return {
    get pool() {
      return enginePool ?? shared.pool;
    },
    release() {
      if (released) return;
      released = true;
      if (--shared.users > 0) return;
      shared.pool.close();
      if (commonPool === shared) commonPool = undefined;
    },
  };
}

const defaultSize = (): number => Math.min(4, Math.max(1, availableParallelism() - 1));

const spawnWorkerThread: SpawnWorker = (hear, fail): WorkerPort => {
  const worker = new Worker(builtFilePath("engine/workers/worker.node.js"), { execArgv: [] });
  // An idle worker must not keep the process alive; one that starts or has calls must.
  let calls = 0;
  worker.on("message", (said: WorkerMessage) => {
    if (!("ready" in said)) calls--;
    if (calls === 0) worker.unref();
    hear(said);
  });
  worker.on("error", (error) => fail(error.message));
  worker.on("exit", (code) => fail(`the worker ended with ${code}`));
  return {
    post(message, transfer) {
      calls++;
      worker.ref();
      worker.postMessage(message, transfer);
    },
    end: () => void worker.terminate(),
  };
};
