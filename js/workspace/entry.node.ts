/**
 * Opens workspaces, and exports every type of them and of their tools: options, results, arguments and data.
 *
 * @module filewright/workspace
 */
import "../engine/index.node.ts";
import "./local.node.ts";

export * from "./entry.ts";
