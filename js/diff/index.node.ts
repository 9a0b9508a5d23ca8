/**
 * `filewright/diff` on Node, where the engine is loaded with the module, so that `ready` resolves at once.
 *
 * @module filewright/diff
 */
export { ready } from "../engine/index.node.ts";
export * from "./names.ts";
