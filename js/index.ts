/** Everything of every entry where there is no Node, for what tests and measures Filewright: no entry of the package. */
export * from "./engine/index.ts";
export * from "./backends/index.ts";
export * from "./policy/index.ts";
export * from "./hooks/index.ts";
export * from "./readers/index.ts";
export * from "./workspace/index.ts";
