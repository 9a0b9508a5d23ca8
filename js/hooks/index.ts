/**
 * Hooks: functions that may stop, change or approve a call, of this package's tools or others; and
 * ready-made approvers. The workspace decides which calls need an approval.
 */
export * from "./approval-hook.ts";
export * from "./approvals.ts";
export type { ExactCommand } from "./scope/command.ts";
export * from "./approvers.ts";
export * from "./audit/audit.ts";
export {
  type BinaryContent,
  type ChangeContents,
  type ChangeDetails,
  changeDetails,
  type ChangeHunk,
  type ChangeSummary,
  type ConfirmedChange,
  type ConfirmedLines,
  type ConfirmedPart,
  type HunkRow,
} from "./changed-files.ts";
export * from "./confirm.ts";
export * from "./approval-queue.ts";
export type { QueueEvent, QueueState, WithdrawalReason } from "./queue/events.ts";
export type { ApprovalSummary, PendingApproval } from "./queue/summary.ts";
export * from "./events.ts";
export * from "./foreign.ts";
export * from "./headless.ts";
export * from "./hook.ts";
export {
  type GaugeName,
  type InstrumentOptions,
  type MeterLike,
  type Meters,
  meters,
  type MetricAttributes,
} from "./meters.ts";
export type { ShownQuestion } from "./question.ts";
export type { AllowedBy } from "../backends/transaction/step.ts";
export * from "./observer.ts";
export type { CoveredCalls } from "./scope/recent.ts";
export type { ApprovalScope, ScopedCall, ScopeEnd } from "./scope/scope.ts";
export * from "./telemetry.ts";
export * from "./usage.ts";
export * from "./notebook.ts";
export * from "./queue/parking.ts";
