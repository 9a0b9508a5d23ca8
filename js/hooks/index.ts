/**
 * Hooks: what is told of a call and may stop, change or approve it, for our tools
 * and for any other; and ready-made approvers. What a workspace asks about, and
 * when, is the business of the workspace.
 */
export * from "./approval-hook.ts";
export * from "./approvals.ts";
export * from "./approver.ts";
export * from "./approvers.ts";
export * from "./audit.ts";
export * from "./confirm.ts";
export * from "./desk.ts";
export * from "./desk-question.ts";
export * from "./events.ts";
export * from "./foreign.ts";
export * from "./headless.ts";
export * from "./hook.ts";
export type { ShownQuestion } from "./question.ts";
export * from "./observer.ts";
export * from "./telemetry.ts";
export * from "./usage.ts";
export * from "./notebook.ts";
