/**
 * `filewright` where there is no Node, after `await ready()` of `filewright/engine`: opening a workspace, and the
 * types that are met on the way. At most twenty names; everything else has an entry of its own.
 *
 * @module filewright
 */
export type { FsBackend } from "./backends/backend.ts";
export type { Files } from "./backends/files.ts";
export { MemoryBackend } from "./backends/memory/memory.ts";
export { type Code, FilewrightError, FsPermissionError, SandboxViolation } from "./engine/errors.ts";
export type { ToolArgs, ToolData, ToolName } from "./tools/index.ts";
export type { AgentOptions } from "./workspace/agents.ts";
export type { CallOptions } from "./pipeline/enter.ts";
export { resolveMentions } from "./workspace/mentions.ts";
export { openWorkspace } from "./workspace/open.ts";
export type { WorkspaceOptions } from "./workspace/options.ts";
export type { ToolResult } from "./pipeline/result.ts";
export type { ToolDefinition } from "./workspace/preset-tools.ts";
export type { AgentWorkspace, Workspace } from "./workspace/types.ts";
export { toolsFor } from "./workspace/workspace.ts";
