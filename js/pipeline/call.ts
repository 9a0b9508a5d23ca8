/**
 * The pipeline of one call, from arguments to result. Every call runs through it.
 *
 * arguments → before hooks → locations → run, or plan…apply → render → after hooks. MCP, the command
 * line, adapters and typed methods use it. It returns every failure as a result; it rejects only
 * with an error that a hook raised.
 */
import type { Location } from "../policy/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import {
  hooksFor,
  HookException,
  runAfterHooksOnResult,
  runBeforeHooks,
  type HookCallFacts,
} from "../hooks/run.ts";
import { answerOfRefusal } from "../hooks/confirm.ts";
import { debug } from "../engine/debug.ts";
import { FilewrightError } from "../engine/errors.ts";
import { withCanonicalKeys, type Arguments } from "../tools/lib/schema.ts";
import type { CanonicalCall, PresetTool } from "../presets/preset.ts";
import type { BatchArgs } from "../tools/index.ts";
import type { PathUse, Tool } from "../tools/lib/tool.ts";
import { type HookedCall, withHookChanges } from "./after-hooks.ts";
import { failureResult, successResult } from "./answer.ts";
import { runBatch } from "./batch/batch.ts";
import type { Budget } from "./scheduling/budget.ts";
import { CallSignal } from "./scheduling/call-signal.ts";
import { type AppliedChange, runChange, throwIfCancelled } from "./change.ts";
import {
  type AnyChangingTool,
  type AnyTool,
  type CallOptions,
  admitCall,
  beginCall,
  lookAlikeContext,
  previewChange,
} from "./enter.ts";
import { type ReplacedPath, replaceByLookAlikes } from "./paths/look-alikes.ts";
import { type Failure, refusedFailure, type ToolResult } from "./result.ts";
import { runObserved, type ObservedCall } from "./observe.ts";
import { LoopTurns, CallSlots } from "./scheduling/admission.ts";
import { sessionAtMoment } from "./moments.ts";
import { historyForCaller } from "./past/history.ts";
import { type ScanClient, scanQueue } from "./scheduling/scans.ts";
import type { Session } from "./session.ts";
import { decideStep, decisionSourcesOf } from "./sources.ts";
import { newCallId } from "../journal/index.ts";
import type { RecordOp } from "../storage/storage.ts";
import { type EarlyLocks, lockContendedPaths, mayLockEarly } from "./path-locks.ts";
import { isWrongAssumption, withStage } from "./staged.ts";

/** A call under the names of a preset. */
export interface PresetCall {
  readonly tool: PresetTool;
  /** Returns the canonical call. An error uses the names of the preset. @throws FilewrightError INVALID_ARGUMENT */
  meaning(): CanonicalCall;
}

/**
 * The calls of all workspaces that start in one turn of the event loop: at most 32, which take a few milliseconds.
 */
const callStartsPerTurn = new LoopTurns(32);

/** Runs one call of a canonical tool, or of the tool that a preset's call stands for. */
export function runCall(
  session: Session,
  known: Tool,
  given: unknown,
  options: CallOptions,
  presetCall?: PresetCall,
): Promise<ToolResult> {
  const { observers, budget } = session;
  if (budget !== undefined) return runWithinBudget(session, budget, known, given, options, presetCall);
  if (observers.length === 0) return runThroughPipeline(session, known, given, options, presetCall);
  const agent = options.agent ?? session.agent;
  const about = {
    tool: known.name,
    ...(presetCall === undefined ? {} : { called_as: presetCall.tool.name }),
    ...(agent === undefined ? {} : { agent }),
    ...(session.by === undefined ? {} : { by: session.by }),
    ...(known.kind === "read" ? {} : { call_id: newCallId() }),
  };
  return runObserved(observers, about, (trace) =>
    runThroughPipeline(session, known, given, options, presetCall, trace),
  );
}

/** The slots for the operations of a batch, which run in the slot of the batch itself. */
const UNLIMITED_SLOTS = new CallSlots(Number.POSITIVE_INFINITY);

/**
 * Runs a call and counts it in the budget of its agent. Calls inside it, such as those of a batch, are not counted
 * again.
 */
async function runWithinBudget(
  session: Session,
  budget: Budget,
  known: Tool,
  given: unknown,
  options: CallOptions,
  presetCall: PresetCall | undefined,
): Promise<ToolResult> {
  const ops = session.stages === undefined || known.kind !== "change" ? undefined : budget.inCommit(given);
  if (ops !== undefined) return runAndChargeByCommit(session, budget, ops, known, given, options, presetCall);
  const refusal = await chargedNow(budget, given);
  if (refusal !== undefined) return refusal;
  const limits = budget.limits(session.limits);
  const result = await runCall({ ...session, limits, budget: undefined }, known, given, options, presetCall);
  const ended = budget.end(result);
  if (ended !== undefined) await ended;
  return result;
}

/**
 * Runs a change whose commit charges the budget. A call without a commit, such as one that fails, is charged after
 * it; if the budget is spent by then, its answer is not given.
 */
async function runAndChargeByCommit(
  session: Session,
  budget: Budget,
  ops: readonly RecordOp[],
  known: Tool,
  given: unknown,
  options: CallOptions,
  presetCall: PresetCall | undefined,
): Promise<ToolResult> {
  let isCharged = false;
  const committed = (): void => {
    isCharged = true;
  };
  const charged = { ...session, budget: undefined, charge: { ops, committed } };
  const result = await runCall(charged, known, given, options, presetCall);
  if (!isCharged) {
    const refusal =
      (result.ok ? undefined : budget.refusal(result.error)) ?? (await chargedNow(budget, given));
    if (refusal !== undefined) return refusal;
  }
  const ended = budget.end(result);
  if (ended !== undefined) await ended;
  return result;
}

/** Charges a budget. Returns the failure of a call that it does not allow. */
async function chargedNow(budget: Budget, args: unknown): Promise<Failure | undefined> {
  try {
    return await budget.begin(args);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return refusedFailure(error.code, `The budget of this agent cannot be read: ${error.message}.`);
  }
}

async function runThroughPipeline(
  workspace: Session,
  known: Tool,
  given: unknown,
  asked: CallOptions,
  presetCall: PresetCall | undefined,
  trace?: ObservedCall,
  taken?: readonly ReplacedPath[],
  mayAssume = true,
): Promise<ToolResult> {
  const session = withStage(workspace, mayAssume);
  const started = performance.now();
  const limited = new CallSignal(asked.signal);
  const ended = session.running.begin(() => limited.cancel());
  // A read of one file ends before it can be cancelled, unless it waits for a hook or a grant.
  const alone =
    QUICK_TOOLS.has(known.name) && session.hooks.length === 0 && session.permissions === undefined;
  const options: CallOptions = alone ? asked : { ...asked, signal: limited.signal };
  let queuedMs = 0;
  let endTurn: (() => void) | undefined;
  let leave: (() => void) | undefined;
  let early: EarlyLocks | undefined;
  const takeSlot = async (): Promise<void> => {
    const place = session.slots.take(limited.signal);
    if (!(place instanceof Promise)) {
      leave = place;
      return;
    }
    const before = performance.now();
    leave = await place;
    queuedMs = Math.max(1, Math.round(performance.now() - before));
  };
  const began = session.permissions?.begin() ?? 0;
  // The cast is safe: a tool only receives its own arguments, plans and data.
  let tool = known as unknown as AnyTool;
  let meant: CanonicalCall | undefined;
  const uses: PathUse[] = [];
  const locations: Location[] = [];
  const calledAs = presetCall?.tool.name;
  let raw: Arguments = {};
  let result: ToolResult;
  let version: string | undefined;
  let seen: FsBackend | undefined;
  let hooked: HookedCall | undefined;
  let instead: readonly ReplacedPath[] | undefined;
  let wasWrong = false;
  let callId: string | undefined;
  try {
    while (!callStartsPerTurn.take()) await callStartsPerTurn.next();
    throwIfCancelled(options.signal);
    if (presetCall !== undefined) {
      meant = presetCall.meaning();
      tool = meant.tool as unknown as AnyTool;
    }
    const begun = beginCall(session, tool, options, trace?.callId);
    callId = begun.callId;
    if (trace !== undefined) trace.callId = callId;
    raw = withCanonicalKeys(tool.name, meant === undefined ? given : meant.args, tool.aliases);
    const isInText = tool.kind === "change" && tool.withPaths !== undefined;
    if (taken !== undefined && !isInText)
      raw = { ...raw, ...Object.fromEntries(taken.map(({ argument, path }) => [argument, path])) };
    const withTaken = (parsed: object): object => {
      if (taken === undefined || tool.kind !== "change" || tool.withPaths === undefined) return parsed;
      return tool.withPaths(parsed, new Map(taken.map(({ typed, path }) => [typed, path])));
    };
    let args = withTaken(await tool.parse(raw, options));
    let modified: readonly string[] = [];
    const before = session.hooks.length === 0 ? [] : hooksFor(session.hooks, "before", tool.name, calledAs);
    if (before.length > 0) {
      const previewer =
        tool.kind === "change"
          ? (current: Arguments, keys: readonly string[]) =>
              previewChange(
                session,
                tool as AnyChangingTool,
                withCanonicalNames(current, keys, meant),
                began,
                begun,
                meant,
              )
          : undefined;
      const subject = hookCallFactsOf(tool.name, calledAs, options);
      const outcome = await runBeforeHooks(before, subject, raw, session.limits.hookTimeoutMs, previewer);
      const { args: left, stopped } = outcome;
      decideStep(
        decisionSourcesOf(session, tool.name),
        { tool: tool.name, args: left, stopped },
        { step: "arguments" },
      );
      // A hook may have changed what its preview has read.
      session.stage?.refresh();
      modified = outcome.modified;
      if (modified.length > 0) {
        raw = withCanonicalKeys(
          tool.name,
          withCanonicalNames(outcome.args, outcome.modified, meant),
          tool.aliases,
        );
        args = withTaken(await tool.parse(raw, options));
      }
    }
    if (tool.kind === "change" && tool.prepare !== undefined)
      args = await tool.prepare(args, historyForCaller(session, options.agent));
    if (mayLockEarly(session, tool, args)) {
      // A call with locks must not wait for a slot that another call keeps while it waits for these locks.
      await takeSlot();
      early = await lockContendedPaths(session, tool, args, limited.signal);
    }
    // Approvers that are chosen by tool name may use the preset's name of the tool.
    const moment = await sessionAtMoment(session, tool, args, options.signal);
    version = moment.version;
    const asking =
      calledAs === undefined || session.hooks.length === 0
        ? moment.session
        : { ...moment.session, confirmFor: (name: string) => session.confirmFor(name, calledAs) };
    const { call: entered, ...rules } = await admitCall(
      asking,
      tool,
      args,
      { uses, locations },
      began,
      begun,
      meant,
    );
    const timeoutMs = SELF_TIMED_TOOLS.has(tool.name) ? undefined : timeoutMsOf(args);
    const call = timeoutMs === undefined ? entered : { ...entered, ...limited.limit(timeoutMs) };
    // Only for reads: a change is planned before its approval, so its failure must not reveal hidden paths.
    if (tool.kind === "read") seen = call.fs;
    let changed: AppliedChange<unknown>;
    if (leave === undefined) {
      const turn = takeSlot();
      if (leave === undefined) await turn;
    }
    if (tool.kind === "read") {
      const scans = tool.scans?.(args) ?? false;
      if (scans !== false) {
        const turn = scanQueue.admit(scanClientOf(session, options), limited.signal);
        if (turn instanceof Promise) {
          const before = performance.now();
          endTurn = await turn;
          queuedMs += Math.max(1, Math.round(performance.now() - before));
        } else endTurn = turn;
        if (scans === "partial") limited.untimed();
      }
      changed = { answer: await tool.run(args, call), undo: "nothing", modifiedByUser: false };
    } else if (tool.kind === "batch") {
      const { result: answer, undo } = await runBatch(
        { ...session, slots: UNLIMITED_SLOTS },
        args as Required<BatchArgs>,
        call,
        options,
        runCall,
        trace,
      );
      changed = { answer, undo, modifiedByUser: false };
    } else {
      changed = await runChange(asking, tool, args, uses, call, rules, early);
    }
    if (trace !== undefined) {
      trace.effects ??= changed.effects;
      trace.allowedBy ??= changed.allowedBy;
      trace.lockWaitMs ??= changed.lockWaitMs;
    }
    if (session.hooks.length > 0) hooked = { tool, args, uses, call, fixedText: meant?.fixedText === true };
    const text = meant?.text ?? tool.render;
    const isJson = meant?.json === true || (args as { readonly format?: unknown }).format === "json";
    const form = isJson ? "json" : meant?.fixedText === true ? "fixed" : "lines";
    result = await successResult(tool, text, changed, args, call, modified, started, form);
  } catch (thrown) {
    if (thrown instanceof HookException) throw thrown.what;
    if (trace !== undefined) trace.refusal = answerOfRefusal(thrown);
    wasWrong = isWrongAssumption(session, thrown);
    if (taken === undefined && thrown instanceof FilewrightError && LOOK_ALIKE_CODES.has(thrown.code)) {
      const context = lookAlikeContext(session, tool.name, raw);
      instead = await replaceByLookAlikes(tool, uses, locations, context).catch(() => undefined);
    }
    result = await failureResult(
      session,
      tool,
      limited.told(thrown),
      uses,
      locations,
      started,
      meant,
      seen,
      callId,
    );
  } finally {
    await early?.unlock();
    endTurn?.();
    leave?.();
    limited.end();
    ended();
    session.stage?.end();
  }
  if (wasWrong) return runThroughPipeline(workspace, known, given, asked, presetCall, trace, taken, false);
  if (instead !== undefined)
    return withReplacedPathNotes(
      await runThroughPipeline(workspace, known, given, asked, presetCall, trace, instead),
      tool,
      instead,
      {
        isFixed: meant?.fixedText === true || meant?.json === true || raw["format"] === "json",
      },
    );
  if (result.ok && result.meta.call_id !== undefined) session.running.changes.add(result.meta.call_id);
  if (queuedMs > 0) result = { ...result, meta: { ...result.meta, queued_ms: queuedMs } };
  if (version !== undefined) result = { ...result, meta: { ...result.meta, version } };
  if (trace !== undefined) {
    trace.tool = tool.name;
    trace.changes = tool.kind !== "read";
    if (locations.length > 0) trace.locations = locations;
  }
  debug.call?.(formatDebugLine(tool.name, locations, result));
  if (session.hooks.length === 0) {
    const noted = session.reads.settled();
    if (noted !== undefined) await noted;
    return result;
  }
  const subject = hookCallFactsOf(tool.name, calledAs, options);
  const { duration_ms } = result.meta;
  const after = hooksFor(session.hooks, "after", tool.name, calledAs);
  const run = (): Promise<ToolResult> =>
    runAfterHooksOnResult(after, subject, raw, result, session.onHookError, duration_ms);
  const answer = await (after.length === 0 || hooked === undefined
    ? run()
    : withHookChanges(hooked, result, run));
  await session.reads.settled();
  return answer;
}

function formatDebugLine(tool: string, locations: readonly Location[], { error, meta }: ToolResult): string {
  const paths = locations.map(({ path }) => path).join(" ");
  const queued = meta.queued_ms === undefined ? "" : `, ${meta.queued_ms} ms of them queued`;
  return `${tool} ${paths}: ${error?.code ?? "OK"} in ${meta.duration_ms.toFixed(1)} ms${queued}`;
}

/** Returns the result with notes about the paths that replaced those of the call. */
function withReplacedPathNotes(
  result: ToolResult,
  { outputSchema }: AnyTool,
  taken: readonly ReplacedPath[],
  { isFixed }: { readonly isFixed: boolean },
): ToolResult {
  if (!result.ok) return result;
  const notes = taken.map(({ note }) => note);
  const below = notes.map((note) => `\n[${note}]`).join("");
  const text = isFixed ? result.text : result.text + below;
  const display = result.display + below;
  const data = result.data as { readonly warnings?: readonly string[]; readonly warning?: string };
  const { properties } = outputSchema;
  const noted = Object.hasOwn(properties, "warnings")
    ? { ...data, warnings: [...(data.warnings ?? []), ...notes] }
    : Object.hasOwn(properties, "warning")
      ? { ...data, warning: [data.warning, ...notes].filter(Boolean).join("; ") }
      : data;
  return { ...result, text, display, data: noted };
}

/** Error codes of calls whose path may have a look-alike. */
const LOOK_ALIKE_CODES: ReadonlySet<string> = new Set(["NOT_FOUND", "PATCH_FAILED"]);

/** The tools that access at most one file and end at once. */
const QUICK_TOOLS: ReadonlySet<string> = new Set(["read_file", "stat", "access_info"]);

/** The tools that enforce `timeout_ms` themselves. */
const SELF_TIMED_TOOLS: ReadonlySet<string> = new Set(["run_command"]);

/** Returns the argument `timeout_ms` of a call, in milliseconds; undefined when it is not given. */
function timeoutMsOf(args: object): number | undefined {
  const { timeout_ms: given } = args as { readonly timeout_ms?: unknown };
  return typeof given === "number" ? given : undefined;
}

/** Returns the client for the queue of walks: one agent of one workspace. */
function scanClientOf(session: Session, { agent = session.agent }: CallOptions): ScanClient {
  return { name: `${session.workspace} ${agent ?? ""}`, tenant: session.tenant };
}

function hookCallFactsOf(tool: string, calledAs: string | undefined, options: CallOptions): HookCallFacts {
  const { toolCall, signal } = options;
  return {
    tool_name: tool,
    tool_call: toolCall,
    ...(calledAs === undefined ? {} : { called_as: calledAs }),
    ...(signal === undefined ? {} : { signal }),
  };
}

/** Returns the arguments with canonical names, after a hook changed some under the names of a preset. */
function withCanonicalNames(
  args: Arguments,
  modified: readonly string[],
  meant: CanonicalCall | undefined,
): Arguments {
  const ours = meant?.ours ?? {};
  const result: Record<string, unknown> = { ...args };
  for (const key of modified) {
    const name = ours[key];
    if (name === undefined || !Object.hasOwn(result, key)) continue;
    result[name] = result[key];
    delete result[key];
  }
  return result;
}
