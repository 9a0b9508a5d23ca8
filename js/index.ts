/** Filewright where there is no Node: browsers and edge runtimes, after `await ready()`. */
export * from "./engine/index.ts";
export * from "./backends/index.ts";
export * from "./access/index.ts";
export * from "./hooks/index.ts";
export * from "./readers/index.ts";
export * from "./workspace/index.ts";
