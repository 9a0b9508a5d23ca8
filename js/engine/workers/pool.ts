/**
 * A pool of workers that run the engine's functions without blocking the caller. Workers are
 * created on demand, and one is ended with its call when that is cancelled.
 *
 * `workers.ts` creates workers in browsers, Deno and Bun, `workers.node.ts` on Node. When none can
 * be created, everything runs in place.
 */
import { FilewrightError } from "../errors.ts";

/** A worker that is ready for calls. */
export interface Port {
  post(message: unknown, transfer: ArrayBuffer[]): void;
  end(): void;
}

/** A message of a worker: it is ready, or a call has finished. */
export type WorkerMessage =
  | { readonly ready: true }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

/** Creates a worker. `hear` gets its messages, `fail` the reason why it stopped working. */
export type SpawnWorker = (hear: (said: WorkerMessage) => void, fail: (reason: string) => void) => Port;

interface Job {
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
  done(value: unknown): void;
  fail(error: Error): void;
}

interface Worker {
  readonly port: Port;
  ready: boolean;
  job: Job | undefined;
}

/** The time after which a worker that is not ready counts as failed, in milliseconds. */
const START_MS = 20_000;

/** A set of workers. */
export class Pool {
  readonly #spawn: SpawnWorker;
  readonly #size: number;
  readonly #workers = new Set<Worker>();
  readonly #waiting: Job[] = [];
  #count = 0;
  #ended: string | undefined;

  constructor(spawn: SpawnWorker, size: number) {
    this.#spawn = spawn;
    this.#size = size;
  }

  /** Returns the reason why there are no workers; undefined while there may be. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** Returns the current number of workers. */
  get workers(): number {
    return this.#workers.size;
  }

  /**
   * Runs a function of the engine in a worker, or `inPlace` when there are none. The worker of a
   * cancelled call is ended, so that its work stops at once.
   *
   * @throws FilewrightError CANCELLED; any error of the function
   */
  run<T>(
    name: string,
    args: readonly unknown[],
    inPlace: () => T | Promise<T>,
    signal?: AbortSignal | undefined,
  ): Promise<T> {
    if (signal?.aborted) return Promise.reject(cancelled());
    if (this.#ended !== undefined) return Promise.resolve().then(inPlace);
    return new Promise<T>((resolve, reject) => {
      const id = ++this.#count;
      const abort = () => {
        this.#cancel(id);
        reject(cancelled());
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
          if (error instanceof NoWorker) Promise.resolve().then(inPlace).then(resolve, reject);
          else reject(error);
        },
      });
      this.#next();
    });
  }

  /** Ends every worker. Waiting and running calls run in place. */
  close(reason = "closed"): void {
    this.#ended ??= reason;
    const jobs = [...[...this.#workers].map(({ job }) => job), ...this.#waiting];
    for (const { port } of this.#workers) port.end();
    this.#workers.clear();
    this.#waiting.length = 0;
    for (const job of jobs) job?.fail(new NoWorker());
  }

  #next(): void {
    const idle = [...this.#workers].find(({ ready, job }) => ready && job === undefined);
    if (idle === undefined) {
      const starting = [...this.#workers].filter(({ ready }) => !ready).length;
      if (this.#workers.size < this.#size && starting < this.#waiting.length) this.#start();
      return;
    }
    const job = this.#waiting.shift();
    if (job === undefined) return;
    idle.job = job;
    const [args, transfer] = transferList(job.args);
    idle.port.post({ id: job.id, call: job.name, args }, transfer);
    this.#next();
  }

  #start(): void {
    try {
      const worker: Worker = {
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
      }, START_MS);
      // On Node the timer must not keep the process alive.
      (timer as { unref?(): void }).unref?.();
    } catch (error) {
      this.close(error instanceof Error ? error.message : String(error));
    }
  }

  #heard(worker: Worker, said: WorkerMessage): void {
    if ("ready" in said) worker.ready = true;
    else if (worker.job?.id === said.id) {
      const { job } = worker;
      worker.job = undefined;
      if ("error" in said) job.fail(new Error(said.error));
      else job.done(said.value);
    }
    this.#next();
  }

  /**
   * Handles a lost worker: one that was never ready disables the pool; one that failed in a call
   * is replaced.
   */
  #lost(worker: Worker, reason: string): void {
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

/** No worker could run the call. */
class NoWorker extends Error {}

function cancelled(): FilewrightError {
  return new FilewrightError("CANCELLED", "the call was cancelled");
}

/** Returns arguments for a transfer: bytes are copied once, and the copies are transferred. */
function transferList(args: readonly unknown[]): [unknown[], ArrayBuffer[]] {
  const transfer: ArrayBuffer[] = [];
  const copied = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copied);
    if (!(value instanceof Uint8Array)) return value;
    // Not `slice`, which returns a view for a Buffer.
    const copy = new Uint8Array(value);
    transfer.push(copy.buffer);
    return copy;
  };
  return [args.map(copied), transfer];
}

/** Options for the number of workers, on every platform. */
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
