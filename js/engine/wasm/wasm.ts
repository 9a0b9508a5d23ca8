/** The full WebAssembly engine outside Node: browsers and edge runtimes. */
import init, * as glue from "../../wasm/filewright.js";
import { setEngine } from "../current.ts";
import { type Binding, makeEngine } from "../engine.ts";
import { platformTables } from "./legacy.ts";
import { type WasmGlue, guardBinding } from "./trap.ts";
import { WASM_ENGINE_INFO, makeWasmLoader, type Ready, type WasmSource } from "./wasm-load.ts";

export type { WasmSource } from "./wasm-load.ts";

let currentBinding: Binding | undefined;

/** Returns the address of the module. Bundlers recognise a URL in this form and include the file. */
export const wasmFileUrl = (): URL => new URL("../../wasm/filewright_bg.wasm", import.meta.url);

const fullModule = makeWasmLoader(
  init,
  () => {
    currentBinding = guardBinding<Binding>(glue as unknown as WasmGlue, platformTables);
    setEngine(makeEngine(currentBinding, WASM_ENGINE_INFO));
  },
  wasmFileUrl,
);

/** Returns the binding; undefined until it is loaded. */
export const loadedBinding = (): Binding | undefined => currentBinding;

/**
 * Loads the engine. Every further call returns the same promise, unless loading failed: then it is tried
 * again.
 *
 * @param source the module, where the runtime cannot fetch it relative to this script: with
 * `import wasm from "filewright/filewright.wasm"` for instance
 * @example await ready();
 */
export const ready: Ready = fullModule.ready;

/** Sets the module that `ready` uses without an argument, instead of fetching the file next to the script. */
export const setWasmModule: (module: WasmSource) => void = fullModule.beside;
