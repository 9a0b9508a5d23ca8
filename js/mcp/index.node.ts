/**
 * `filewright/mcp`: MCP servers over HTTP for workspaces that a program opens itself.
 *
 * @module filewright/mcp
 */
import "../engine/index.node.ts";

export type { HttpLimits } from "../http/limits.ts";
export type { OauthOptions } from "./auth/oauth.ts";
export { type ServeMcpOptions, serveMcp, type WorkspaceClaims, type WorkspaceFacts } from "./serve-mcp.ts";
export type { StructuredLevel } from "./protocol/content.ts";
export type { ServedPreset } from "./offered.ts";
export type { RunningHttpServer } from "./shutdown.ts";
