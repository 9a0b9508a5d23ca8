/**
 * A server of tools for the Claude Agent SDK, in the process of the host. Nothing of the SDK, nor
 * of an MCP SDK, is imported.
 *
 * The agent uses the tool name `mcp__NAME__TOOL`. A failed call has `isError`. The SDK asks about
 * tools through its own `canUseTool`; {@link toAllowedTools} names those without a question.
 *
 * @module filewright/claude-agent
 */
import { type Options, options as described, text } from "../schema/option.ts";
import type { Workspace } from "../workspace/index.ts";
import { inProcessServer } from "./in-process-mcp.ts";
import {
  adapterChecker,
  type AdapterOptions,
  type Approve,
  approvalPredicate,
  selectTools,
  SHARED_OPTION_ROWS,
} from "./offer.ts";

export type { AdapterOptions, Approve } from "./offer.ts";

/** The server in the shape of the SDK. */
export interface ClaudeAgentServer {
  type: "sdk";
  name: string;
  /** An `InProcessServer`; the SDK types it as a class of another package, and only connects it. */
  instance: never;
}

/** Options in addition to those of every adapter. */
export interface ClaudeAgentOptions extends AdapterOptions {
  /** The name of the server, which must be its key in `mcpServers`. Default `filewright`. */
  readonly name?: string | undefined;
}

/** The options of {@link toClaudeAgentServer}. */
export const CLAUDE_AGENT_OPTIONS: Options<ClaudeAgentOptions> = described("ClaudeAgentOptions", {
  ...SHARED_OPTION_ROWS,
  name: text(),
});

const checkOptions = adapterChecker("toClaudeAgentServer", CLAUDE_AGENT_OPTIONS);
const checkAllowedToolsOptions = adapterChecker("toAllowedTools", CLAUDE_AGENT_OPTIONS);

/**
 * The tools of a workspace for `query`. Disable the SDK's own file tools, so that all file access
 * goes through the workspace.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const mcpServers = { filewright: toClaudeAgentServer(ws) };
 * const options =
 * { mcpServers, tools: [], allowedTools: toAllowedTools(ws, "changes"), canUseTool };
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toClaudeAgentServer(ws: Workspace, given: ClaudeAgentOptions = {}): ClaudeAgentServer {
  const options = checkOptions(ws, given);
  const { name = "filewright" } = options;
  const server = inProcessServer({ name, version: "1" }, selectTools(ws, options));
  return { type: "sdk", name, instance: server as never };
}

/** Returns the tools that are called without a question: the SDK's `allowedTools`. */
export function toAllowedTools(
  ws: Workspace,
  approve: Exclude<Approve, (...args: never) => unknown>,
  given: ClaudeAgentOptions = {},
): string[] {
  const options = checkAllowedToolsOptions(ws, given);
  const { name = "filewright" } = options;
  return selectTools(ws, options)
    .filter((tool) => approvalPredicate(tool, approve) === undefined)
    .map((tool) => `mcp__${name}__${tool.name}`);
}
