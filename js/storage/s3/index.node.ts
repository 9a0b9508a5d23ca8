/**
 * `filewright/s3` on Node: with the engine loaded.
 *
 * @module filewright/s3
 */
import "../../engine/index.node.ts";

export * from "./index.ts";
