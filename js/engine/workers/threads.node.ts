/**
 * The worker threads of this process on Node, which run functions of the WebAssembly engine, and functions of built files
 * in either engine. None is started before its first call; an idle one does not keep the process alive.
 */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { builtFilePath } from "../load.node.ts";
import { type SpawnWorker, type WorkerMessage, WorkerPool, type WorkerPort } from "./pool.ts";

/** The pool of `useWorkers`, until it is closed. */
let enginePool: WorkerPool | undefined;

/** Sets the pool that is used from now on in place of one of the process's own, or ends its use. */
export function setEnginePool(pool: WorkerPool | undefined): void {
  enginePool = pool;
}

/** Returns the pool of `useWorkers`. */
export function getEnginePool(): WorkerPool | undefined {
  return enginePool;
}

/** Returns a new pool, by default of one worker fewer than processors, at least 1 and at most 4. */
export function makeThreadPool(size: number = defaultSize()): WorkerPool {
  return new WorkerPool(spawnWorkerThread, size);
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
