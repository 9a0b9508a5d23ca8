/**
 * The script of a worker in browsers, Deno and Bun: loads the WebAssembly engine and answers calls. The first
 * message contains the compiled module.
 */
import init, * as glue from "../../wasm/filewright.js";
import type { Binding } from "../engine.ts";
import { platformTables } from "../wasm/legacy.ts";
import { type WasmGlue, guardBinding } from "../wasm/trap.ts";
import { makeCallAnswerer } from "./worker-calls.ts";

interface WorkerScope {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
}

/**
 * The name of the script. It is exported only so that a bundle entry has something to import; importing the
 * script starts it.
 */
export const WORKER_SCRIPT_NAME = "filewright/worker";

const workerScope = globalThis as unknown as WorkerScope;

workerScope.onmessage = async ({ data }) => {
  await init({ module_or_path: (data as { readonly module: WebAssembly.Module }).module });
  const answer = makeCallAnswerer(guardBinding<Binding>(glue as unknown as WasmGlue, platformTables));
  workerScope.onmessage = ({ data: call }) => workerScope.postMessage(answer(call));
  workerScope.postMessage({ ready: true });
};
