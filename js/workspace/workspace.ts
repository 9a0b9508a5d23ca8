/** The workspace for its users: `call`, the tools, and a method for each tool. */
import type { SandboxPolicy } from "../backends/policy.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { makePermissions, memoryGrants, type Permissions } from "../policy/index.ts";
import { FilewrightError, makeError } from "../engine/errors.ts";
import {
  either,
  flag,
  list,
  optionChecker,
  type Options,
  options,
  required,
  signalOption,
  text,
  wrongOptionError,
} from "../schema/option.ts";
import { CONFIRMED_PART } from "../hooks/confirm.ts";
import { type Preset, type PresetName, presetOf } from "../presets/index.ts";
import { TOOLS } from "../tools/index.ts";
import { runCommandToolFor } from "../tools/run_command.ts";
import type { AnyTool, Tool } from "../tools/lib/tool.ts";
import { makeAgentSession } from "./agents.ts";
import { makeForks } from "./forks/forks.ts";
import { assertWorkspace } from "./given-workspace.ts";
import { makeForkWorkspace, type WorkspaceMethods } from "./forks/workspace.ts";
import { runCall } from "../call/stages.ts";
import { optionsOrThrow, checkCallOptions } from "../pipeline/call-options.ts";
import { lockPathsOfCall } from "../pipeline/path-locks.ts";
import { type CallGate, makeCallGate } from "../pipeline/scheduling/admission.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { summarizePolicy } from "../pipeline/policy-summary.ts";
import { checkWhyQuestion, explainDecision } from "../pipeline/why.ts";
import { iconOfTool, outlineOfCall, previewOfCall } from "../pipeline/outline.ts";
import { type Failure, refusedFailure, type ToolResult, unknownToolFailure } from "../pipeline/result.ts";
import { ROOT_LOOKUP, makeRootLookup } from "../pipeline/paths/first-root.ts";
import { blameFile } from "../pipeline/past/blame.ts";
import { changesOfCall } from "../pipeline/past/changes.ts";
import { undoParts, type UndoneParts } from "../pipeline/past/undo-parts.ts";
import { type HistoryOptions, listHistory, undoCall, type Undone } from "../pipeline/past/history.ts";
import { runObservedUndo } from "../pipeline/past/observed-undo.ts";
import { BY, KEEP_OPTIONS, KEPT_CALLS, keepCalls, listUnreviewed } from "../pipeline/past/unreviewed.ts";
import type { Session } from "../pipeline/session.ts";
import { MARK_NAME, REWIND_OPTIONS, REWIND_PLACE } from "./rewind/options.ts";
import { listMarks, rewindTo, setMark } from "./rewind/rewind.ts";
import { type PresetTools, presetTools, type ToolDefinition } from "./preset-tools.ts";
import type {
  AgentWorkspace,
  Capabilities,
  ToolMethods,
  UndoOptions,
  Workspace,
  WorkspaceGrants,
  WorkspaceLockOptions,
} from "./types.ts";

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
export const UNDO_OPTIONS: Options<UndoOptions> = options("UndoOptions", {
  parts: list(CONFIRMED_PART, { minItems: 1 }),
  dryRun: flag(),
  digest: text({ pattern: "^sha256:[0-9a-f]{64}$" }),
  by: BY,
  signal: signalOption,
});

/**
 * The options of `ws.history`.
 *
 * @printed
 */
export const HISTORY_OPTIONS: Options<HistoryOptions> = options("HistoryOptions", { unrecorded: flag() });

const checkLockOptions = optionChecker("lock", LOCK_OPTIONS);
const checkHistoryOptions = optionChecker("history", HISTORY_OPTIONS);
const checkUndoOptions = optionChecker("undo", UNDO_OPTIONS);
const checkCallId = optionChecker("undo", text());
const checkChangesCallId = optionChecker("changes", text());
const checkBlamedPath = optionChecker("blame", text());
const checkKeepOptions = optionChecker("keep", KEEP_OPTIONS);
const checkKeptCalls = optionChecker("keep", required(either(text(), KEPT_CALLS)));
const checkMarkName = optionChecker("mark", MARK_NAME);
const checkRewindOptions = optionChecker("rewind", REWIND_OPTIONS);
const checkRewindPlace = optionChecker("rewind", REWIND_PLACE);

function closedWorkspaceFailure(): Failure {
  return refusedFailure("UNSUPPORTED_OPERATION", CLOSED_MESSAGE);
}

/** The workspace to which an agent's or a fork's belongs, whose hooks and observers it shares. */
interface WorkspaceAbove {
  readonly gate: CallGate;
  readonly kind: "agent" | "fork";
  /** Returns further methods. */
  readonly extend?: (methods: WorkspaceMethods) => object;
}

/** Creates a workspace on its shared state. */
export function makeWorkspace(
  session: Session,
  preset: Preset | undefined,
  capabilities: Capabilities,
  above?: WorkspaceAbove,
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
  const gate = makeCallGate(above?.gate);
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
  const openForks = new Set<Workspace>();
  const closeAll = async (): Promise<void> => {
    await Promise.all([...openForks].map((fork) => fork.close()));
    await session.running.close();
    await session.journal.settled();
    await session.release();
    if (above !== undefined) return; // The parent workspace is still in use.
    await session.reads.close();
    for (const observer of session.observers) await observer.close?.();
  };
  const wantOpen = (): void => {
    if (session.running.closed)
      throw new FilewrightError("UNSUPPORTED_OPERATION", CLOSED_MESSAGE, { complete: true });
  };
  const assertAdmitted = (): void => {
    const refused = gate.refusal();
    if (refused !== undefined) throw makeError(refused.error.code, refused.error.message, refused.error);
  };
  const forks = makeForks({
    session,
    assertOpen() {
      wantOpen();
      assertAdmitted();
    },
    run: gate.run,
  });
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
    approvals: Object.freeze({
      list: session.approvals.list,
      revoke: session.approvals.revoke,
      restore: session.approvals.restore,
      wouldHaveCovered: session.approvals.wouldHaveCovered,
    }),
    grants: workspaceGrantsOf(
      session.permissions ?? makePermissions({ mode: "off", store: memoryGrants() }),
      session.resolver.policy.paths,
    ),
    async lock(path, given = {}) {
      wantOpen();
      const { signal } = checkLockOptions(given);
      const location = session.resolver.resolve(path, "write");
      const use = { argument: "path", typed: path, intent: "write", missing: "accept" } as const;
      const call = { fs: session.fs, locations: [location], signal };
      const release = await lockPathsOfCall(session, [use], call);
      return { release };
    },
    policy() {
      wantOpen();
      return summarizePolicy(session);
    },
    async why(given) {
      wantOpen();
      const question = checkWhyQuestion(given);
      const tool = byName.get(question.tool);
      if (tool !== undefined) return explainDecision(session, tool as unknown as AnyTool, question);
      const { code, message, ...rest } = unknownToolFailure(question.tool, byName.keys()).error;
      throw makeError(code, message, rest);
    },
    async history(given = {}) {
      return listHistory(session, checkHistoryOptions(given).unrecorded);
    },
    async undo(callId: string, given: UndoOptions = {}): Promise<never> {
      wantOpen();
      const { signal, parts, by, ...more } = checkUndoOptions(given);
      for (const name of ["dryRun", "digest"] as const)
        if (parts === undefined && more[name] !== undefined)
          throw wrongOptionError("undo", name, "concerns an undo of parts, and none are given");
      const id = checkCallId(callId);
      assertAdmitted();
      // An undo writes, so closing waits for it and does not cancel it.
      const end = session.running.begin(() => {});
      try {
        const run = (): Promise<Undone | UndoneParts> => {
          if (parts === undefined)
            return runObservedUndo(session, { undone: id, by }, (observed) =>
              undoCall(session, id, observed, signal),
            );
          const wanted = { parts, digest: more.digest, signal };
          if (more.dryRun === true) return undoParts(session, id, wanted, undefined);
          return runObservedUndo(session, { undone: id, by }, (observed) =>
            undoParts(session, id, wanted, observed),
          );
        };
        return (await gate.run(run)) as never;
      } finally {
        end();
      }
    },
    async unreviewed() {
      wantOpen();
      return listUnreviewed(session);
    },
    async keep(callIds, given = {}) {
      wantOpen();
      const options = checkKeepOptions(given);
      const ids = checkKeptCalls(callIds);
      return keepCalls(session, typeof ids === "string" ? [ids] : ids, options);
    },
    async changes(callId) {
      wantOpen();
      return changesOfCall(session, checkChangesCallId(callId));
    },
    async blame(path) {
      wantOpen();
      return blameFile(session, checkBlamedPath(path));
    },
    async mark(name) {
      wantOpen();
      return setMark(session, checkMarkName(name));
    },
    async marks() {
      wantOpen();
      return listMarks(session);
    },
    async rewind(to, given = {}) {
      wantOpen();
      const rewound = checkRewindOptions(given);
      const place = checkRewindPlace(to);
      assertAdmitted();
      return rewindTo(session, gate.run, place, rewound);
    },
    async agent(name, options = {}) {
      wantOpen();
      const own = await makeAgentSession(session, name, options);
      const other = options.preset === undefined ? preset : presetOf(options.preset);
      return makeWorkspace(own, other, capabilities, { gate, kind: "agent" }) as AgentWorkspace;
    },
    async fork(name, options) {
      const opened = await forks.open(name, options);
      return makeForkWorkspace(opened, {
        parent: capabilities,
        siblings: openForks,
        make: (own, found, extend) => makeWorkspace(own, preset, found, { gate, kind: "fork", extend }),
      });
    },
    drain: gate.drain,
    close,
    [Symbol.asyncDispose]: close,
  };
  const spent = above?.kind === "agent" ? { spent: async () => session.budget?.spent() } : {};
  const more = above?.extend?.({ close, tools: methods as unknown as ToolMethods }) ?? {};
  const ws = Object.assign(base, methods, spent, more);
  const list: ListOfPreset = (other) =>
    other === undefined ? Object.freeze(definitions) : listOf(other).tools;
  Object.defineProperty(ws, toolsByPreset, { value: list });
  const logging = session.observers.find(({ exportLog }) => exportLog !== undefined);
  Object.defineProperty(ws, AUDIT_LOG, { value: logging?.exportLog?.bind(logging) });
  Object.defineProperty(ws, POLICY, { value: session.resolver.policy });
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
  assertWorkspace("toolsFor", ws);
  const list = (ws as { readonly [toolsByPreset]?: ListOfPreset })[toolsByPreset];
  if (list === undefined) throw new FilewrightError("INVALID_ARGUMENT", "this is no workspace of Filewright");
  return list(presetOf(preset));
}

/** The key under which a workspace holds its policy, for servers, which tell it to their own clients. */
const POLICY: unique symbol = Symbol("policy");

/** Returns the policy of a workspace. */
export function policyOfWorkspace(ws: Workspace): SandboxPolicy {
  return (ws as unknown as { readonly [POLICY]: SandboxPolicy })[POLICY];
}

/** The key under which a workspace holds the function that reads its audit log. */
const AUDIT_LOG: unique symbol = Symbol("audit log");

/** Returns the function that reads the audit log of a workspace; undefined where it keeps none. */
export function auditLogOfWorkspace(ws: Workspace): (() => AsyncIterable<Uint8Array>) | undefined {
  return (ws as unknown as { readonly [AUDIT_LOG]?: () => AsyncIterable<Uint8Array> })[AUDIT_LOG];
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
