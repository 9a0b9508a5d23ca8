/**
 * A pool of workers that run functions of the engine without blocking the caller. Workers are created when
 * calls need them. When a call is cancelled, its worker is terminated.
 *
 * `workers.ts` creates workers in browsers, Deno and Bun, `workers.node.ts` on Node. When none can be
 * created, every function runs on the calling thread ("in place").
 */
import { messageOf } from "../thrown.ts";
import { FilewrightError } from "../errors.ts";

/** A worker, as far as the pool uses it. */
export interface WorkerPort {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  end(): void;
}

/** A message of a worker: it is ready, or a call has finished. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

/** Creates a worker. `hear` is called with its messages, `fail` with the reason if it stops working. */
export type SpawnWorker = (hear: (said: WorkerMessage) => void, fail: (reason: string) => void) => WorkerPort;

interface WorkerJob {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
  done(value: unknown): void;
  fail(error: Error): void;
}

interface PooledWorker {
  readonly port: WorkerPort;
  ready: boolean;
  /** The call that it runs. */
  job: WorkerJob | undefined;
}

/** How a call is run. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The time in milliseconds after which a worker that has not reported to be ready counts as failed. */
const MAX_WORKER_START_MS = 20_000;

/** A set of workers. */
export class WorkerPool {
  readonly #spawn: SpawnWorker;
  readonly #size: number;
  readonly #workers = new Set<PooledWorker>();
  readonly #waiting: WorkerJob[] = [];
  #count = 0;
  #ended: string | undefined;

  constructor(spawn: SpawnWorker, size: number) {
    this.#spawn = spawn;
    this.#size = size;
  }

  /** The reason why the pool has no workers any more; undefined while it can have some. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** The current number of workers. */
  get workers(): number {
    return this.#workers.size;
  }

  /** The maximum number of workers. */
  get size(): number {
    return this.#size;
  }

  /**
   * Runs a function of the engine in a worker, or `inPlace` when the pool has no workers. If the call is
   * cancelled, its worker is terminated, so that the work stops at once.
   *
   * @throws FilewrightError CANCELLED; any error of the function
   */
  run<T>(
    name: string,
    args: readonly unknown[],
    inPlace: () => T | Promise<T>,
    { signal }: RunOptions = {},
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(cancelledError());
    if (this.#ended !== undefined) return Promise.resolve().then(inPlace);
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#count;
      const abort = () => {
        this.#cancel(id);
        reject(cancelledError());
      };
      const settled = () => signal?.removeEventListener("abort", abort);
      signal?.addEventListener("abort", abort, { once: true });
      this.#waiting.push({
        id,
        name,
        args,
        done(value) {
          settled();
          resolve(value as T);
        },
        fail(error) {
          settled();
          if (error instanceof NoWorkerError) Promise.resolve().then(inPlace).then(resolve, reject);
          else reject(error);
        },
      });
      this.#next();
    });
  }

  /** Terminates every worker. Waiting and running calls are run in place instead. */
  close(reason = "closed"): void {
    this.#ended ??= reason;
    const jobs = [...[...this.#workers].flatMap(({ job }) => job ?? []), ...this.#waiting];
    for (const { port } of this.#workers) port.end();
    this.#workers.clear();
    this.#waiting.length = 0;
    for (const job of jobs) job.fail(new NoWorkerError());
  }

  #next(): void {
    for (let job = this.#waiting[0]; job !== undefined; job = this.#waiting[0]) {
      const ready = [...this.#workers].filter((worker) => worker.ready);
      const worker = ready.find((one) => one.job === undefined);
      if (worker === undefined) {
        const starting = this.#workers.size - ready.length;
        if (this.#workers.size < this.#size && starting < this.#waiting.length) this.#start();
        return;
      }
      this.#waiting.shift();
      worker.job = job;
      const [args, transfer] = argumentsWithTransferList(job.args);
      worker.port.post({ id: job.id, call: job.name, args }, transfer);
    }
  }

  #start(): void {
    try {
      const worker: PooledWorker = {
        port: this.#spawn(
          (said) => this.#heard(worker, said),
          (reason) => this.#lost(worker, reason),
        ),
        ready: false,
        job: undefined,
      };
      this.#workers.add(worker);
      const timer: unknown = setTimeout(() => {
        if (!worker.ready) this.#lost(worker, "the worker did not start");
      }, MAX_WORKER_START_MS);
      // On Node the timer must not keep the process alive.
      (timer as { unref?(): void }).unref?.();
    } catch (error) {
      this.close(messageOf(error));
    }
  }

  #heard(worker: PooledWorker, said: WorkerMessage): void {
    if ("ready" in said) worker.ready = true;
    else {
      const { job } = worker;
      worker.job = undefined;
      if ("error" in said) job?.fail(new Error(said.error));
      else job?.done(said.value);
    }
    this.#next();
  }

  /**
   * Handles a worker that failed. If it had never been ready, the pool is closed, because further ones would
   * fail, too. Otherwise its calls fail, and the next call gets a new worker.
   */
  #lost(worker: PooledWorker, reason: string): void {
    if (!this.#workers.delete(worker)) return;
    worker.port.end();
    if (!worker.ready) {
      this.close(reason);
      return;
    }
    worker.job?.fail(
      new FilewrightError("INTERNAL", "the worker of the engine broke down", { cause: reason }),
    );
    this.#next();
  }

  #cancel(id: number): void {
    const place = this.#waiting.findIndex((job) => job.id === id);
    if (place >= 0) this.#waiting.splice(place, 1);
    for (const worker of this.#workers) {
      if (worker.job?.id !== id) continue;
      this.#workers.delete(worker);
      worker.port.end();
    }
    this.#next();
  }
}

/** Internal signal that no worker could run the call, so that it is run in place. */
class NoWorkerError extends Error {}

function cancelledError(): FilewrightError {
  return new FilewrightError("CANCELLED", "the call was cancelled");
}

/**
 * Returns the arguments, and the buffers in them to transfer to a worker. Bytes are copied first, because the
 * caller keeps its own.
 */
function argumentsWithTransferList(args: readonly unknown[]): [unknown[], ArrayBuffer[]] {
  const transfer: ArrayBuffer[] = [];
  const copied = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copied);
    if (!(value instanceof Uint8Array)) return value;
    // Not `slice`: that of a Node `Buffer` returns a view of the same memory.
    const copy = new Uint8Array(value);
    transfer.push(copy.buffer);
    return copy;
  };
  return [args.map(copied), transfer];
}

/** The number of workers, on every platform. */
export interface WorkersOptions {
  /** The maximum number of workers. Default: one fewer than the processors, at least 1 and at most 4. */
  readonly size?: number | undefined;
}

/** The workers that the engine uses. */
export interface EngineWorkers {
  /** The current number of workers: they are created on demand. */
  readonly count: number;
  /** The reason why everything runs on the calling thread; undefined while workers are used. */
  readonly reason: string | undefined;
  /** Terminates the workers. Running and later calls are run in place. */
  close(): void;
}

/** Returns the default of {@link WorkersOptions.size}, from the number of processors. */
export function defaultPoolSize(): number {
  const { navigator } = globalThis as { readonly navigator?: { readonly hardwareConcurrency?: number } };
  return Math.min(4, Math.max(1, (navigator?.hardwareConcurrency ?? 2) - 1));
}

/** Returns the result of `useWorkers` on a platform without workers; `reason` says why. */
export function noWorkersBecause(reason: string): EngineWorkers {
  return Object.freeze({ count: 0, reason, close: () => undefined });
}

/**
 * Returns the result of `useWorkers` for a pool. `leave` is called when the workers are closed, and stops
 * using the pool.
 */
export function engineWorkersOf(pool: WorkerPool, leave: () => void): EngineWorkers {
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
