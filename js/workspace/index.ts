/**
 * The workspace: where a call happens. Options, the pipeline, locks and wording
 * live here; what a tool computes does not, nor where bytes are kept.
 */
export type { AfterReply, BeforeReply, Hook, HookContext, HookResult } from "../hooks/hook.ts";
export type { CallOptions } from "./call.ts";
export type { Confirm, Confirmation, ConfirmPayload, ConfirmReply, Outcome } from "./confirm.ts";
export { type AnyTool, withHooks } from "./hooks.ts";
export { openWorkspace } from "./open.ts";
export type { AccessOptions, RootSpec, WorkspaceOptions } from "./options.ts";
export type { PermissionOptions } from "./permissions.ts";
export type { ErrorData, Failure, Meta, Success, ToolResult } from "./result.ts";
export type { Decision, Rule } from "./rules.ts";
export type { Capabilities, ToolDefinition, ToolMethods, Workspace, WorkspaceGrants } from "./workspace.ts";
export { toolsFor } from "./workspace.ts";
