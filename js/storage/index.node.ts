/**
 * `filewright/storage` on Node: with the engine loaded.
 *
 * @module filewright/storage
 */
import "../engine/index.node.ts";

export * from "./index.ts";
export { type MirrorUse, mirrorUse } from "./mirror/use.node.ts";
