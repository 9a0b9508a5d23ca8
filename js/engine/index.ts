/**
 * `filewright/engine` and `filewright/wasm` outside Node: the WebAssembly engine, which `await ready()`
 * loads.
 */
export { engine } from "./current.ts";
export * from "./errors.ts";
export * from "./functions.ts";
export { ready, type WasmSource } from "./wasm/wasm.ts";
