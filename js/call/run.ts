/** The last step of a call: the tool reads, or changes files once that is approved, and the answer is made. */
import { successResult } from "../pipeline/answer.ts";
import { type AppliedChange, runChange } from "../pipeline/change.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import type { Facts } from "../pipeline/facts.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";
import type { Made } from "../journal/index.ts";
import type { BatchArgs, BatchData } from "../tools/index.ts";
import type { AnyReadingTool, Answer, Call } from "../tools/lib/tool.ts";
import { scanClientOf } from "./fairness.ts";
import type { JudgedCall } from "./judge.ts";

/** Runs the operations of a batch. */
export type BatchRunner = (batch: {
  readonly session: Session;
  readonly args: Required<BatchArgs>;
  readonly call: Call;
  readonly options: CallOptions;
  readonly facts: Facts;
}) => Promise<Made<Answer<BatchData>>>;

/** The tools that enforce `timeout_ms` themselves. */
const SELF_TIMED_TOOLS: ReadonlySet<string> = new Set(["run_command"]);

/** Runs a call that may be made, and returns its answer. @throws FilewrightError as the tool does; HookException */
export async function run(judged: JudgedCall, runBatch: BatchRunner): Promise<ToolResult> {
  try {
    const call = withTimeLimit(judged);
    const slot = judged.meant.request.turn.takeSlot();
    if (slot !== undefined) await slot;
    const changed = await changedBy(judged, call, runBatch);
    return await answer(judged, call, changed);
  } finally {
    await judged.early?.unlock();
  }
}

/** Returns the call with the time that its argument `timeout_ms` leaves it. */
function withTimeLimit({ meant, admitted }: JudgedCall): Call {
  const { tool, args, request } = meant;
  const { timeout_ms: timeoutMs } = args as { readonly timeout_ms?: unknown };
  if (typeof timeoutMs !== "number" || SELF_TIMED_TOOLS.has(tool.name)) return admitted.call;
  return { ...admitted.call, ...request.limited.limit(timeoutMs) };
}

async function changedBy(
  judged: JudgedCall,
  call: Call,
  runBatch: BatchRunner,
): Promise<AppliedChange<unknown>> {
  const { session, meant, uses, admitted, early } = judged;
  const { tool, args } = meant;
  const { options, facts } = meant.request;
  if (tool.kind === "read") return { answer: await read(judged, tool, call), ...NOTHING_CHANGED };
  if (tool.kind === "batch") {
    const made = await runBatch({ session, args: args as Required<BatchArgs>, call, options, facts });
    return { answer: made.result, undo: made.undo, modifiedByUser: false };
  }
  const changed = await runChange(session, tool, args, uses, call, admitted, early);
  const { effects, allowedBy, lockWaitMs } = changed;
  facts.tell({ what: "changed", effects, allowedBy });
  if (lockWaitMs !== undefined) facts.tell({ what: "waited", reason: "lock", ms: lockWaitMs });
  return changed;
}

/** What a read changes. */
const NOTHING_CHANGED = { undo: "nothing", modifiedByUser: false } as const;

/** Runs a tool that reads, in its turn where it walks a tree. */
async function read(judged: JudgedCall, tool: AnyReadingTool, call: Call): Promise<Answer<unknown>> {
  const { session, meant } = judged;
  const { options, turn, limited } = meant.request;
  const scans = tool.scans?.(meant.args) ?? false;
  if (scans !== false) {
    const place = turn.takeScan(scanClientOf(session, options));
    if (place !== undefined) await place;
    if (scans === "partial") limited.untimed();
  }
  return tool.run(meant.args, call);
}

/** Returns the answer of a call that has succeeded. */
function answer(judged: JudgedCall, call: Call, changed: AppliedChange<unknown>): Promise<ToolResult> {
  const { session, meant, uses } = judged;
  const { tool, args, canonical, modified } = meant;
  const { facts } = meant.request;
  if (session.hooks.length > 0)
    facts.tell({ what: "ran", call: { tool, args, uses, call, fixedText: canonical?.fixedText === true } });
  const { started } = facts;
  return successResult({ tool, args, call, changed, modifiedByHook: modified, started, meant: canonical });
}
