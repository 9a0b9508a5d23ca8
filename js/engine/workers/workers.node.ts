/**
 * `filewright/workers` on Node. It serves the WebAssembly engine, when the addon does not load; the native
 * engine has threads of its own.
 *
 * @module filewright/workers
 */
import { loadWasm } from "../load.node.ts";
import { engine, setEngine } from "../current.ts";
import { makeEngine } from "../engine.ts";
import "../index.node.ts";
import { type EngineWorkers, engineWorkersOf, noWorkersBecause, type WorkersOptions } from "./pool.ts";
import { getEnginePool, makeThreadPool, setEnginePool } from "./threads.node.ts";
import { withWorkerPool } from "./worker-calls.ts";

export type { EngineWorkers, WorkersOptions } from "./pool.ts";

/**
 * Runs longer calls of the WebAssembly engine in a number of workers that the caller chooses, and that it can end; see
 * `useWorkers` outside Node. Without it, they run in workers that the process starts when they are needed. With the
 * native engine it does nothing, and says so in `reason`.
 */
export async function useWorkers(options: WorkersOptions = {}): Promise<EngineWorkers> {
  const { info } = engine();
  if (info.kind === "native") return noWorkersBecause("the native engine has threads of its own");
  const wasm = loadWasm();
  if ("reason" in wasm) return noWorkersBecause(wasm.reason);
  const pool = makeThreadPool(options.size);
  setEnginePool(pool);
  setEngine(makeEngine(withWorkerPool(wasm.binding, pool), info));
  return engineWorkersOf(pool, () => {
    if (getEnginePool() === pool) setEnginePool(undefined);
    setEngine(makeEngine(wasm.binding, info));
  });
}
