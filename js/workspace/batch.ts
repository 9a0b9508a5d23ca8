/**
 * Several calls as one.
 *
 * First everything is tried on an overlay: hooks run, rules decide, people are
 * asked, and nothing is locked or written, so that what fails, fails here. Then
 * all paths are locked at once, what was approved is compared with what is
 * there, and the operations are repeated on storage as one change of the journal,
 * which takes them all back when one fails or the process dies.
 */
import type { Decision, Location } from "../access/index.ts";
import type { FsBackend } from "../backends/backend.ts";
import { OverlayBackend } from "../backends/overlay.ts";
import { FilewrightError } from "../engine/errors.ts";
import { mustAsk } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { hooksFor, Raised, runAfter, runBefore } from "../hooks/run.ts";
import { plainArguments } from "../tools/arguments.ts";
import type { BatchArgs, BatchData, BatchOutcome } from "../tools/batch.ts";
import type { Arguments } from "../tools/schema.ts";
import { trialOf } from "../tools/seen.ts";
import type { Answer, BaseVersion, Call, PathUse, Tool } from "../tools/tool.ts";
import { failure, success } from "./answer.ts";
import { BatchFailed } from "./batch-failed.ts";
import { compare, lockAll, MAX_PLANS, review, rootsOf, stopIfCancelled } from "./change.ts";
import { type AnyChanging, type AnyReading, type CallOptions, enter, permit, previewed } from "./enter.ts";
import { noteWritten, wantSeen } from "./guard.ts";
import { knownTool } from "./known.ts";
import { effectsOf, hashesOf, type Trace } from "./observe.ts";
import type { ErrorData, ToolResult } from "./result.ts";
import type { Session } from "./session.ts";

/** Runs one call by itself. */
export type RunCall = (
  session: Session,
  tool: Tool,
  args: unknown,
  options: CallOptions,
) => Promise<ToolResult>;

/** One operation on its way. */
interface Operation {
  readonly tool: AnyReading | AnyChanging;
  raw: Arguments;
  args: object;
  modified: readonly string[];
  uses: PathUse[];
  locations: Location[];
  /** What the reviewer put in place of the planned content. */
  revisions: readonly string[];
  /** Once its paths are judged. */
  call: Call | undefined;
  result: ToolResult | undefined;
}

/** Runs a batch. @throws BatchFailed; Raised */
export async function runBatch(
  session: Session,
  args: Required<BatchArgs>,
  call: Call,
  options: CallOptions,
  alone: RunCall,
  trace?: Trace,
): Promise<Answer<BatchData>> {
  if (!args.atomic && !args.dry_run) return eachAlone(session, args, options, alone);
  const operations = await prepare(args, session);
  const overlay = new OverlayBackend(session.fs);
  const seen = trialOf(call.seen);
  const approved: BaseVersion[] = [];
  let asked = false;
  await inOrder(session, operations, options, async (operation) => {
    const { tool } = operation;
    const ruled = await admitted(session, operation, options, overlay);
    const own: Call = { ...(operation.call as Call), fs: overlay, seen };
    if (tool.kind === "read") {
      if (ruled === "ask") await permit(session, tool, operation.locations, options);
      return tool.run(operation.args, own);
    }
    let plan = await tool.plan(operation.args, own);
    if (plan.settled !== undefined) return plan.settled;
    if (session.guard) await wantSeen(tool.name, operation.args, operation.uses, own);
    approved.push(...plan.base.filter(({ path }) => !overlay.touched(path)));
    const reviewer = args.dry_run ? undefined : reviewerOf(session, operation, ruled);
    if (reviewer !== undefined) {
      asked = true;
      const reviewed = await review(session, tool, plan, operation.args, own, reviewer);
      plan = reviewed.plan;
      approved.push(...reviewed.base.filter(({ path }) => !overlay.touched(path)));
      operation.revisions = reviewed.revisions;
    }
    return tool.apply(plan, operation.args, own);
  });
  if (!args.dry_run) await commit(session, operations, asked ? approved : [], call, options, trace);
  const results = await afterwards(session, operations, options);
  const changed = !args.dry_run && operations.some(({ tool }) => tool.kind === "change");
  return { data: { results, applied: changed, rolled_back: false } };
}

/** Every operation as a call of its own; a failure stops none of the others. */
async function eachAlone(
  session: Session,
  args: Required<BatchArgs>,
  options: CallOptions,
  alone: RunCall,
): Promise<Answer<BatchData>> {
  const results: BatchOutcome[] = [];
  let failed: { readonly index: number; readonly error: ErrorData } | undefined;
  for (const [index, { tool, args: given }] of args.operations.entries()) {
    let result: ToolResult;
    try {
      result = await alone(session, single(tool) as unknown as Tool, given, options);
    } catch (thrown) {
      if (!(thrown instanceof FilewrightError)) throw thrown;
      result = await failure(session, { name: tool }, thrown, [], [], performance.now(), undefined);
    }
    results.push(outcome(tool, result));
    if (!result.ok) failed ??= { index, error: result.error };
  }
  const data = { results, applied: results.some(({ ok }) => ok), rolled_back: false };
  if (failed === undefined) return { data };
  const { index, error } = failed;
  throw new BatchFailed(index, results[index]?.tool ?? "", error, data);
}

/** The tool of an operation. @throws FilewrightError UNKNOWN_TOOL, INVALID_ARGUMENT */
function single(name: string): AnyReading | AnyChanging {
  const tool = knownTool(name);
  if (tool.kind === "batch") {
    throw new FilewrightError(
      "INVALID_ARGUMENT",
      "Invalid argument 'operations': batches cannot be nested.",
      {
        complete: true,
        details: { argument: "operations" },
      },
    );
  }
  return tool as unknown as AnyReading | AnyChanging;
}

/** Looks at every operation before the first one begins: what makes no sense is told at once. */
async function prepare(args: Required<BatchArgs>, session: Session): Promise<readonly Operation[]> {
  const operations: Operation[] = [];
  for (const [index, { tool: name, args: given }] of args.operations.entries()) {
    try {
      const tool = single(name);
      const raw = plainArguments(tool.name, given, tool.aliases);
      const parsed = tool.parse(raw);
      const [call, result] = [undefined, undefined];
      operations.push({
        tool,
        raw,
        args: parsed,
        modified: [],
        uses: [],
        locations: [],
        revisions: [],
        call,
        result,
      });
    } catch (thrown) {
      const failed = await failure(session, { name }, thrown, [], [], performance.now(), undefined);
      throw new BatchFailed(index, name, failed.error, nothingDone(operations));
    }
  }
  return operations;
}

/** Runs the hooks of an operation, judges the paths it ends up with, and tells what the rules say. */
async function admitted(
  session: Session,
  operation: Operation,
  options: CallOptions,
  overlay: FsBackend,
): Promise<Decision | undefined> {
  const { tool } = operation;
  const began = session.permissions?.begin() ?? 0;
  const before = hooksFor(session.hooks, "before", tool.name);
  if (before.length > 0) {
    const { toolCall, signal } = options;
    const subject = {
      tool_name: tool.name,
      tool_call: toolCall,
      ...(signal === undefined ? {} : { signal }),
    };
    const previewer =
      tool.kind === "change"
        ? (args: Arguments) => previewed(session, tool, args, began, options, undefined, overlay)
        : undefined;
    const changed = await runBefore(before, subject, operation.raw, session.limits.hookTimeoutMs, previewer);
    operation.modified = changed.modified;
    if (changed.modified.length > 0) {
      operation.raw = plainArguments(tool.name, changed.args, tool.aliases);
      operation.args = tool.parse(operation.raw);
    }
  }
  operation.uses = [];
  operation.locations = [];
  const { call, ruled } = await enter(session, tool, operation.args, operation, began, options);
  // What was asked about a further path holds for the repetition, which must not ask under locks.
  const known = new Map<string, Location>();
  operation.call = {
    ...call,
    async locate(typed, intent) {
      const key = `${intent} ${typed}`;
      const at = known.get(key) ?? (await call.locate(typed, intent));
      known.set(key, at);
      return at;
    },
  };
  return ruled;
}

/** Who is to be asked about a change; undefined where nobody is. @throws FilewrightError APPROVAL_DENIED */
function reviewerOf(
  session: Session,
  { tool, locations }: Operation,
  ruled: Decision | undefined,
): Confirm | undefined {
  const { requireApproval, approvals } = session;
  const confirm = session.confirmFor(tool.name);
  const byDefault = requireApproval || confirm !== undefined ? "ask" : "allow";
  const asked = mustAsk(ruled ?? byDefault, confirm, approvals, tool.name, rootsOf(locations));
  return asked ? confirm : undefined;
}

/** Repeats the operations on storage, all of them or none. */
async function commit(
  session: Session,
  operations: readonly Operation[],
  approved: readonly BaseVersion[],
  call: Call,
  options: CallOptions,
  trace: Trace | undefined,
): Promise<void> {
  const changing = operations.filter(({ tool }) => tool.kind === "change");
  const uses = changing.flatMap((operation) => operation.uses);
  const locations = changing.flatMap((operation) => operation.locations);
  await inOrder(session, operations, options, undefined, async (run) => {
    const unlock = await lockAll(session, uses, { ...call, locations });
    try {
      await compare(approved, session.fs);
      const hashes = session.hashes ? await hashesOf(uses, { ...call, locations }) : undefined;
      const about = { callId: call.callId, tool: "batch", takeBack: "always" } as const;
      await session.journal.change(session.fs, about, (fs) =>
        run(async (operation) => {
          stopIfCancelled(call.signal);
          const { tool, args } = operation;
          const own: Call = { ...(operation.call as Call), fs };
          const guarded = session.guard && tool.kind === "change";
          if (guarded) await wantSeen(tool.name, args, operation.uses, own);
          const answer = await repeat(operation, own);
          if (guarded) await noteWritten(tool.name, args, operation.uses, own);
          return answer;
        }),
      );
      if (trace !== undefined) {
        trace.locations = locations;
        if (hashes !== undefined)
          trace.effects = effectsOf(hashes, await hashesOf(uses, { ...call, locations }));
      }
    } finally {
      unlock();
    }
  });
}

async function repeat({ tool, args, revisions }: Operation, call: Call): Promise<Answer<unknown>> {
  if (tool.kind === "read") return tool.run(args, call);
  for (let attempt = 1; ; attempt++) {
    let plan = await tool.plan(args, call);
    if (plan.settled !== undefined) return plan.settled;
    for (const content of revisions) plan = (await tool.revise?.(plan, args, content, call)) ?? plan;
    try {
      return await tool.apply(plan, args, call);
    } catch (error) {
      if (attempt === MAX_PLANS || !(error instanceof FilewrightError) || error.code !== "CONFLICT")
        throw error;
    }
  }
}

type Each = (operation: Operation) => Answer<unknown> | Promise<Answer<unknown>>;

/**
 * Takes the operations through a step in order and keeps their results. The
 * first that fails ends the batch; `around` runs something around them all.
 */
async function inOrder(
  session: Session,
  operations: readonly Operation[],
  options: CallOptions,
  each: Each | undefined,
  around: (run: (each: Each) => Promise<void>) => Promise<void> = (run) => run(each as Each),
): Promise<void> {
  let index = -1;
  let started = performance.now();
  const run = async (step: Each): Promise<void> => {
    for (index = 0; index < operations.length; index++) {
      const operation = operations[index] as Operation;
      started = performance.now();
      const answer = await step(operation);
      const modifiedByUser = operation.revisions.length > 0;
      const { tool, args, modified, call } = operation;
      const changed = { answer, modifiedByUser, approval: undefined };
      operation.result = await success(tool, tool.render, changed, args, call as Call, modified, started);
    }
  };
  try {
    await around(run);
  } catch (thrown) {
    if (thrown instanceof Raised) throw thrown;
    // Before the first began, as while locking, the failure's own path says whose it is.
    const of = thrown instanceof FilewrightError ? thrown.path : undefined;
    const named = operations.findIndex(({ locations }) => locations.some(({ path }) => path === of));
    const at = Math.max(0, index < 0 ? named : Math.min(index, operations.length - 1));
    const operation = operations[at] as Operation;
    const { tool, uses, locations } = operation;
    const failed = await failure(session, tool, thrown, uses, locations, started, undefined);
    operation.result = failed;
    const restored = failed.error.details?.["rolled_back"] !== false;
    const results = await afterwards(session, operations.slice(0, at + 1), options);
    throw new BatchFailed(at, tool.name, failed.error, { results, applied: false, rolled_back: restored });
  }
}

/** Runs the `after` hooks of what was done, and tells the outcomes. */
async function afterwards(
  session: Session,
  operations: readonly Operation[],
  options: CallOptions,
): Promise<readonly BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  for (const { tool, raw, result } of operations) {
    if (result === undefined) continue;
    const after = hooksFor(session.hooks, "after", tool.name);
    const subject = { tool_name: tool.name, tool_call: options.toolCall };
    const { duration_ms } = result.meta;
    const told = await runAfter(after, subject, raw, result, session.onHookError, duration_ms);
    outcomes.push(outcome(tool.name, told));
  }
  return outcomes;
}

function nothingDone(operations: readonly Operation[]): BatchData {
  const results = operations.flatMap(({ tool, result }) =>
    result === undefined ? [] : [outcome(tool.name, result)],
  );
  return { results, applied: false, rolled_back: true };
}

function outcome(tool: string, { ok, text, data, error }: ToolResult): BatchOutcome {
  return {
    tool,
    ok,
    text,
    ...(data === undefined ? {} : { data }),
    ...(error === undefined ? {} : { error }),
  };
}
