/** The workspace for its users: `call`, the tools, and a method for each tool. */
import type { SandboxPolicy } from "../backends/policy.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { type Grant, makePermissions, memoryGrants, type Permissions } from "../policy/index.ts";
import type { Capability, FsBackend, LockHandle } from "../backends/backend.ts";
import type { Approval } from "../hooks/approvals.ts";
import type { Recovery } from "../journal/index.ts";
import type { EngineInfo } from "../engine/engine.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import { optionChecker, type Options, options, signalOption, text } from "../schema/option.ts";
import { type Preset, type PresetName, presetOf } from "../presets/index.ts";
import {
  type GrepArgs,
  type GrepData,
  type GrepOutput,
  TOOLS,
  type ToolArgs,
  type ToolData,
  type ToolName,
} from "../tools/index.ts";
import { runCommandToolFor } from "../tools/run_command.ts";
import type { AccessSummary, Tool } from "../tools/lib/tool.ts";
import { type AgentOptions, makeAgentSession } from "./agents.ts";
import type { Spent } from "../pipeline/scheduling/budget.ts";
import { runCall } from "../pipeline/call.ts";
import { optionsOrThrow, checkCallOptions } from "../pipeline/call-options.ts";
import { lockPathsOfCall } from "../pipeline/change.ts";
import { type CallGate, makeCallGate } from "../pipeline/scheduling/admission.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { iconOfTool, outlineOfCall, previewOfCall } from "../pipeline/outline.ts";
import { type Failure, refusedFailure, type ToolResult, unknownToolFailure } from "../pipeline/result.ts";
import { ROOT_LOOKUP, makeRootLookup } from "../pipeline/paths/first-root.ts";
import { type HistoryEntry, listHistory, type Undone, undoCall } from "../pipeline/past/history.ts";
import type { StateDirectory } from "../backends/state-directory.ts";
import type { StorageFacts } from "../storage/storage.ts";
import type { LocalFacts } from "./host.ts";
import type { Session } from "../pipeline/session.ts";
import { type PresetTools, presetTools, type ToolDefinition } from "./preset-tools.ts";

/** What the workspace runs on: engine, capabilities of the backend, confinement, journal, and what recovery found. */
export interface Capabilities {
  /** The loaded engine, and the reason why no other was loaded. */
  readonly engine: EngineInfo;
  /** The optional capabilities of the backend that the workspace uses. */
  readonly backend: readonly Capability[];
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
}

/** The options of `ws.lock(path)`, which locks one path. */
export interface WorkspaceLockOptions {
  /** Ends the wait for the lock, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of `ws.undo`. */
export interface UndoOptions {
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
  readonly fs: FsBackend;
  /** Returns the engine, confinement and journal in use. */
  capabilities(): Capabilities;
  /** The interrupted changes that opening found; the same as in {@link Capabilities}. */
  readonly recovery: Recovery;
  /** The granted directories: the host can list, add and revoke them. */
  readonly grants: WorkspaceGrants;
  /** The approvals that last beyond their call. */
  readonly approvals: WorkspaceApprovals;
  /** Acquires the lock that a changing call on the path acquires. @throws FilewrightError LOCK_TIMEOUT */
  lock(path: string, options?: WorkspaceLockOptions): Promise<LockHandle>;
  /** Returns the changing calls that can be undone, by all callers with the same journal, the newest first. */
  history(): Promise<readonly HistoryEntry[]>;
  /**
   * Restores the state before a call. An undo can be undone.
   * @throws FilewrightError NOT_FOUND, CONFLICT when a path has changed since, and as any change does
   */
  undo(callId: string, options?: UndoOptions): Promise<Undone>;
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

const CLOSED_MESSAGE = "The workspace is closed.";
/**
 * The options of `ws.lock`.
 *
 * @printed
 */
export const LOCK_OPTIONS: Options<WorkspaceLockOptions> = options("WorkspaceLockOptions", {
  signal: signalOption,
});

/**
 * The options of `ws.undo`.
 *
 * @printed
 */
export const UNDO_OPTIONS: Options<UndoOptions> = options("UndoOptions", { signal: signalOption });

const checkLockOptions = optionChecker("lock", LOCK_OPTIONS);
const checkUndoOptions = optionChecker("undo", UNDO_OPTIONS);
const checkCallId = optionChecker("undo", text());

function closedWorkspaceFailure(): Failure {
  return refusedFailure("UNSUPPORTED_OPERATION", CLOSED_MESSAGE);
}

/** Creates a workspace on its shared state. `isAgent`: it belongs to another, and shares its files and hooks. */
export function makeWorkspace(
  session: Session,
  preset: Preset | undefined,
  capabilities: Capabilities,
  isAgent = false,
  gateAbove?: CallGate,
): Workspace {
  // A read-only workspace does not offer changing tools; a call of one fails with READ_ONLY.
  const { commands } = session;
  const known =
    commands === undefined ? TOOLS : [...TOOLS, runCommandToolFor(commands.status) as unknown as Tool];
  const tools = known.filter(
    (tool) =>
      (!session.access.readOnly || tool.kind === "read") && (session.findFiles || tool.name !== "find_files"),
  );
  const byName = new Map<string, Tool>(known.map((tool) => [tool.name, tool]));
  const gate = makeCallGate(gateAbove);
  const refusal = (): Failure | undefined =>
    session.running.closed ? closedWorkspaceFailure() : gate.refusal();

  const callOwn = async (name: string, args: unknown, given?: CallOptions): Promise<ToolResult> => {
    const tool = byName.get(name);
    const end = refusal();
    if (end !== undefined) return end;
    if (tool === undefined) return unknownToolFailure(name, byName.keys());
    const checked = checkCallOptions(given);
    if ("ok" in checked) return checked;
    return gate.run(() => runCall(session, tool, args, checked.options));
  };
  const listOf = (other: Preset): PresetTools => presetTools(session, other, { refusal, run: gate.run });
  const ofPreset = preset === undefined ? undefined : listOf(preset);
  const call = ofPreset === undefined ? callOwn : ofPreset.call;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll());
  const closeAll = async (): Promise<void> => {
    await session.running.close();
    await session.journal.settled();
    await session.release();
    if (isAgent) return; // The parent workspace is still in use.
    await session.reads.close();
    for (const observer of session.observers) await observer.close?.();
  };
  const wantOpen = (): void => {
    if (session.running.closed)
      throw new FilewrightError("UNSUPPORTED_OPERATION", CLOSED_MESSAGE, { complete: true });
  };
  const definitions = tools.map(
    (tool): ToolDefinition =>
      Object.freeze({
        name: tool.name,
        title: tool.title,
        description: tool.description,
        inputSchema: tool.inputSchema,
        outputSchema: tool.outputSchema,
        annotations: tool.annotations,
        icon: iconOfTool(tool.name),
        outline: (args: unknown) => outlineOfCall(session, tool, args),
        preview: async (args: unknown, options?: CallOptions) =>
          gate.run(() =>
            previewOfCall(session, tool, args, optionsOrThrow(refusal() ?? checkCallOptions(options))),
          ),
        execute: (args: unknown, options?: CallOptions) => callOwn(tool.name, args, options),
        [ROOT_LOOKUP]: makeRootLookup(session, tool.name),
      }),
  );
  const methods: Record<string, (args: unknown, options?: CallOptions) => Promise<unknown>> = {};
  for (const { name } of TOOLS) {
    methods[toCamelCase(name)] = async (args, options) => {
      const result = await callOwn(name, args, options);
      if (result.ok) return result.data;
      const { code, message, ...rest } = result.error;
      throw makeError(code, message, rest);
    };
  }
  const base: Omit<Workspace, keyof ToolMethods> = {
    call: call as Workspace["call"],
    tools: ofPreset?.tools ?? Object.freeze(definitions),
    fs: session.fs,
    capabilities: () => capabilities,
    recovery: capabilities.recovery,
    approvals: Object.freeze({ list: session.approvals.list, revoke: session.approvals.revoke }),
    grants: workspaceGrantsOf(
      session.permissions ?? makePermissions({ mode: "off", store: memoryGrants() }),
      session.resolver.policy.paths,
    ),
    async lock(path, given = {}) {
      wantOpen();
      const { signal } = checkLockOptions(given);
      const location = session.resolver.resolve(path, "write");
      const release = await lockPathsOfCall(session, [{ argument: "path", typed: path, intent: "write" }], {
        fs: session.fs,
        locations: [location],
        signal,
      });
      return { release };
    },
    history: () => listHistory(session),
    async undo(callId, given = {}) {
      wantOpen();
      const { signal } = checkUndoOptions(given);
      const id = checkCallId(callId);
      const refused = gate.refusal();
      if (refused !== undefined) throw makeError(refused.error.code, refused.error.message, refused.error);
      // An undo writes, so closing waits for it and does not cancel it.
      const end = session.running.begin(() => {});
      try {
        return await gate.run(() => undoCall(session, id, signal));
      } finally {
        end();
      }
    },
    async agent(name, options = {}) {
      wantOpen();
      const own = await makeAgentSession(session, name, options);
      const other = options.preset === undefined ? preset : presetOf(options.preset);
      return makeWorkspace(own, other, capabilities, true, gate) as AgentWorkspace;
    },
    drain: gate.drain,
    close,
    [Symbol.asyncDispose]: close,
  };
  const spent = isAgent ? { spent: async () => session.budget?.spent() } : {};
  const ws = Object.assign(base, methods, spent);
  const list: ListOfPreset = (other) =>
    other === undefined ? Object.freeze(definitions) : listOf(other).tools;
  Object.defineProperty(ws, toolsByPreset, { value: list });
  Object.defineProperty(ws, ROOT_LOOKUP, { value: makeRootLookup(session, "stat") });
  return Object.freeze(ws) as unknown as Workspace;
}

/** Returns the tools of a workspace under the names of a preset. */
type ListOfPreset = (preset: Preset | undefined) => readonly ToolDefinition[];

/**
 * The key under which a workspace holds its {@link ListOfPreset}. A WeakMap would keep its values until a full
 * garbage collection, long after the workspace is closed.
 */
const toolsByPreset: unique symbol = Symbol("tools of a preset");

/**
 * Returns the tools of a workspace under the names, parameters and texts of a preset, whatever preset it
 * was opened with. They share its roots, rules, hooks and locks.
 *
 * @example
 * const tools = toolsFor(ws, "gemini"); // [{ name: "write_file", inputSchema, execute, … }, …]
 *
 * @throws FilewrightError INVALID_ARGUMENT for an unknown preset
 */
export function toolsFor(ws: Workspace, preset: PresetName | Preset): readonly ToolDefinition[] {
  const list = (ws as { readonly [toolsByPreset]?: ListOfPreset } | null | undefined)?.[toolsByPreset];
  if (list === undefined) throw new FilewrightError("INVALID_ARGUMENT", "this is no workspace of Filewright");
  return list(presetOf(preset));
}

function workspaceGrantsOf(
  { list, add, revoke }: Permissions,
  paths: SandboxPolicy["paths"],
): WorkspaceGrants {
  const shown = async () => (await list()).map((grant) => ({ ...grant, dir: displayPath(grant.dir, paths) }));
  return Object.freeze({ list: paths === undefined ? list : shown, add, revoke });
}

function toCamelCase(name: string): string {
  return name.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
}

/**
 * Every tool as a method: it returns the data, or throws the failure. The doc comments of the methods and of
 * their arguments are the descriptions for models: `scripts/describe-types.mjs` adds them to the declarations.
 */
export interface ToolMethods {
  readFile(args: ToolArgs["read_file"], options?: CallOptions): Promise<ToolData["read_file"]>;
  readManyFiles(
    args: ToolArgs["read_many_files"],
    options?: CallOptions,
  ): Promise<ToolData["read_many_files"]>;
  writeFile(args: ToolArgs["write_file"], options?: CallOptions): Promise<ToolData["write_file"]>;
  editFile(args: ToolArgs["edit_file"], options?: CallOptions): Promise<ToolData["edit_file"]>;
  applyPatch(args: ToolArgs["apply_patch"], options?: CallOptions): Promise<ToolData["apply_patch"]>;
  diff(args: ToolArgs["diff"], options?: CallOptions): Promise<ToolData["diff"]>;
  listDirectory(args: ToolArgs["list_directory"], options?: CallOptions): Promise<ToolData["list_directory"]>;
  glob(args: ToolArgs["glob"], options?: CallOptions): Promise<ToolData["glob"]>;
  findFiles(args: ToolArgs["find_files"], options?: CallOptions): Promise<ToolData["find_files"]>;
  grep<Output extends GrepOutput = "content">(
    args: GrepArgs<Output>,
    options?: CallOptions,
  ): Promise<GrepData<Output>>;
  stat(args: ToolArgs["stat"], options?: CallOptions): Promise<ToolData["stat"]>;
  copy(args: ToolArgs["copy"], options?: CallOptions): Promise<ToolData["copy"]>;
  move(args: ToolArgs["move"], options?: CallOptions): Promise<ToolData["move"]>;
  delete(args: ToolArgs["delete"], options?: CallOptions): Promise<ToolData["delete"]>;
  mkdir(args: ToolArgs["mkdir"], options?: CallOptions): Promise<ToolData["mkdir"]>;
  batch(args: ToolArgs["batch"], options?: CallOptions): Promise<ToolData["batch"]>;
  accessInfo(args: ToolArgs["access_info"], options?: CallOptions): Promise<ToolData["access_info"]>;
}

/** Converts a name: `read_file` → `readFile`. */
type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The type of any method, for code that handles all of them. */
type MethodOfTool<Name extends ToolName> = (
  args: ToolArgs[Name],
  options?: CallOptions,
) => Promise<ToolData[Name]>;

/** Fails to compile when a tool has no method, or a method does not fit its tool. */
type MethodsComplete<
  _Methods extends { readonly [Name in ToolName as CamelCase<Name>]: MethodOfTool<Name> },
> = true;
/** True when each tool has a method, and there are no others. */
type ToolMethodsAreComplete = MethodsComplete<ToolMethods> &
  ([Exclude<keyof ToolMethods, CamelCase<ToolName>>] extends [never] ? true : never);
true satisfies ToolMethodsAreComplete;
