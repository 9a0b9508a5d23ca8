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
  const size = options.size ?? Math.min(4, Math.max(1, availableParallelism() - 1));
  const pool = new WorkerPool(spawnWorkerThread, size);
  setEngine(makeEngine(withWorkerPool(wasm.binding, pool), info));
  return engineWorkersOf(pool, () => setEngine(makeEngine(wasm.binding, info)));
}

const spawnWorkerThread: SpawnWorker = (hear, fail): WorkerPort => {
  const worker = new Worker(builtFilePath("engine/workers/worker.node.js"), { execArgv: [] });
  worker.on("message", (said: WorkerMessage) => {
    // An idle worker must not keep the process alive; one that runs a call must.
    worker.unref();
    hear(said);
  });
  worker.on("error", (error) => fail(error.message));
  worker.on("exit", (code) => fail(`the worker ended with ${code}`));
  return {
    post(message, transfer) {
      worker.ref();
      worker.postMessage(message, transfer);
    },
    end: () => void worker.terminate(),
  };
};
