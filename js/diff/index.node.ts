/** `filewright/diff` on Node: with the engine loaded. */
import "../engine/index.node.ts";

export * from "./index.ts";
