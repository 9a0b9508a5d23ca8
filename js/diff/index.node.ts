/**
 * `filewright/diff` on Node: with the engine loaded, so `ready` returns at once.
 *
 * @module filewright/diff
 */
export { ready } from "../engine/index.node.ts";
export * from "./names.ts";
