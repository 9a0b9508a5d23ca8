/** Counts a call in the budget of its agent. The calls inside it, such as those of a batch, are not counted again. */
import { FilewrightError } from "../engine/errors.ts";
import { type Failure, refusedFailure, type ToolResult } from "../pipeline/result.ts";
import type { Budget } from "../pipeline/scheduling/budget.ts";
import type { RecordOp } from "../storage/storage.ts";
import type { CallRequest, Next, Stage } from "./call.ts";
import { answerOf } from "./failures.ts";

export const budget: Stage = {
  isNeeded: ({ scheduling }) => scheduling.budget !== undefined,
  async run(request, next) {
    const { session, known, given } = request;
    const counted = session.scheduling.budget as Budget;
    const ops =
      session.staging.stages === undefined || known.kind !== "change" ? undefined : counted.inCommit(given);
    if (ops !== undefined) return chargedByCommit(request, next, ops);
    const refusal = await chargedNow(counted, request);
    if (refusal !== undefined) return refusal;
    const limits = counted.limits(session.settings.limits);
    const result = await next({
      ...request,
      session: {
        ...session,
        settings: { ...session.settings, limits },
        scheduling: { ...session.scheduling, budget: undefined },
      },
    });
    await counted.end(result);
    return result;
  },
};

/**
 * Runs a change whose commit charges the budget. A call without a commit, such as one that fails, is charged after
 * it; if the budget is spent by then, its answer is not given.
 */
async function chargedByCommit(
  request: CallRequest,
  next: Next,
  ops: readonly RecordOp[],
): Promise<ToolResult> {
  const { session } = request;
  const counted = session.scheduling.budget as Budget;
  let isCharged = false;
  const committed = (): void => {
    isCharged = true;
  };
  const result = await next({
    ...request,
    session: {
      ...session,
      scheduling: { ...session.scheduling, budget: undefined },
      staging: { ...session.staging, charge: { ops, committed } },
    },
  });
  if (!isCharged) {
    const refusal =
      (result.ok ? undefined : counted.refusal(result.error)) ?? (await chargedNow(counted, request));
    if (refusal !== undefined) return refusal;
  }
  await counted.end(result);
  return result;
}

/** Charges a budget. Returns the failure of a call that it does not allow. */
async function chargedNow(counted: Budget, request: CallRequest): Promise<Failure | undefined> {
  try {
    return await counted.begin(request.given);
  } catch (error) {
    if (!(error instanceof FilewrightError)) return answerOf(request, error);
    return refusedFailure(error.code, `The budget of this agent cannot be read: ${error.message}.`);
  }
}
