/**
 * `filewright/files` on Node: with the engine loaded.
 *
 * @module filewright/files
 */
import "../engine/index.node.ts";

export * from "./index.ts";
