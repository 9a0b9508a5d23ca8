/**
 * `filewright/diff`: the patch family and the line, word and character diffs
 * under the names and shapes of the package `diff` (jsdiff), on our engine. What
 * is not alike is listed in docs/diff-compatibility.md. No files, no workspace.
 *
 * Outside Node after `await ready()`, which loads the small module unless the
 * whole engine (`ready` of `filewright/engine`) is there already.
 */
export * from "./names.ts";
export { ready } from "../engine/wasm-edit.ts";
