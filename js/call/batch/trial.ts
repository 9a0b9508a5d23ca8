/**
 * The trial of a batch, and the repetition of its operations exactly as they were approved.
 *
 * An operation may depend on the result of an earlier one, and the versions of that result exist only
 * in the trial. Entries that no earlier operation changes are compared by version right before the
 * operation is made. For the other entries, the operation planned on the storage must be byte for
 * byte the one that was approved.
 */
import { entryPathVia, realpathVia } from "../../backends/fallback/fallback.ts";
import { isWithin } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { MAX_PLANS_PER_CALL } from "../../pipeline/change.ts";
import { applyGuarded, isGuardRefusal } from "../../pipeline/guard.ts";
import { revisePlan } from "../../pipeline/parts.ts";
import { requestApproval, requesterOf } from "../../pipeline/permit.ts";
import {
  assertStateUnchanged,
  realPathsOf,
  changeQuestionOf,
  type ReviewedPlan,
} from "../../pipeline/review.ts";
import type { PlaceToApprove } from "../../pipeline/written-places.ts";
import { forkForTrial, type SeenFiles } from "../../tools/lib/seen.ts";
import type { AnyChangingTool, AnyReadingTool, Answer, BaseVersion, Call } from "../../tools/lib/tool.ts";
import { ask, NOBODY_ASKED, reviewOf } from "../ask.ts";
import { inTurn } from "../fairness.ts";
import { plan, type PlannedChange, type SettledChange } from "../plan.ts";
import {
  type BatchCall,
  judgedOf,
  judgeOperation,
  type JudgedOperation,
  type Operation,
  type OperationTrial,
} from "./operations.ts";

/** Records the trial of each operation of a batch. */
class TrialRecorder {
  /** The paths that the operations so far write. */
  readonly #written: string[] = [];

  /** Records an operation that has nothing to change. */
  async settled({ uses }: JudgedOperation, call: Call): Promise<OperationTrial> {
    const places = await realPathsOf(uses, call);
    return { places, own: [], settled: true, outline: undefined };
  }

  /** Records an operation that is about to be applied to the overlay. */
  async note(
    { uses }: JudgedOperation,
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

/** The trial of a batch on its overlay. */
export class Trial {
  /** The written places that need an approval for which there is no approver. */
  readonly unasked: PlaceToApprove[] = [];
  readonly #batch: BatchCall;
  readonly #records = new TrialRecorder();
  /** The files that the operations have seen, apart from the record of the agent. */
  readonly #seen: SeenFiles;
  readonly #mayAsk: boolean;
  #isReviewed = false;

  constructor(batch: BatchCall, operations: readonly Operation[]) {
    const { session, args, call } = batch;
    this.#batch = batch;
    this.#seen = forkForTrial(call.seen);
    this.#mayAsk =
      !args.dry_run && operations.some(({ tool }) => session.gates.confirmFor(tool.name) !== undefined);
  }

  /** True when a reviewer has seen one of the operations. */
  get isReviewed(): boolean {
    return this.#isReviewed;
  }

  /** Tries an operation: it passes the steps of a call, but for the locks and the commit. @throws FilewrightError */
  async make(operation: Operation): Promise<Answer<unknown>> {
    const judged = await judgeOperation(operation);
    const { tool, meant } = operation;
    const call: Call = { ...judged.call, seen: this.#seen };
    if (tool.kind === "read") return readInTurn(judged, tool, call);
    const planned = await this.#plan(judged, tool, call);
    if ("settled" in planned) {
      if (this.#mayAsk) operation.trial = await this.#records.settled(judged, call);
      return planned.settled;
    }
    const { args, session } = this.#batch;
    if (session.gates.confirmFor(tool.name) === undefined) this.unasked.push(...planned.places);
    const approved = args.dry_run ? { ...planned, ...NOBODY_ASKED } : await ask(planned);
    if ("settled" in approved) {
      this.#isReviewed ||= approved.isReviewed;
      return approved.settled;
    }
    operation.approved = approved;
    const { reviewed } = approved;
    if (reviewed !== undefined) meant.request.facts.tell(reviewOf(reviewed));
    this.#isReviewed ||= reviewed !== undefined;
    if (this.#mayAsk) operation.trial = await this.#records.note(judged, call, approved.plan.base, reviewed);
    try {
      return await applyGuarded(judged.guarding, approved.change, approved.plan);
    } catch (error) {
      // The trial holds no locks, so another call may have been faster.
      if (reviewed !== undefined || isGuardRefusal(error) || !isConflict(error)) throw error;
      return repeatOperation(operation, call);
    }
  }

  async #plan(
    { session, meant, uses, admitted }: JudgedOperation,
    tool: AnyChangingTool,
    call: Call,
  ): Promise<PlannedChange | SettledChange> {
    const { sources, ruled, isKept } = admitted;
    const { args } = meant;
    const { dry_run: isDryRun } = this.#batch.args;
    // Later operations of a dry run can read the result of this one, so its approval comes first.
    if (isKept && isDryRun)
      await requestApproval(session, tool, call.locations, { ...requesterOf(call), uses, args });
    const judged = { sources, ruled, isKept: isKept && !isDryRun };
    const { facts } = meant.request;
    return plan({ session, tool, args, uses, call, facts, admitted: judged, early: undefined });
  }
}

/**
 * Runs a read of a batch, in its turn where it walks a tree. It may wait while the batch has locks: a call that walks
 * takes none, so it never waits for them.
 */
async function readInTurn(
  { session, meant }: JudgedOperation,
  tool: AnyReadingTool,
  call: Call,
): Promise<Answer<unknown>> {
  const { request, args } = meant;
  const isWalk = (tool.scans?.(args) ?? false) !== false;
  const read = async (): Promise<Answer<unknown>> => tool.run(args, call);
  return isWalk ? inTurn(request, session, read) : read();
}

/** Returns the versions that must be unchanged when the first operation of a batch is made. */
export function versionsBeforeBatch(operations: readonly Operation[]): readonly BaseVersion[] {
  return operations.flatMap(({ trial }) => trial?.own ?? []);
}

/**
 * Makes an operation exactly as it was approved. It is planned once and never again.
 * @throws FilewrightError CONFLICT when the operation would now be another one
 */
export async function repeatAsApproved(operation: Operation, call: Call): Promise<Answer<unknown>> {
  const { tool, meant, trial, approved } = operation;
  const { args } = meant;
  const judged = judgedOf(operation);
  if (tool.kind === "read") return readInTurn(judged, tool, call);
  const { uses, guarding } = judged;
  const { places, own, settled, outline } = trial as OperationTrial;
  await assertStateUnchanged({ places, base: own }, { uses, call });
  let plan = await tool.plan(args, call);
  if ((plan.settled !== undefined) !== settled) throw changedSinceApprovalError(call);
  if (plan.settled !== undefined) return plan.settled;
  for (const revision of approved?.reviewed?.revisions ?? [])
    plan = await revisePlan({ tool, args, call }, plan, revision);
  if (outline !== undefined) {
    const question = await changeQuestionOf({ tool, args, uses, call }, plan, undefined);
    if (question.outline !== outline) throw changedSinceApprovalError(call);
  }
  return applyGuarded(guarding, { tool, args, uses, call }, plan);
}

function changedSinceApprovalError({ locations }: Call): FilewrightError {
  return new FilewrightError("CONFLICT", "changed while its approval was asked for", {
    path: locations[0]?.path,
  });
}

/** Plans an operation again and applies it; the new plan may include the changes of another writer. */
export async function repeatOperation(operation: Operation, call: Call): Promise<Answer<unknown>> {
  const { tool, meant, approved } = operation;
  const { args } = meant;
  const judged = judgedOf(operation);
  if (tool.kind === "read") return readInTurn(judged, tool, call);
  const { uses, guarding } = judged;
  for (let attempt = 1; ; attempt++) {
    let plan = await tool.plan(args, call);
    if (plan.settled !== undefined) return plan.settled;
    for (const revision of approved?.reviewed?.revisions ?? [])
      plan = await revisePlan({ tool, args, call }, plan, revision);
    try {
      return await applyGuarded(guarding, { tool, args, uses, call }, plan);
    } catch (error) {
      if (attempt === MAX_PLANS_PER_CALL || isGuardRefusal(error) || !isConflict(error)) throw error;
    }
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof FilewrightError && error.code === "CONFLICT";
}
