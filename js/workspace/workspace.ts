/** The workspace as its users hold it: `call`, the tools, and a method for each. */
import { type Grant, makePermissions, memoryGrants, type Permissions } from "../access/index.ts";
import type { Capability, FsBackend, LockHandle } from "../backends/backend.ts";
import type { Approval } from "../hooks/approvals.ts";
import type { Recovery } from "../journal/index.ts";
import type { EngineInfo } from "../engine/engine.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import { gateOf, type Options, options, signalOption, text } from "../schema/option.ts";
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
import { runCommandIn } from "../tools/run_command.ts";
import type { AccessSummary, Tool } from "../tools/tool.ts";
import { type AgentOptions, agentSession } from "./agents.ts";
import type { Spent } from "./budget.ts";
import { runCall } from "./call.ts";
import { allowed, callOptions } from "./call-options.ts";
import { lockAll } from "./change.ts";
import { type CallGate, makeCallGate } from "./drain.ts";
import type { CallOptions } from "./enter.ts";
import { iconOf, outlineOf, previewOf } from "./outline.ts";
import { type Failure, refused, type ToolResult, unknownTool } from "./result.ts";
import { FIND_IN_ROOTS, findInRoots } from "./first-root.ts";
import { type HistoryEntry, historyOf, type Undone, undoCall } from "./history.ts";
import type { LocalFacts } from "./host.ts";
import type { Session } from "./session.ts";
import { type PresetTools, presetTools, type ToolDefinition } from "./preset-tools.ts";
import type { ToolMethods } from "./tool-methods.ts";

/** What is in force. */
export interface Capabilities {
  /** The engine that is loaded, and why not another. */
  readonly engine: EngineInfo;
  /** The optional capabilities of the backend. */
  readonly backend: readonly Capability[];
  /** `native`: the backend resolves and opens in one step. `checked`: paths are judged before they are used. */
  readonly confinement: "native" | "checked";
  /** How a local disk resolves paths, what the kernel enforces on the threads that touch files, and why not more. */
  readonly resolver?: LocalFacts;
  /** What opening found of changes that were cut before they were complete. */
  readonly recovery: Recovery;
  /**
   * Where changes are recorded before they are made. `memory`: a process that ends amid a change leaves it half made;
   * a backend other than `LocalBackend` needs the option `backendId` for `disk`.
   */
  readonly journal: "disk" | "memory";
  /** What the kernel enforces besides. */
  readonly sandbox: AccessSummary["sandbox"];
}

/** The grants of a workspace. Without `permissions.mode: "prompt"` they change nothing. */
export interface WorkspaceGrants {
  /** Those in force. */
  list(): Promise<readonly Grant[]>;
  /** Grants a directory without a question; what the policy refuses stays refused. */
  add(grant: Omit<Grant, "granted_at">): Promise<void>;
  /** Takes the grants of exactly this directory back, for calls that begin from now on. False where it had none. */
  revoke(dir: string): Promise<boolean>;
}

/** What a workspace was told to stop asking about. */
export interface WorkspaceApprovals {
  /** Those in force. */
  list(): readonly Approval[];
  /** Takes one back by its id, for calls that begin from now on. */
  revoke(id: string): boolean;
}

/** The options of `ws.lock`. */
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
 * The arguments of a call. One type for our tools and for others: an editor completes nothing
 * where it must first find out which of two is meant. A preset may have a tool of the same name
 * with other arguments, so those are taken as well.
 */
export type CallArgs<Name extends string> = Name extends ToolName
  ? ToolArgs[Name] | { readonly [argument: string]: unknown }
  : unknown;

/** The data of a call's result; of a tool that is not ours, whatever it gives. */
export type CallData<Name extends string> = Name extends ToolName ? ToolData[Name] : unknown;

/** Everything a model may do with files below the roots: a method for each tool, and what a host needs besides. */
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
  /** The tools, for models. */
  readonly tools: readonly ToolDefinition[];
  /** The confined backend. */
  readonly fs: FsBackend;
  /** What is in force: the engine, the confinement, the journal. */
  capabilities(): Capabilities;
  /** What opening found of changes that were cut before they were complete; the same as in {@link Capabilities}. */
  readonly recovery: Recovery;
  /** The directories that were granted: to be told, given and taken back by the host. */
  readonly grants: WorkspaceGrants;
  /** The approvals that outlast their call. */
  readonly approvals: WorkspaceApprovals;
  /** Takes the lock that a changing call on the path takes. @throws FilewrightError LOCK_TIMEOUT */
  lock(path: string, options?: WorkspaceLockOptions): Promise<LockHandle>;
  /** The changing calls that can be undone, of all who work here with the same state, the newest first. */
  history(): Promise<readonly HistoryEntry[]>;
  /**
   * Puts back what a call found before it changed it; an undo can be undone.
   * @throws FilewrightError NOT_FOUND, CONFLICT where something changed since, and as any change does
   */
  undo(callId: string, options?: UndoOptions): Promise<Undone>;
  /**
   * The workspace as one agent has it: what it has read, its grants, its approvals
   * and its budget are its own; files, locks, hooks and history are those of all.
   * It may do what the workspace may, or less; it ends with the workspace.
   *
   * @example
   * const reviewer = await ws.agent("reviewer", { access: { readOnly: true }, budget: { calls: 200 } });
   * const tools = toolsFor(reviewer, "claude");
   *
   * @throws FilewrightError INVALID_ARGUMENT for options that make no sense
   */
  agent(name: string, options?: AgentOptions): Promise<AgentWorkspace>;
  /**
   * Ends the workspace in order: calls that run are finished, new ones are refused as CANCELLED with
   * `details.reason: "shutting_down"`. Resolves once no call runs; call `close` then. On an agent's workspace
   * it ends that agent's calls alone.
   */
  drain(): Promise<void>;
  /**
   * Ends the workspace and gives back what it holds: descriptors, watches, threads, indexes. Later calls fail
   * with UNSUPPORTED_OPERATION. Calls under way that only read, wait or ask are cancelled (CANCELLED); what has
   * begun to write finishes first. Waits for all of them, at most ten seconds.
   */
  close(): Promise<void>;
}

/** A workspace as one of several agents has it. `close` ends it for this agent alone. */
export interface AgentWorkspace extends Workspace {
  /** What the agent has used of its budget; undefined where it has none. */
  spent(): Spent | undefined;
}

const CLOSED = "The workspace is closed.";
/** The options of `ws.lock`. */
export const LOCK_OPTIONS: Options<WorkspaceLockOptions> = options("WorkspaceLockOptions", {
  signal: signalOption,
});

/** The options of `ws.undo`. */
export const UNDO_OPTIONS: Options<UndoOptions> = options("UndoOptions", { signal: signalOption });

const gateLock = gateOf("lock", LOCK_OPTIONS);
const gateUndo = gateOf("undo", UNDO_OPTIONS);
const gateCallId = gateOf("undo", text());

function closedRefusal(): Failure {
  return refused("UNSUPPORTED_OPERATION", CLOSED);
}

/** Makes the workspace over a session. `isAgent`: it is a part of another, whose files and hooks it shares. */
export function makeWorkspace(
  session: Session,
  preset: Preset | undefined,
  capabilities: Capabilities,
  isAgent = false,
  gateAbove?: CallGate,
): Workspace {
  // A read-only workspace does not offer what it would refuse; called all the same, it says READ_ONLY.
  const { commands } = session;
  const known = commands === undefined ? TOOLS : [...TOOLS, runCommandIn(commands.status) as unknown as Tool];
  const tools = known.filter(
    (tool) =>
      (!session.access.readOnly || tool.kind === "read") && (session.findFiles || tool.name !== "find_files"),
  );
  const byName = new Map<string, Tool>(known.map((tool) => [tool.name, tool]));
  const gate = makeCallGate(gateAbove);
  const refusal = (): Failure | undefined => (session.running.closed ? closedRefusal() : gate.refusal());

  const callOwn = async (name: string, args: unknown, given?: CallOptions): Promise<ToolResult> => {
    const tool = byName.get(name);
    const end = refusal();
    if (end !== undefined) return end;
    if (tool === undefined) return unknownTool(name, byName.keys());
    const checked = callOptions(given);
    if ("ok" in checked) return checked;
    return gate.run(() => runCall(session, tool, args, checked.options));
  };
  const listOf = (other: Preset): PresetTools => presetTools(session, other, { refusal, run: gate.run });
  const spoken = preset === undefined ? undefined : listOf(preset);
  const call = spoken === undefined ? callOwn : spoken.call;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= closeAll());
  const closeAll = async (): Promise<void> => {
    await session.running.close();
    await session.release();
    if (isAgent) return; // The workspace of all is still at work.
    await session.reads.close();
    for (const observer of session.observers) await observer.close?.();
  };
  const wantOpen = (): void => {
    if (session.running.closed)
      throw new FilewrightError("UNSUPPORTED_OPERATION", CLOSED, { complete: true });
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
        icon: iconOf(tool.name),
        outline: (args: unknown) => outlineOf(session, tool, args),
        preview: async (args: unknown, options?: CallOptions) =>
          gate.run(() => previewOf(session, tool, args, allowed(refusal() ?? callOptions(options)))),
        execute: (args: unknown, options?: CallOptions) => callOwn(tool.name, args, options),
        [FIND_IN_ROOTS]: findInRoots(session, tool.name),
      }),
  );
  const methods: Record<string, (args: unknown, options?: CallOptions) => Promise<unknown>> = {};
  for (const { name } of TOOLS) {
    methods[camel(name)] = async (args, options) => {
      const result = await callOwn(name, args, options);
      if (result.ok) return result.data;
      const { code, message, ...rest } = result.error;
      throw makeError(code, message, rest);
    };
  }
  const base: Omit<Workspace, keyof ToolMethods> = {
    call: call as Workspace["call"],
    tools: spoken?.tools ?? Object.freeze(definitions),
    fs: session.fs,
    capabilities: () => capabilities,
    recovery: capabilities.recovery,
    approvals: Object.freeze({ list: session.approvals.list, revoke: session.approvals.revoke }),
    grants: grantsOf(session.permissions ?? makePermissions({ mode: "off", store: memoryGrants() })),
    async lock(path, given = {}) {
      wantOpen();
      const { signal } = gateLock(given);
      const location = session.resolver.resolve(path, "write");
      const release = await lockAll(session, [{ argument: "path", typed: path, intent: "write" }], {
        fs: session.fs,
        locations: [location],
        signal,
      });
      return { release };
    },
    history: () => historyOf(session),
    async undo(callId, given = {}) {
      wantOpen();
      const { signal } = gateUndo(given);
      const id = gateCallId(callId);
      const refused = gate.refusal();
      if (refused !== undefined) throw makeError(refused.error.code, refused.error.message, refused.error);
      // It writes: closing waits for it and does not cancel it.
      const end = session.running.begin(() => {});
      try {
        return await gate.run(() => undoCall(session, id, signal));
      } finally {
        end();
      }
    },
    async agent(name, options = {}) {
      wantOpen();
      const own = await agentSession(session, name, options);
      const other = options.preset === undefined ? preset : presetOf(options.preset);
      return makeWorkspace(own, other, capabilities, true, gate) as AgentWorkspace;
    },
    drain: gate.drain,
    close,
    [Symbol.asyncDispose]: close,
  };
  const spent = isAgent ? { spent: () => session.budget?.spent() } : {};
  const ws = Object.assign(base, methods, spent);
  const list: ListOf = (other) => (other === undefined ? Object.freeze(definitions) : listOf(other).tools);
  Object.defineProperty(ws, LIST, { value: list });
  Object.defineProperty(ws, FIND_IN_ROOTS, { value: findInRoots(session, "stat") });
  return Object.freeze(ws) as unknown as Workspace;
}

/** Makes the list of a preset. */
type ListOf = (preset: Preset | undefined) => readonly ToolDefinition[];

/**
 * Where a workspace has its {@link ListOf}. Not in a WeakMap: the engine frees what that holds
 * only in a full collection, long after the workspace is closed.
 */
const LIST: unique symbol = Symbol("tools of a preset");

/**
 * The tools of a workspace under the names, parameters and texts of a preset,
 * whatever preset it was opened with. They share its roots, rules, hooks and locks.
 *
 * @example
 * const tools = toolsFor(ws, "gemini"); // [{ name: "write_file", inputSchema, execute, … }, …]
 *
 * @throws FilewrightError INVALID_ARGUMENT for a preset that does not exist
 */
export function toolsFor(ws: Workspace, preset: PresetName | Preset): readonly ToolDefinition[] {
  const list = (ws as { readonly [LIST]?: ListOf } | null | undefined)?.[LIST];
  if (list === undefined) throw new FilewrightError("INVALID_ARGUMENT", "this is no workspace of Filewright");
  return list(presetOf(preset));
}

function grantsOf({ list, add, revoke }: Permissions): WorkspaceGrants {
  return Object.freeze({ list, add, revoke });
}

function camel(name: string): string {
  return name.replace(/_(\w)/gu, (_, letter: string) => letter.toUpperCase());
}
