/**
 * The script of a worker in browsers, Deno and Bun: loads the WebAssembly engine and answers calls. The first
 * message contains the compiled module.
 */
import init, * as glue from "../../wasm/filewright.js";
import type { Binding } from "../engine.ts";
import { platformTables } from "../wasm/legacy.ts";
import { type Glue, guarded } from "../wasm/trap.ts";
import { answering } from "./worker-calls.ts";

interface Scope {
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  postMessage(message: unknown): void;
}

/**
 * The name of the script. It is exported only so that a bundle entry has something to import; importing the
 * script starts it.
 */
export const SCRIPT = "filewright/worker";

const scope = globalThis as unknown as Scope;

scope.onmessage = async ({ data }) => {
  await init({ module_or_path: (data as { readonly module: WebAssembly.Module }).module });
  const answer = answering(guarded<Binding>(glue as unknown as Glue, platformTables));
  scope.onmessage = ({ data: call }) => scope.postMessage(answer(call));
  scope.postMessage({ ready: true });
};
