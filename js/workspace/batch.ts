/**
 * Several calls as one.
 *
 * First everything is tried on an overlay: hooks run, rules decide, people are
 * asked, and nothing is locked or written, so that what fails, fails here. Then
 * all paths are locked at once, what was approved is compared with what is
 * there, and the operations are repeated on storage as one change of the journal,
 * which takes them all back when one fails or the process dies.
 */
import { OverlayBackend } from "../backends/overlay.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { BatchArgs, BatchData, BatchOutcome } from "../tools/batch.ts";
import { trialOf } from "../tools/seen.ts";
import type { Answer, BaseVersion, Call, Tool } from "../tools/tool.ts";
import { failure } from "./answer.ts";
import { BatchFailed } from "./batch-failed.ts";
import { admitted, type Operation, prepare, reviewerOf, single } from "./batch-operations.ts";
import { afterwards, inOrder, outcome } from "./batch-outcomes.ts";
import { compare, lockAll, MAX_PLANS, review, stopIfCancelled } from "./change.ts";
import { type CallOptions, permit } from "./enter.ts";
import { noteWritten, wantSeen } from "./guard.ts";
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
      const { callId, agent } = call;
      const about = { callId, tool: "batch", agent, takeBack: "always" } as const;
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
