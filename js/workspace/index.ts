/**
 * `filewright/workspace` without Node: opens workspaces, and exports every type of them and of their tools.
 *
 * This folder contains the options, the agents of a workspace and its tools as methods. A call itself runs
 * in `js/pipeline`, the work of a tool in `js/tools`.
 *
 * @module filewright/workspace
 */
export {
  type JournalStore,
  MemoryJournal,
  type OpenRecord,
  type Recovery,
  type RecoveryProblem,
  type StoredRecord,
} from "../log/index.ts";
export type { RecordEntry } from "../backends/transaction/step.ts";
export type { AgentOptions } from "./agents.ts";
export type { BudgetOptions, Spent } from "../pipeline/scheduling/budget.ts";
export { memoryRecords } from "../records/memory.ts";
export type {
  AddToRecord,
  CountedRecord,
  KeptRecords,
  ListedRecord,
  ListRecords,
  PutRecord,
  RecordCall,
  Records,
  SharedRecord,
} from "../records/records.ts";
export type { CallOptions } from "../pipeline/enter.ts";
export type { Blame, BlamedLines } from "../pipeline/past/blame.ts";
export type { HistoryChange } from "../pipeline/past/file-change.ts";
export type { AllowedBy } from "../backends/transaction/step.ts";
export type { HistoryEntry, HistoryMark } from "../tools/lib/history-entry.ts";
export type { HistoryOptions, Undone } from "../pipeline/past/history.ts";
export type { UndoneParts } from "../pipeline/past/undo-parts.ts";
export type { KeepOptions } from "../pipeline/past/keep-options.ts";
export type { Unreviewed } from "../pipeline/past/unreviewed.ts";
export type { LeftByRewind, RewindOptions, UnrecordedCall } from "./rewind/options.ts";
export type { Rewound } from "./rewind/rewind.ts";
export type {
  ForkChange,
  ForkConflict,
  ForkDiff,
  ForkState,
  MergedChange,
} from "./forks/changes.ts";
export type {
  ForkDiffOptions,
  ForkMerge,
  ForkMergeOptions,
  ForkWorkspaceOptions,
} from "./forks/forks.ts";
export { openWorkspace } from "./open.ts";
export type { PassedDirectory, StateDirectory } from "../backends/state-directory.ts";
export type { LocalFacts } from "./host.ts";
export type { AccessOptions, RootOptions, RootSpec, WorkspaceOptions } from "./options.ts";
export type { MirrorOptions } from "../storage/mirror/options.ts";
export {
  type Mention,
  type MentionOptions,
  type MentionResolver,
  type Mentions,
  resolveMentions,
} from "./mentions.ts";
export type { PermissionOptions } from "./permissions.ts";
export type {
  AcceptedPart,
  ErrorData,
  Failure,
  Meta,
  MetaApproval,
  Success,
  ToolResult,
} from "../pipeline/result.ts";
export type { ToolDefinition } from "./preset-tools.ts";
export type {
  AgentWorkspace,
  CallArgs,
  CallData,
  Capabilities,
  ForkWorkspace,
  SharedPlaces,
  WorkspaceLockOptions,
  UndoOptions,
  Workspace,
  WorkspaceApprovals,
  WorkspaceGrants,
} from "./types.ts";
export type { ToolMethods } from "./generated/tool-methods.ts";
export { toolsFor } from "./workspace.ts";
export type { CallLocation, CallOutline } from "../call/outline.ts";
export type { ToolIcon } from "../tools/icons.ts";
export type { PolicySummary } from "../pipeline/policy-summary.ts";
export type { RuleSummary } from "../policy/rules.ts";
export type { GateName, WhyGate, WhyQuestion } from "../pipeline/why.ts";
export type * from "../tools/types.ts";
