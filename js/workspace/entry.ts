/**
 * `filewright/workspace` without Node: opens workspaces, and exports every type of them and of their tools.
 *
 * @module filewright/workspace
 */
export * from "./index.ts";
export type * from "../tools/types.ts";
