/**
 * `filewright/diff`: the functions for patches and for comparisons by lines, words and characters, with the
 * names and types of the package `diff` (jsdiff), on this package's engine. docs/diff-compatibility.md lists
 * the differences. It accesses no file and needs no workspace.
 *
 * Outside Node, `await ready()` must be called first. It loads the small WebAssembly module, unless the full
 * engine (`ready` of `filewright/engine`) is loaded already.
 */
export * from "./names.ts";
export { ready } from "../engine/wasm/wasm-edit.ts";
