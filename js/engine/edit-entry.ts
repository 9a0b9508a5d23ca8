/**
 * `filewright/edit` outside Node: diffs, edits, patches and merges of texts in memory, by the small
 * WebAssembly engine. `await ready()` loads it.
 */
export * from "./errors.ts";
export * from "./text/text-functions.ts";
export { ready } from "./wasm/wasm-edit.ts";
export type { WasmSource } from "./wasm/wasm-load.ts";
