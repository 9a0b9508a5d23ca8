/**
 * `filewright/access` on Node: with the engine loaded.
 *
 * @module filewright/access
 */
import "../engine/index.node.ts";

export * from "./grants-file.node.ts";
export * from "./index.ts";
