/** `filewright/backends` on Node: with the engine loaded, and the local disk. */
import "../engine/index.node.ts";

export * from "./index.ts";
export * from "./local.node.ts";
