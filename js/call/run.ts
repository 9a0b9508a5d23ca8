/** The third step of a call, of three: the tool reads, or changes files once that is approved, and the answer is made. */
import { successResult } from "../pipeline/answer.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Made } from "../journal/index.ts";
import type { BatchData } from "../tools/index.ts";
import type { Answer, Call } from "../tools/lib/tool.ts";
import { ask } from "./ask.ts";
import { commit, settledChange } from "./commit.ts";
import { takeScan, takeSlot } from "./fairness.ts";
import type { JudgedCall } from "./judge.ts";
import { type Change, plan } from "./plan.ts";

/** Runs the operations of a batch. */
export type BatchRunner = (judged: JudgedCall, call: Call) => Promise<Made<Answer<BatchData>>>;

/** Runs a call that may be made, and returns its answer. @throws FilewrightError as the tool does; HookException */
export async function run(judged: JudgedCall, runBatch: BatchRunner): Promise<ToolResult> {
  const { tool, args, request } = judged.meant;
  try {
    const { timeout_ms: timeoutMs } = args as { readonly timeout_ms?: unknown };
    const isTimed = typeof timeoutMs === "number" && !tool.traits.includes("keepsTime");
    const { call: untimed } = judged.admitted;
    const call = isTimed ? { ...untimed, timer: request.limited.limit(timeoutMs) } : untimed;
    // A call that locked early has its slot already.
    if (request.session.scheduling.slots !== undefined && request.taken.length === 0) await takeSlot(request);
    if (tool.kind !== "read") return await answer(judged, call, await change(judged, call, runBatch));
    const scans = tool.scans?.(args) ?? false;
    if (scans !== false) await takeScan(request, judged.session);
    // A call that gives a part when its time is over ends itself.
    if (scans === "partial") request.limited.untimed();
    return await answer(judged, call, settledChange(await tool.run(args, call)));
  } finally {
    await judged.early?.locks.release();
  }
}

/** Makes the change of a call, or those of a batch. */
async function change(judged: JudgedCall, call: Call, runBatch: BatchRunner): Promise<Made<Answer<unknown>>> {
  const { session, meant, uses, admitted, early } = judged;
  const { tool, args, request } = meant;
  if (tool.kind !== "change") return runBatch(judged, call);
  const { facts } = request;
  return changeFiles({ session, tool, args, uses, call, facts, admitted, early });
}

/**
 * Changes files: plan, ask, commit. The first plan and the decision of a reviewer need no lock; only a call that locked
 * early (`judge.ts`) plans with its locks.
 */
async function changeFiles(asked: Change): Promise<Made<Answer<unknown>>> {
  const planned = await plan(asked);
  if ("settled" in planned) return settledChange(planned.settled);
  const approved = await ask(planned);
  return "settled" in approved ? settledChange(approved.settled) : commit(approved);
}

/** Returns the answer of a call that has succeeded. */
function answer(judged: JudgedCall, call: Call, made: Made<Answer<unknown>>): Promise<ToolResult> {
  const { session, meant, uses } = judged;
  const { tool, args, canonical, modified } = meant;
  const { facts } = meant.request;
  if (session.hooks.bound.length > 0)
    facts.tell({ what: "ran", call: { tool, args, uses, call, fixedText: canonical?.fixedText === true } });
  const { started } = facts;
  const { result, undo } = made;
  const done = { tool, args, call, answer: result, undo, facts, modifiedByHook: modified, started };
  return successResult({ ...done, meant: canonical });
}
