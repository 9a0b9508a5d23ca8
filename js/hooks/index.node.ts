/**
 * `filewright/hooks` on Node: with the engine loaded, and the terminal.
 *
 * @module filewright/hooks
 */
import "../engine/index.node.ts";

export type { HttpLimits } from "../http/limits.ts";
export * from "./approval-server.node.ts";
export * from "./audit/audit-file.node.ts";
export * from "./audit/verify.node.ts";
export * from "./index.ts";
export * from "./terminal.node.ts";
