/**
 * `filewright/workers` outside Node: runs diffs, edits, patches, pages and searches of large contents in
 * workers. Small contents are processed on the calling thread, which is faster than sending them.
 */
import { setEngine } from "../current.ts";
import { makeEngine } from "../engine.ts";
import {
  WorkerPool,
  type WorkerPort,
  type WorkerMessage,
  type SpawnWorker,
  defaultPoolSize,
  type EngineWorkers,
  noWorkersBecause,
  type WorkersOptions,
  engineWorkersOf,
} from "./pool.ts";
import { WASM_ENGINE_INFO, type WasmSource } from "../wasm/wasm-load.ts";
import type { Binding } from "../engine.ts";
import { wasmFileUrl, loadedBinding, ready } from "../wasm/wasm.ts";
import { withWorkerPool } from "./worker-calls.ts";

export type { EngineWorkers, WorkersOptions } from "./pool.ts";

/** The methods of a web worker that are used. */
export interface WebWorker {
  postMessage(message: unknown, transfer: ArrayBuffer[]): void;
  terminate(): void;
  addEventListener(
    type: "message" | "error",
    listener: (event: { readonly data?: unknown; readonly message?: unknown }) => void,
  ): void;
}

/** Options for platforms with web workers. */
export interface WebWorkersOptions extends WorkersOptions {
  /**
   * Creates a worker of the script `filewright/worker`, for bundlers such as esbuild that do not
   * put it next to this one. Default: `new Worker(new URL("./worker.js", import.meta.url))` as a
   * module, which Vite, webpack, Deno, Bun and unbundled files support.
   */
  readonly worker?: (() => WebWorker) | undefined;
  /** The WebAssembly module, in any form that `ready()` accepts. */
  readonly wasm?: WasmSource | undefined;
}

declare const Worker: new (script: URL, options: { readonly type: "module" }) => WebWorker;

/**
 * Loads the engine. From now on, functions whose names end in `Async`, and long calls of a workspace, run in
 * workers. Where there are no workers, or a content security policy forbids them, everything runs on the
 * calling thread.
 *
 * @example
 * const workers = await useWorkers();
 * const { text } = await diffAsync(before, after, { signal });
 * workers.close();
 */
export async function useWorkers(options: WebWorkersOptions = {}): Promise<EngineWorkers> {
  if (options.worker === undefined && typeof Worker === "undefined") {
    await ready(options.wasm);
    return noWorkersBecause("this runtime has no workers");
  }
  // The module is compiled once, and used by this thread and every worker.
  const module = await compileModule(options.wasm ?? wasmFileUrl());
  await ready(module);
  const binding = loadedBinding() as Binding;
  const make =
    options.worker ?? (() => new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));
  const pool = new WorkerPool(makeSpawnWorker(make, module), options.size ?? defaultPoolSize());
  setEngine(makeEngine(withWorkerPool(binding, pool), WASM_ENGINE_INFO));
  return engineWorkersOf(pool, () => setEngine(makeEngine(binding, WASM_ENGINE_INFO)));
}

async function compileModule(source: WasmSource): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
  const named = typeof source === "string" || source instanceof URL || source instanceof Request;
  const found = named ? await fetch(source) : source;
  if (!(found instanceof Response)) return WebAssembly.compile(found);
  // Compiled from the whole bytes: compiling while fetching would fail if a server sends another content
  // type.
  return WebAssembly.compile(await found.arrayBuffer());
}

function makeSpawnWorker(make: () => WebWorker, module: WebAssembly.Module): SpawnWorker {
  return (hear, fail): WorkerPort => {
    const worker = make();
    worker.addEventListener("message", ({ data }) => hear(data as WorkerMessage));
    worker.addEventListener("error", ({ message }) =>
      fail(typeof message === "string" ? message : "the worker's script did not load"),
    );
    worker.postMessage({ module }, []);
    return {
      post: (message, transfer) => worker.postMessage(message, transfer),
      end: () => worker.terminate(),
    };
  };
}
