/**
 * The WebAssembly engine where there is no Node: browsers and edge runtimes.
 *
 * Nothing is fetched until {@link ready} is called.
 */
import init, * as glue from "../wasm/filewright.js";
import { setEngine } from "./current.ts";
import { type EngineInfo, makeEngine } from "./engine.ts";
import { type Glue, guarded } from "./trap.ts";

/** Where the module may come from: compiled, as bytes, as a response, or an address. */
export type WasmSource = WebAssembly.Module | BufferSource | Response | Request | URL | string;

const info: EngineInfo = { kind: "wasm", reason: "not on Node" };
let loading: Promise<EngineInfo> | undefined;

/**
 * Loads the engine once; every further call gives the same promise. A failed
 * load may be tried again.
 *
 * @param source the module, where the runtime cannot fetch it from beside this
 * script: on Workers `import wasm from "filewright/filewright.wasm"` gives it
 * @example await ready();
 */
export function ready(source?: WasmSource | Promise<WasmSource>): Promise<EngineInfo> {
  loading ??= load(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function load(source?: WasmSource | Promise<WasmSource>): Promise<EngineInfo> {
  await (source === undefined ? init() : init({ module_or_path: source }));
  setEngine(makeEngine(guarded(glue as unknown as Glue), info));
  return info;
}
