/**
 * Records the trial of a batch, and repeats its operations exactly as they were approved.
 *
 * An operation may depend on the result of an earlier one, and the versions of that result exist only
 * in the trial. Entries that no earlier operation changes are compared by version right before the
 * operation is made. For the other entries, the operation planned on the storage must be byte for
 * byte the one that was approved.
 */
import { entryPathVia, realpathVia } from "../../backends/fallback/fallback.ts";
import { isWithin } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import type { AnyChangingTool, Answer, BaseVersion, Call } from "../../tools/lib/tool.ts";
import type { Operation, OperationTrial } from "./operations.ts";

import { applyGuarded, type GuardSettings } from "../../pipeline/guard.ts";
import { revisePlan } from "../../pipeline/parts.ts";
import {
  assertStateUnchanged,
  realPathsOf,
  changeQuestionOf,
  type ReviewedPlan,
} from "../../pipeline/review.ts";

/** Records the trial of each operation of a batch. */
export class TrialRecorder {
  /** The paths that the operations so far write. */
  readonly #written: string[] = [];

  /** Records an operation that has nothing to change. */
  async settled({ uses }: Operation, call: Call): Promise<OperationTrial> {
    const places = await realPathsOf(uses, call);
    return { places, own: [], settled: true, outline: undefined };
  }

  /** Records an operation that is about to be applied to the overlay. */
  async note(
    { uses }: Operation,
    call: Call,
    planned: readonly BaseVersion[],
    reviewed: ReviewedPlan<unknown> | undefined,
  ): Promise<OperationTrial> {
    const places = reviewed?.places ?? (await realPathsOf(uses, call));
    const own: BaseVersion[] = [];
    for (const one of reviewed?.base ?? planned) {
      const real = await (one.entry === true ? entryPathVia : realpathVia)(call.fs, one.path);
      if (!this.#written.some((path) => isWithin(path, real) || isWithin(real, path))) own.push(one);
    }
    for (const [index, { intent }] of uses.entries())
      if (intent === "write") this.#written.push(places[index] as string);
    return { places, own, settled: false, outline: reviewed?.outline };
  }
}

/** Returns the versions that must be unchanged when the first operation of a batch is made. */
export function versionsBeforeBatch(operations: readonly Operation[]): readonly BaseVersion[] {
  return operations.flatMap(({ trial }) => trial?.own ?? []);
}

/**
 * Makes an operation exactly as it was approved. It is planned once and never again.
 * @throws FilewrightError CONFLICT when the operation would now be another one
 */
export async function repeatAsApproved(
  { tool, args, uses, revisions, trial, guarding }: Operation,
  call: Call,
): Promise<Answer<unknown>> {
  if (tool.kind === "read") return tool.run(args, call);
  const { places, own, settled, outline } = trial as OperationTrial;
  await assertStateUnchanged({ places, base: own }, { uses, call });
  let plan = await (tool as AnyChangingTool).plan(args, call);
  if ((plan.settled !== undefined) !== settled) throw changedSinceApprovalError(call);
  if (plan.settled !== undefined) return plan.settled;
  for (const revision of revisions)
    plan = await revisePlan({ tool: tool as AnyChangingTool, args, call }, plan, revision);
  if (outline !== undefined) {
    const question = await changeQuestionOf({ tool, args, uses, call }, plan, undefined);
    if (question.outline !== outline) throw changedSinceApprovalError(call);
  }
  return applyGuarded(guarding as GuardSettings, { tool, args, uses, call }, plan);
}

function changedSinceApprovalError({ locations }: Call): FilewrightError {
  return new FilewrightError("CONFLICT", "changed while its approval was asked for", {
    path: locations[0]?.path,
  });
}
