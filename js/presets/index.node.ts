/**
 * `filewright/presets` on Node: the presets, and the engine they need.
 *
 * @module filewright/presets
 */
import "../engine/index.node.ts";

export * from "./index.ts";
