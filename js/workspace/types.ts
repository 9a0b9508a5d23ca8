/** The types of a workspace: what it offers, and what it says about itself. */
import type { Files, FileAbilities } from "../backends/files.ts";
import type { PolicySummary } from "../pipeline/policy-summary.ts";
import type { WhyGate, WhyQuestion } from "../pipeline/why.ts";
import type { LockHandle } from "../backends/backend.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import type { EngineInfo } from "../engine/engine.ts";
import type { Approval } from "../hooks/approvals.ts";
import type { ConfirmedPart } from "../hooks/changed-files.ts";
import type { CoveredCalls } from "../hooks/scope/recent.ts";
import type { ApprovalScope } from "../hooks/scope/scope.ts";
import type { Recovery } from "../log/index.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import type { Blame } from "../pipeline/past/blame.ts";
import type { HistoryChange } from "../pipeline/past/file-change.ts";
import type { HistoryEntry, HistoryMark } from "../tools/lib/history-entry.ts";
import type { HistoryOptions, Undone } from "../pipeline/past/history.ts";
import type { UndoneParts } from "../pipeline/past/undo-parts.ts";
import type { KeepOptions } from "../pipeline/past/keep-options.ts";
import type { Unreviewed } from "../pipeline/past/unreviewed.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Spent } from "../pipeline/scheduling/budget.ts";
import type { Grant } from "../policy/index.ts";
import type { StorageFacts } from "../storage/storage.ts";
import type { GrepArgs, GrepData, GrepOutput, ToolArgs, ToolData, ToolName } from "../tools/index.ts";
import type { AccessSummary } from "../tools/lib/tool.ts";
import type { AgentOptions } from "./agents.ts";
import type { ToolMethods } from "./generated/tool-methods.ts";
import type { ForkDiff } from "./forks/changes.ts";
import type { ForkDiffOptions, ForkMerge, ForkMergeOptions, ForkWorkspaceOptions } from "./forks/forks.ts";
import type { LocalFacts } from "./host.ts";
import type { ToolDefinition } from "./preset-tools.ts";
import type { RewindOptions } from "./rewind/options.ts";
import type { Rewound } from "./rewind/rewind.ts";

/** The facts about a workspace: engine, abilities of the files, confinement, journal, result of the recovery. */
export interface Capabilities {
  /** The loaded engine, and the reason why no other was loaded. */
  readonly engine: EngineInfo;
  /** How the files work, such as whether there can be links. */
  readonly backend: FileAbilities;
  /** `native`: the backend resolves and opens in one step. `checked`: paths are checked before they are used. */
  readonly confinement: "native" | "checked";
  /**
   * How a local disk resolves paths, the restrictions that the kernel enforces on the threads that touch
   * files, and why they are not stronger.
   */
  readonly resolver?: LocalFacts;
  /** What the engine of a storage does, as its probe found; absent without the option `storage`. */
  readonly storage?: StorageFacts;
  /** The interrupted changes that opening found. */
  readonly recovery: Recovery;
  /**
   * The place where changes are recorded before they are made. With `memory`, a process that dies during a
   * change leaves it half made; a backend other than `LocalBackend` needs the option `backendId` for
   * `disk`. `host`: in the store of the option `journal`. `storage`: each change is one commit of the storage, whose
   * history is that of every replica.
   */
  readonly journal: "disk" | "memory" | "host" | "storage";
  /** The places of what replicas have to share to answer alike. */
  readonly shared: SharedPlaces;
  /**
   * The directory of locks and history, and why it is not in a better place; absent for a workspace that keeps
   * nothing on the disk.
   */
  readonly state?: StateDirectory;
  /** The confinement of the threads that touch files, and of commands. */
  readonly sandbox: AccessSummary["sandbox"];
}

/**
 * Where a workspace keeps what its replicas have to share. `memory` is that of this process, so another one knows
 * nothing of it; `storage`: the records of the option `storage`; `host`: the store that an option named; `disk`:
 * below the state directory, for the processes of one machine.
 */
export interface SharedPlaces {
  /** Approvals that last beyond their call. */
  readonly approvals: "memory" | "storage" | "host";
  /** What agents have spent of their budgets. */
  readonly budgets: "memory" | "storage" | "host";
  /** What each agent has read, for the guard. `none` where the guard is off. */
  readonly reads: "memory" | "storage" | "host" | "disk" | "none";
}

/** The grants of a workspace. They have an effect only with `permissions.mode: "prompt"`. */
export interface WorkspaceGrants {
  /** Returns the grants in force. */
  list(): Promise<readonly Grant[]>;
  /** Grants a directory without a question. Paths that the policy refuses stay refused. */
  add(grant: Omit<Grant, "granted_at">): Promise<void>;
  /** Revokes the grants of exactly this directory for later calls. Returns false when it had none. */
  revoke(dir: string): Promise<boolean>;
}

/** The approvals of a workspace that last beyond one call. */
export interface WorkspaceApprovals {
  /** Returns the approvals in force. */
  list(): Promise<readonly Approval[]>;
  /** Revokes an approval by its id, for calls that begin from now on. Returns false if there is none. */
  revoke(id: string): Promise<boolean>;
  /**
   * Puts an approval back that this workspace has revoked, as it was given: with the same scope, end and person. Returns
   * false if none of its last 100 has this id, or its time has passed.
   */
  restore(id: string): Promise<boolean>;
  /**
   * Returns how many of the last 100 calls that needed an approval a scope would have covered, so that a person sees
   * how wide it is before it is given. @throws FilewrightError for an invalid scope
   */
  wouldHaveCovered(scope: ApprovalScope): CoveredCalls;
}

/** The options of `ws.lock(path)`, which locks one path. */
export interface WorkspaceLockOptions {
  /** Ends the wait for the lock, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `ws.undo`. */
export interface UndoOptions {
  /**
   * Undo only these hunks, or lines of hunks, as `ws.changes` numbers them; `path` as there, or relative to the working
   * directory. A file that is created, deleted or no text has one hunk. What others changed since in other lines stays.
   * Default: the whole call.
   */
  readonly parts?: readonly ConfirmedPart[] | undefined;
  /** With `parts`: true to return what the undo would do, without doing it. Default false. */
  readonly dryRun?: boolean | undefined;
  /** With `parts`: the `digest` of a dry run. The undo does exactly what that one showed, or fails with CONFLICT. */
  readonly digest?: string | undefined;
  /** The person who wants it, for observers and the audit log. Default: not told. */
  readonly by?: string | undefined;
  /** Ends the wait for locks, with CANCELLED. What has begun to write finishes. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The arguments of a call. One type serves canonical tools and others, because editors complete nothing
 * when they must first choose between two overloads. A preset may have a tool of the same name with
 * other arguments, so those are accepted as well.
 */
export type CallArgs<Name extends string> = Name extends ToolName
  ? ToolArgs[Name] | { readonly [argument: string]: unknown }
  : unknown;

/** The data of a call's result; unknown for a tool that is not canonical. */
export type CallData<Name extends string> = Name extends ToolName ? ToolData[Name] : unknown;

/** The tools for files below the roots, as methods and as definitions for models, and functions for hosts. */
export interface Workspace extends ToolMethods, AsyncDisposable {
  /** Runs a tool. Rejects only with what a hook raised; every failure is a result. */
  call<Output extends GrepOutput = "content">(
    tool: "grep",
    args: GrepArgs<Output>,
    options?: CallOptions,
  ): Promise<ToolResult<GrepData<Output>>>;
  /** Runs a tool. Rejects only with what a hook raised; every failure is a result. */
  call<Name extends ToolName | (string & {})>(
    tool: Name,
    args: CallArgs<Name>,
    options?: CallOptions,
  ): Promise<ToolResult<CallData<Name>>>;
  /** The definitions of the tools, for models. */
  readonly tools: readonly ToolDefinition[];
  /** The storage, confined to the policy of the workspace. Rules and hooks do not apply to it. */
  readonly fs: Files;
  /** Returns the engine, confinement and journal in use. */
  capabilities(): Capabilities;
  /** The interrupted changes that opening found; the same as in {@link Capabilities}. */
  readonly recovery: Recovery;
  /** The granted directories: the host can list, add and revoke them. */
  readonly grants: WorkspaceGrants;
  /** The approvals that last beyond their call. */
  readonly approvals: WorkspaceApprovals;
  /**
   * Returns what the workspace allows: roots, denied globs, and the rules with the number of calls that each has decided
   * about. For the host, not for models: it tells what is denied.
   */
  policy(): PolicySummary;
  /**
   * Explains the decision about a call of a tool on a path: every gate in the order in which calls pass them, its
   * verdict, and the options that configure it. Nothing is changed and nobody is asked. For the host, not for models:
   * it tells what is denied.
   */
  why(question: WhyQuestion): Promise<readonly WhyGate[]>;
  /** Acquires the lock that a changing call on the path acquires. @throws FilewrightError LOCK_TIMEOUT */
  lock(path: string, options?: WorkspaceLockOptions): Promise<LockHandle>;
  /** Returns the changing calls that can be undone, by all callers with the same journal, the newest first. */
  history(options?: HistoryOptions): Promise<readonly HistoryEntry[]>;
  /**
   * Restores the state before a call. An undo can be undone.
   * @throws FilewrightError NOT_FOUND, CONFLICT when a path has changed since, and as any change does
   */
  undo(
    callId: string,
    options?: UndoOptions & {
      /** Absent: the whole call is undone. */
      readonly parts?: undefined;
    },
  ): Promise<Undone>;
  /**
   * Undoes some hunks of a call as one change, which can be undone. The call stays unreviewed for the rest of it.
   *
   * @example
   * const parts = [{ path: "src/a.ts", hunks: [0, 2] }];
   * const { changes, digest } = await ws.undo(callId, { parts, dryRun: true });
   * await ws.undo(callId, { parts, digest }); // exactly what was shown, or CONFLICT
   *
   * @throws FilewrightError NOT_FOUND, CONFLICT when these lines have changed since, INVALID_ARGUMENT for hunks that the
   * call does not have, and as any change does
   */
  undo(
    callId: string,
    options: UndoOptions & {
      /** The hunks, or lines of hunks, as `ws.changes` numbers them. */
      readonly parts: readonly ConfirmedPart[];
    },
  ): Promise<UndoneParts>;
  /**
   * Returns the calls that were made without a question, by the option `review` or a rule with `review`, and that
   * nobody has kept. It is a part of the history: with a journal on the disk or in a storage it survives a restart, and
   * what is not recorded as kept is unreviewed.
   *
   * @example
   * const { calls } = await ws.unreviewed();
   * for (const { callId, paths } of calls) console.log(callId, paths);
   * await ws.keep(calls.map(({ callId }) => callId), { by: "ana" });
   */
  unreviewed(): Promise<Unreviewed>;
  /**
   * Records that calls were reviewed and are kept. Calls that need no review, or are kept already, are fine. Observers
   * see it as a call of `keep`, so the audit log has the person.
   *
   * @returns the ids of the calls that were unreviewed until now
   * @throws FilewrightError NOT_FOUND for an unknown call, and then none is kept
   */
  keep(callIds: string | readonly string[], options?: KeepOptions): Promise<readonly string[]>;
  /**
   * Returns what a call changed, with the contents before and after as far as they are known.
   *
   * @example
   * for (const { display, diff } of await ws.changes(callId)) console.log(display, diff);
   *
   * @throws FilewrightError NOT_FOUND, UNSUPPORTED_OPERATION for a call that cannot be undone
   */
  changes(callId: string): Promise<readonly HistoryChange[]>;
  /**
   * Returns which call wrote each line of a file, as far as the history reaches back. A file that calls moved is followed.
   *
   * @example
   * for (const { line, count, agent } of (await ws.blame("src/a.ts")).lines) console.log(line, count, agent);
   *
   * @throws FilewrightError as reading the file does; LIMIT_EXCEEDED beyond 4 MB, BINARY_FILE for what is not text
   */
  blame(path: string): Promise<Blame>;
  /**
   * Names the present place in the history, for `rewind`. The mark lasts as long as the history reaches back to it.
   * @param name 1 to 64 letters, digits, spaces and `.`, `_`, `-`
   * @throws FilewrightError ALREADY_EXISTS for a name in use, INVALID_ARGUMENT
   */
  mark(name: string): Promise<HistoryMark>;
  /** Returns the marks, the newest first. */
  marks(): Promise<readonly HistoryMark[]>;
  /**
   * Undoes all later calls as one change, or none of them. Paths that a person or another program has changed since are
   * left, and so is what no call has touched. Rules, hooks and approvals apply to it as to a call of `rewind` with the
   * changed paths. It can be undone.
   *
   * @example
   * await ws.mark("before tests");
   * // … the agent works …
   * const { changes, left, digest } = await ws.rewind("before tests", { dryRun: true });
   * const { callId } = await ws.rewind("before tests", { digest }); // exactly what was shown, or CONFLICT
   * await ws.undo(callId);
   *
   * @param to a mark, the id of a call (the state before it), or a time
   * @throws FilewrightError NOT_FOUND for an unknown place, LIMIT_EXCEEDED when the history does not reach back to it,
   * CONFLICT, and as any change of these paths does
   */
  rewind(to: string | Date, options?: RewindOptions): Promise<Rewound>;
  /**
   * Returns the workspace of one agent. Its reads, grants, approvals and budget are its own; files,
   * locks, hooks and history are shared. Its access is that of the workspace, or less. It ends with the
   * workspace.
   *
   * @example
   * const reviewer = await ws.agent("reviewer", { access: { readOnly: true }, budget: { calls: 200 } });
   * const tools = toolsFor(reviewer, "claude");
   *
   * @throws FilewrightError INVALID_ARGUMENT for invalid options
   */
  agent(name: string, options?: AgentOptions): Promise<AgentWorkspace>;
  /**
   * Makes a fork: a workspace with the same options that begins with the files as they are, and whose changes stay
   * in it until they are merged. Nothing is copied, so several agents can each try a change at the same time. On a
   * storage with forks, the fork is a workspace of that storage under this name; otherwise its changes are in memory,
   * and what it has not changed is read from this workspace. It ends with this workspace.
   *
   * @example
   * const fork = await ws.fork("attempt-1");
   * await fork.call("edit_file", { path: "src/a.ts", old_text: "1", new_text: "2" });
   * const { conflicts } = await fork.merge();
   * await fork.drop();
   *
   * @param name 1 to 64 letters, digits and `.`, `_`, `-`; default: a new one, and the fork is dropped when it is closed
   * @throws FilewrightError ALREADY_EXISTS for a name in use, LIMIT_EXCEEDED for more than eight forks above each other
   */
  fork(name?: string, options?: ForkWorkspaceOptions): Promise<ForkWorkspace>;
  /**
   * Shuts the workspace down in order: running calls finish, new ones are refused as CANCELLED with
   * `details.reason: "shutting_down"`. Resolves when no call is running; call `close` then. On an
   * agent's workspace it affects the calls of that agent only.
   */
  drain(): Promise<void>;
  /**
   * Ends the workspace and releases its descriptors, watches, threads and indexes. Later calls fail
   * with UNSUPPORTED_OPERATION. Running calls that read, wait or ask are cancelled (CANCELLED); those
   * that write finish first. Waits for all of them, at most ten seconds.
   */
  close(): Promise<void>;
}

/** The workspace of one of several agents. `close` ends it for this agent only. */
export interface AgentWorkspace extends Workspace {
  /** Returns the used part of the agent's budget; undefined without a budget. */
  spent(): Promise<Spent | undefined>;
}

/**
 * A fork of a workspace. Rules, hooks, approvals and limits are those of its parent; what was read, the history and
 * lasting approvals are its own. Commands do not run in it.
 */
export interface ForkWorkspace extends Workspace {
  /** The name of the fork. */
  readonly name: string;
  /**
   * Returns what the fork changed since it began, or was last merged. The parent need not be as it was then.
   *
   * @example
   * const { changes, text } = await fork.diff({ text: true });
   */
  diff(options?: ForkDiffOptions): Promise<ForkDiff>;
  diff(args: ToolArgs["diff"], options?: CallOptions): Promise<ToolData["diff"]>;
  /**
   * Brings the changes into the parent as one change of it, three-way: what both changed is merged line by line. The
   * parent's rules, hooks and approvals apply to the merge as a call of `merge` with these paths, and it can be
   * undone there. With conflicts nothing is changed. Afterwards the fork goes on, and can be merged again.
   * @throws FilewrightError as any change of these paths does; CONFLICT when a side changes all the time
   */
  merge(options?: ForkMergeOptions): Promise<ForkMerge>;
  /** Closes the fork and removes its changes. Forks of it are closed as well. */
  drop(): Promise<void>;
}
