/**
 * `filewright/edit` outside Node: diffs, edits, patches and merges of texts in memory, on the
 * small WebAssembly engine, after `await ready()`.
 */
export * from "./errors.ts";
export * from "./text-functions.ts";
export * from "./text-types.ts";
export { ready } from "./wasm-edit.ts";
export type { WasmSource } from "./wasm-load.ts";
