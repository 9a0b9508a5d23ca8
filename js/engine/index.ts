/** `filewright/engine` and `filewright/wasm` outside Node: WebAssembly, after `await ready()`. */
export { engine } from "./current.ts";
export * from "./errors.ts";
export * from "./functions.ts";
export { ready, type WasmSource } from "./wasm/wasm.ts";
