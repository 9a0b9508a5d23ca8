/** `filewright/presets` on Node: the presets, and the engine they need. */
import "../engine/index.node.ts";

export * from "./index.ts";
