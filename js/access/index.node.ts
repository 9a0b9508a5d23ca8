/** `filewright/access` on Node: with the engine loaded. */
import "../engine/index.node.ts";

export * from "./grants-file.node.ts";
export * from "./index.ts";
