/**
 * `filewright/workspace` where there is no Node: opening a workspace, and every type of it and of its tools.
 *
 * @module filewright/workspace
 */
export * from "./index.ts";
export type * from "../tools/types.ts";
