/** Filewright on Node. */
export * from "./engine/index.node.ts";
export * from "./backends/backend.ts";
