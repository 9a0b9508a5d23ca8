/**
 * `filewright/postgres` on Node: with the engine loaded.
 *
 * @module filewright/postgres
 */
import "../../engine/index.node.ts";

export * from "./index.ts";
