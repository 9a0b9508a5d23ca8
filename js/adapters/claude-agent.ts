/**
 * A server of tools for the Claude Agent SDK, in the process of the host. Nothing
 * of the SDK, nor of an MCP SDK, is imported.
 *
 * The agent knows a tool as `mcp__NAME__TOOL`. A failed call has `isError`. The
 * SDK asks about tools through its own `canUseTool`; {@link toAllowedTools} names
 * those that need no question.
 */
import type { Workspace } from "../workspace/index.ts";
import { inProcessServer } from "./in-process-mcp.ts";
import { type AdapterOptions, type Approve, askingAbout, offered } from "./offer.ts";

export type { Approve } from "./offer.ts";

/** The server in the shape of the SDK. */
export interface ClaudeAgentServer {
  type: "sdk";
  name: string;
  /** An `InProcessServer`; the SDK types it as a class of another package, and only connects it. */
  instance: never;
}

/** Beyond what every adapter takes. */
export interface ClaudeAgentOptions extends AdapterOptions {
  /** The name of the server, which must be its key in `mcpServers`. Default `filewright`. */
  readonly name?: string | undefined;
}

/**
 * The tools of a workspace for `query`. Leave the SDK's own file tools out, so
 * that there is one way to the files.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const mcpServers = { filewright: toClaudeAgentServer(ws) };
 * const options = { mcpServers, tools: [], allowedTools: toAllowedTools(ws, "changes"), canUseTool };
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toClaudeAgentServer(ws: Workspace, options: ClaudeAgentOptions = {}): ClaudeAgentServer {
  const { name = "filewright" } = options;
  const server = inProcessServer({ name, version: "1" }, offered(ws, options));
  return { type: "sdk", name, instance: server as never };
}

/** The tools that are called without a question: the SDK's `allowedTools`. */
export function toAllowedTools(
  ws: Workspace,
  approve: Exclude<Approve, (...args: never) => unknown>,
  options: ClaudeAgentOptions = {},
): string[] {
  const { name = "filewright" } = options;
  return offered(ws, options)
    .filter((tool) => askingAbout(tool, approve) === undefined)
    .map((tool) => `mcp__${name}__${tool.name}`);
}
