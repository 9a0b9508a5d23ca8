/**
 * `filewright/testing` on Node: with the engine loaded.
 *
 * @module filewright/testing
 */
import "../engine/index.node.ts";

export * from "./index.ts";
