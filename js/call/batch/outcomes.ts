/** Runs the operations of a batch in order, calls their `after` hooks, and reports their outcomes. */
import { FilewrightError } from "../../engine/errors.ts";
import { hooksFor, HookException, runAfterHooksOnResult } from "../../hooks/run.ts";
import type { BatchOutcome } from "../../tools/index.ts";
import { translatedRetries } from "../../tools/lib/retry.ts";
import type { Answer, Call } from "../../tools/lib/tool.ts";
import { withHookChanges } from "../../pipeline/after-hooks.ts";
import { failedEarly, failureResult, successResult } from "../../pipeline/answer.ts";
import { BatchFailed, type ErrorData, type ToolResult } from "../../pipeline/result.ts";
import type { Operation } from "./operations.ts";
import type { CallOptions } from "../../pipeline/enter.ts";
import type { Session } from "../../pipeline/session.ts";

/** Does one step of an operation, such as planning it. */
type OperationStep = (operation: Operation) => Answer<unknown> | Promise<Answer<unknown>>;

/**
 * Runs a step for each operation in order and stores the results. The first failure ends the batch.
 * `around` wraps the whole run.
 */
export async function runInOrder(
  session: Session,
  operations: readonly Operation[],
  options: CallOptions,
  each: OperationStep | undefined,
  around: (run: (each: OperationStep) => Promise<void>) => Promise<void> = (run) =>
    run(each as OperationStep),
): Promise<void> {
  let index = -1;
  let started = performance.now();
  const run = async (step: OperationStep): Promise<void> => {
    for (index = 0; index < operations.length; index++) {
      const operation = operations[index] as Operation;
      started = performance.now();
      const answer = await step(operation);
      const modifiedByUser = operation.revisions.length > 0;
      const { tool, args, modified, call, reviewNote } = operation;
      const changed = {
        answer,
        undo: "nothing",
        modifiedByUser,
        reviewNote,
        approval: undefined,
      } as const;
      operation.result = await successResult({
        tool,
        args,
        call: call as Call,
        changed,
        modifiedByHook: modified,
        started,
        meant: undefined,
      });
    }
  };
  try {
    await around(run);
  } catch (thrown) {
    if (thrown instanceof HookException) throw thrown;
    // Before the first operation begins, such as while locking, the path of the error identifies its operation.
    const of = thrown instanceof FilewrightError ? thrown.path : undefined;
    const named = operations.findIndex(({ locations }) => locations.some(({ path }) => path === of));
    const at = Math.max(0, index < 0 ? named : Math.min(index, operations.length - 1));
    const operation = operations[at] as Operation;
    const { tool, uses, locations } = operation;
    const failed = await failureResult(session, {
      ...failedEarly(tool, thrown),
      uses,
      locations,
      started,
    });
    operation.result = failed;
    const restored = failed.error.details?.["rolled_back"] !== false;
    const results = await runAfterHooks(session, operations.slice(0, at + 1), options);
    const error = withBatchRetries(failed.error, operations, at);
    throw new BatchFailed(at, tool.name, error, { results, applied: false, rolled_back: restored });
  }
}

/** Returns the error of an operation with its calls to send instead as calls of the whole batch, of which nothing was made. */
function withBatchRetries(error: ErrorData, operations: readonly Operation[], at: number): ErrorData {
  if (error.details === undefined) return error;
  const sent = operations.map(({ tool, raw }) => ({ tool: tool.name, args: raw }));
  const details = translatedRetries(error.details, (call) => ({
    tool: "batch",
    arguments: { operations: sent.with(at, { tool: call.tool, args: call.arguments }) },
  }));
  return { ...error, details };
}

/** Runs the `after` hooks of the finished operations and returns the outcomes. */
export async function runAfterHooks(
  session: Session,
  operations: readonly Operation[],
  options: CallOptions,
): Promise<readonly BatchOutcome[]> {
  const outcomes: BatchOutcome[] = [];
  for (const { tool, raw, args, uses, call, view, result } of operations) {
    if (result === undefined) continue;
    const after = hooksFor(session.hooks.bound, "after", tool.name);
    const subject = { tool_name: tool.name, tool_call: options.toolCall };
    const { duration_ms: durationMs } = result.meta;
    const ended = { subject, args: raw, durationMs, onError: session.hooks.onError };
    const run = (): Promise<ToolResult> => runAfterHooksOnResult(after, ended, result);
    const told =
      after.length === 0 || call === undefined
        ? await run()
        : await withHookChanges(
            { tool, args, uses, call: { ...call, fs: view() }, fixedText: false },
            result,
            run,
          );
    outcomes.push(batchOutcomeOf(tool.name, told));
  }
  return outcomes;
}

export function batchOutcomeOf(tool: string, { ok, text, data, error, meta }: ToolResult): BatchOutcome {
  const { modified_by_user: user, modified_by_hook: hook } = meta;
  const by = user === true ? "reviewer" : hook === true ? "hook" : undefined;
  return {
    tool,
    ok,
    text,
    ...(data === undefined ? {} : { data }),
    ...(error === undefined ? {} : { error }),
    ...(by === undefined ? {} : { modified_by: by }),
  };
}
