/** Runs the operations of a batch in order, calls their `after` hooks, and reports their outcomes. */
import { FilewrightError } from "../../engine/errors.ts";
import { HookException } from "../../hooks/run.ts";
import type { BatchOutcome } from "../../tools/index.ts";
import { translatedRetries } from "../../tools/lib/retry.ts";
import type { Answer } from "../../tools/lib/tool.ts";
import { failedEarly, failureResult, successResult } from "../../pipeline/answer.ts";
import { BatchFailed, type ErrorData, type ToolResult } from "../../pipeline/result.ts";
import type { Session } from "../../pipeline/session.ts";
import { runAfterHooks } from "../after-hooks.ts";
import { judgedOf, type Operation, pathsOf, refusalOf } from "./operations.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";

/** Does one step of an operation, such as planning it. */
type OperationStep = (operation: Operation) => Answer<unknown> | Promise<Answer<unknown>>;

/** The work of a batch: it may run a step for each operation in order, and say which one a later failure is about. */
type BatchWork = (
  run: (each: OperationStep) => Promise<void>,
  about: (operation: Operation) => void,
) => Promise<void>;

/** Does the work of a batch, and stores the results of its operations. The first failure ends the batch. */
export async function runInOrder(
  session: Session,
  operations: readonly Operation[],
  work: BatchWork,
): Promise<void> {
  let index = -1;
  let started = performance.now();
  const run = async (step: OperationStep): Promise<void> => {
    for (index = 0; index < operations.length; index++) {
      const operation = operations[index] as Operation;
      started = performance.now();
      const { tool, meant } = operation;
      const refusal = refusalOf(operation);
      if (refusal !== undefined) {
        const failed = { ...failedEarly(tool, refusal), ...pathsOf(operation), started };
        operation.result = await failureResult(session, failed);
        continue;
      }
      const answer = await step(operation);
      operation.result = await successResult({
        tool,
        args: meant.args,
        call: judgedOf(operation).call,
        answer,
        undo: "nothing",
        facts: meant.request.facts,
        modifiedByHook: meant.modified,
        replacedNotes: [],
        started,
        meant: undefined,
      });
    }
  };
  try {
    await work(run, (operation) => {
      index = operations.indexOf(operation);
    });
  } catch (thrown) {
    if (thrown instanceof HookException) throw thrown;
    // Before the first operation begins, such as while locking, the path of the error identifies its operation.
    const of = thrown instanceof FilewrightError ? thrown.path : undefined;
    const named = operations.findIndex((one) => pathsOf(one).locations.some(({ path }) => path === of));
    const at = Math.max(0, index < 0 ? named : Math.min(index, operations.length - 1));
    const operation = operations[at] as Operation;
    const { tool } = operation;
    const failed = await failureResult(session, {
      ...failedEarly(tool, thrown),
      ...pathsOf(operation),
      started,
    });
    operation.result = failed;
    const restored = failed.error.details?.["rolled_back"] !== false;
    const results = await outcomesAfterHooks(operations.slice(0, at + 1));
    const error = withBatchRetries(failed.error, operations, at);
    throw new BatchFailed(at, tool.name, error, { results, applied: false, rolled_back: restored });
  }
}

/** Returns the error of an operation with its calls to send instead as calls of the whole batch, of which nothing was made. */
function withBatchRetries(error: ErrorData, operations: readonly Operation[], at: number): ErrorData {
  if (error.details === undefined) return error;
  const sent = operations.map(({ tool, meant }) => {
    const args = meant.request.facts.last("meant")?.raw ?? {};
    return { tool: tool.name, args };
  });
  const details = translatedRetries(error.details, (call) => ({
    tool: "batch",
    arguments: { operations: sent.with(at, { tool: call.tool, args: call.arguments }) },
  }));
  return { ...error, details };
}

/** Runs the `after` hooks of the finished operations and returns the outcomes. */
export async function outcomesAfterHooks(operations: readonly Operation[]): Promise<readonly BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  for (const { tool, meant, judged, result } of operations) {
    if (result === undefined) continue;
    const { request, args } = meant;
    if (judged !== undefined && request.session.hooks.bound.length > 0) {
      const call = { ...judged.call, fs: judged.admitted.view() };
      request.facts.tell({ what: "ran", call: { tool, args, uses: judged.uses, call, fixedText: false } });
    }
    outcomes.push(batchOutcomeOf(tool.name, await runAfterHooks(request, result)));
  }
  return outcomes;
}

export function batchOutcomeOf(tool: string, { ok, text, data, error, meta }: ToolResult): BatchOutcome {
  const { modified_by_user: user, modified_by_hook: hook } = meta;
  const by = user === true ? "reviewer" : hook === true ? "hook" : undefined;
  return withoutUndefined({ tool, ok, text, data, error, modified_by: by });
}
