/**
 * Opens workspaces, also on the local disk, and exports every type of them and of their tools: options,
 * results, arguments and data.
 *
 * @module filewright/workspace
 */
import "./host.node.ts";

export * from "./index.ts";
