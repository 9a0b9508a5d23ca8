/**
 * `filewright/edit` on Node: the same names on the engine in use.
 *
 * @module filewright/edit
 */
export * from "./errors.ts";
export { ready } from "./index.node.ts";
export * from "./text/text-functions.ts";
