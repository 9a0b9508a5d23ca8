/**
 * Opening a workspace, and every type of it and of its tools: options, results, arguments and data.
 *
 * @module filewright/workspace
 */
import "../engine/index.node.ts";
import "./local.node.ts";

export * from "./entry.ts";
