/**
 * Adapters: a workspace in the shapes of agent frameworks, one file for each. They
 * translate and decide nothing: every call goes through the workspace. No file
 * here imports an SDK; what each SDK expects is written down as a type.
 */
export type { AdapterOptions, ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";
export { ToolFailure } from "./outcome.ts";
