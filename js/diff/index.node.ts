/**
 * `filewright/diff` on Node: with the engine loaded, so `ready` has nothing to wait for.
 *
 * @module filewright/diff
 */
export { ready } from "../engine/index.node.ts";
export * from "./names.ts";
