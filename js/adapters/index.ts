/**
 * Adapters: a workspace in the shapes of agent frameworks, one file for each. They only translate:
 * every call goes through the workspace. No file here imports an SDK; types describe what each SDK
 * expects.
 */
export type { AdapterOptions, ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";
export { ToolFailure } from "./outcome.ts";
