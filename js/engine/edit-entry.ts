/**
 * `filewright/edit` where there is no Node: diffs, edits, patches and merges of
 * texts the caller holds, on the small WebAssembly engine, after `await ready()`.
 */
export * from "./errors.ts";
export * from "./text-functions.ts";
export * from "./text-types.ts";
export { ready } from "./wasm-edit.ts";
export type { WasmSource } from "./wasm-load.ts";
