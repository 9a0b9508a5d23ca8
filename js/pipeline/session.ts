/** The state that the calls of a workspace share, in parts by what each is about. */
import type { Files } from "../backends/files.ts";
import type {
  AskGrant,
  DecisionSource,
  Permissions,
  Resolver,
  Rules,
  SandboxPolicy,
} from "../policy/index.ts";
import type { SandboxProvider, SandboxStatus } from "../backends/sandbox/sandbox.ts";
import type { ApprovalPlaces, Approvals } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { Notify } from "../hooks/events.ts";
import type { BoundHook } from "../hooks/run.ts";
import type { Observer } from "../hooks/observer.ts";
import type { Log, Rollbacks } from "../log/index.ts";
import type { GuardLevel } from "../presets/index.ts";
import type { Records } from "../records/records.ts";
import type { CallStage, StagedRecords } from "../storage/staged/stage.ts";
import type { Storage } from "../storage/storage.ts";
import type { AccessSummary, CallSettings, Tool } from "../tools/lib/tool.ts";
import type { Budget } from "./scheduling/budget.ts";
import type { BudgetRecords } from "./scheduling/budget-records.ts";
import type { PathLocker } from "../backends/path-locker.ts";
import type { Repositories } from "./paths/repositories.ts";
import type { Reads } from "./past/reads.ts";
import type { RunningCalls } from "./scheduling/running.ts";
import type { CallSlots } from "./scheduling/admission.ts";
import type { Views } from "./views.ts";

/**
 * Returns the command sandbox for a policy, without the paths that the rules deny; undefined when
 * commands are off.
 */
export type CommandSandboxFor = (policy: SandboxPolicy, rules: Rules) => SandboxProvider | undefined;

/** How the grants of a workspace are asked for. Its agents use the same settings. */
export interface GrantPromptSettings {
  readonly ask: AskGrant | undefined;
  readonly now: (() => number) | undefined;
  readonly file: string | undefined;
}

/** The parts of a session that differ at one moment of a shared storage. */
export interface MomentSession {
  readonly fs: Files;
  readonly views: Views;
  /** The version of the storage that the call sees. */
  readonly version: string | undefined;
}

/** Returns the parts of a session for a call that walks a tree. */
export type EnterMoment = (signal: AbortSignal | undefined) => Promise<MomentSession>;

/** The records of what the replicas of a workspace share. */
export interface SharedStores {
  readonly approvals: Pick<ApprovalPlaces, "shared" | "kept">;
  readonly budgets: BudgetRecords | undefined;
  /** The records of the grants of agents: those that the host gave. */
  readonly grants: Records | undefined;
}

/** The stages of the calls of a workspace over a storage. */
export interface Stages {
  /** The storage itself, without the policy. */
  readonly storage: Files;
  /** Begins the stage of a call. With `mayAssume` false, an undo reads what it could assume. */
  begin(mayAssume: boolean): CallStage;
  /** Returns the log for the call on a stage. */
  log(stage: CallStage): Log;
}

/** On whose behalf a workspace makes its calls. */
interface SessionCaller {
  /** The number of the workspace, unique in this process. */
  readonly workspace: number;
  /** The tenant whose turns the walking calls use; undefined where the workspace has its own. */
  readonly tenant: string | undefined;
  /** The caller of calls that name none. */
  readonly agent: string | undefined;
  /** The person for whom the host makes a call, for observers; undefined for the calls of models. */
  readonly by: string | undefined;
  /** The name of the agent in shared stores, behind those of the agents that it belongs to; empty for the workspace. */
  readonly key: string;
}

/** The files that the calls of a workspace may reach. */
export interface SessionFiles {
  /** The confined storage: it refuses every path that the policy does not allow. */
  readonly fs: Files;
  readonly resolver: Resolver;
  /** The views of the storage: each hides the paths that the rules hide from a call. */
  readonly views: Views;
  /** How calls that walk a tree of a shared storage enter a moment of it; undefined for any other storage. */
  readonly enterMoment: EnterMoment | undefined;
  /** The git repositories below the roots; undefined when protected places are not refused. */
  readonly repositories: Repositories | undefined;
  readonly access: AccessSummary;
  /** Returns the storage restricted to both policies. The paths in `within` are already real. */
  confine(policy: SandboxPolicy, within: SandboxPolicy): Promise<ConfinedFiles>;
  /** Releases the descriptors, threads, watches and memory of the storage, once no call uses it. */
  release(): Promise<void>;
}

/** The files of a workspace, confined to a further policy. */
type ConfinedFiles = Omit<SessionFiles, "repositories" | "confine">;

/**
 * What decides whether a call may be made, and who is asked. `js/pipeline/sources.ts` has the order and `decide` in
 * `js/policy/decide.ts` the way: each source may replace the decision of those before it, and a denial ends it.
 */
export interface SessionGates {
  readonly rules: Rules;
  /** How a change of content that the agent has not seen is handled. */
  readonly guard: GuardLevel;
  /** Undefined when directories need no grant. */
  readonly permissions: Permissions | undefined;
  /** How the user is asked to grant a directory; undefined when nobody is asked. */
  readonly prompting: GrantPromptSettings | undefined;
  readonly approvals: Approvals;
  /** True when the workspace has an approver, for some tool or for all. */
  readonly hasApprover: boolean;
  /** True when some call may need an approval, which may end with the turn of the call. */
  readonly hasTurns: boolean;
  /** True when a change that no rule decides needs an approval, even if there is no approver to give it. */
  readonly requireApproval: boolean;
  /** True when a change that no rule decides is made at once and stays unreviewed until a person keeps it. */
  readonly reviewsAfter: boolean;
  /** Returns the approver of a tool's calls; undefined without one. */
  confirmFor(tool: string, calledAs?: string): Confirm | undefined;
  /** Called with the events of permissions and approvals. */
  readonly notify: Notify | undefined;
  /** Returns what decides about the calls of a tool, in its order. */
  sources(tool: string): readonly DecisionSource[];
  /** Returns true when a change by a tool may need an approval, or a review afterwards, by some option. */
  mayAsk(tool: string): boolean;
}

/** The hooks before and after calls. */
interface SessionHooks {
  readonly bound: readonly BoundHook[];
  /** Called with the error that an `after` hook threw, which has no other effect. */
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Those who are told of the beginning and the end of each call. */
export interface SessionObservers {
  readonly all: readonly Observer[];
  /** True when one of them requests hashes. */
  readonly hashes: boolean;
}

/** What the workspace remembers of earlier calls. */
interface SessionPast {
  /** The log, which has the state before each change for undo. */
  readonly log: Log;
  /** The changes that are not finished, such as those of a dead process. */
  readonly rollbacks: Rollbacks;
  /** The files that each agent has seen. */
  readonly reads: Reads;
}

/** What the options of a workspace say about the work of its tools. */
export interface ToolSettings extends Omit<CallSettings, "commands"> {
  readonly ignoreFiles: readonly string[];
  /** True when `find_files` is among the tools for models. */
  readonly findFiles: boolean;
}

/** The sandbox in which commands run. */
export interface SessionCommands {
  /** Undefined when commands are off. */
  readonly sandbox: SandboxProvider | undefined;
  /** Returns the tool that runs commands, with what a sandbox guarantees; undefined when commands are off. */
  readonly toolFor: ((status: SandboxStatus) => Tool) | undefined;
  /** Returns the sandbox for a stricter policy, such as that of an agent. */
  readonly sandboxFor: CommandSandboxFor;
}

/** What calls wait for, and what they are counted by. */
interface SessionScheduling {
  /** The running calls. */
  readonly running: RunningCalls;
  /** The slots of concurrent calls; undefined without a limit, and for calls in the slot of their batch. */
  readonly slots: CallSlots | undefined;
  readonly locker: PathLocker;
  /** The budget of the agent; undefined when it has no limit. */
  readonly budget: Budget | undefined;
}

/** How calls over a storage read and commit by a stage of their own. */
interface SessionStaging {
  /** Begins the stages of calls; undefined for a backend whose changes are made one by one. */
  readonly stages: Stages | undefined;
  /** The stage of the call; undefined before it begins, and where there are none. */
  readonly stage: CallStage | undefined;
  /** The charges in the commit of the call; undefined for none. */
  readonly charge: StagedRecords | undefined;
  /** The workspace without the stage of a call, for calls inside it that are made one by one. */
  readonly unstaged: Session | undefined;
}

/** What forks of the workspace are made from. */
interface SessionForks {
  /** The storage below the files, when it makes and merges forks itself. */
  readonly storage: (Storage & Required<Pick<Storage, "fork" | "merge">>) | undefined;
  /** The number of forks above this one; 0 for a workspace that is none. */
  readonly depth: number;
}

/**
 * The state that the calls of a workspace share, by what it is about. `openWorkspace` makes it once. An agent, a fork and
 * a call that differs in a part have a copy with that part changed.
 */
export interface Session {
  readonly caller: SessionCaller;
  readonly files: SessionFiles;
  readonly gates: SessionGates;
  readonly hooks: SessionHooks;
  readonly observers: SessionObservers;
  readonly past: SessionPast;
  readonly settings: ToolSettings;
  readonly commands: SessionCommands;
  readonly scheduling: SessionScheduling;
  readonly staging: SessionStaging;
  readonly forks: SessionForks;
  /** What replicas share. A member is undefined where each agent has it in memory. */
  readonly stores: SharedStores;
}
