/**
 * `filewright/diff`: the patch functions and the line, word and character diffs with the names and
 * types of the package `diff` (jsdiff), on this package's engine. docs/diff-compatibility.md lists
 * the differences. No files, no workspace.
 *
 * Outside Node after `await ready()`, which loads the small module unless the full engine (`ready`
 * of `filewright/engine`) is loaded already.
 */
export * from "./names.ts";
export { ready } from "../engine/wasm/wasm-edit.ts";
