/**
 * The trial of a batch, the question about all of it, and the repetition of its operations exactly as they were approved.
 *
 * An operation may depend on the result of an earlier one, and the versions of that result exist only
 * in the trial. Entries that no earlier operation changes are compared by version right before the
 * operation is made. An operation that was asked about must show, planned on the storage, what its
 * question showed.
 */
import { OverlayBackend } from "../../backends/overlay/overlay.ts";
import { isWithin } from "../../backends/paths.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { ApproverGroups } from "../../hooks/approver-groups.ts";
import type { Confirm } from "../../hooks/confirm.ts";
import { applyGuarded, assertSeen, isGuardRefusal } from "../../pipeline/guard.ts";
import { requestApproval, requesterOf } from "../../pipeline/permit.ts";
import {
  assertStateUnchanged,
  assertVersionsUnchanged,
  realPathsOf,
  changeQuestionOf,
} from "../../pipeline/review.ts";
import { staleFunctionsOf } from "../../pipeline/stale.ts";
import type { PlaceToApprove } from "../../pipeline/written-places.ts";
import { realPathOf } from "../../policy/grant-paths.ts";
import { forkForTrial, type SeenFiles } from "../../tools/lib/seen.ts";
import type { BaseVersion } from "../../tools/change/change.ts";
import { choose } from "../../tools/change/show.ts";
import type { AnyChangingTool, AnyReadingTool, Answer, Call, Plan, Settled } from "../../tools/lib/tool.ts";
import {
  type ApprovedChange,
  decideAbout,
  MAX_PLANS_PER_CALL,
  plan,
  type PlannedChange,
  reviewOf,
  unasked,
} from "../change.ts";
import { inTurn } from "../fairness.ts";
import {
  approvedOf,
  type BatchCall,
  judgedOf,
  judgeOperation,
  type JudgedOperation,
  type Operation,
  type OperationTrial,
  refusalOf,
} from "./operations.ts";
import { askAboutOperations, type AskedOperation, questionsOf, Review } from "./question.ts";
import { runInOrder } from "./outcomes.ts";

/** Records the trial of each operation of a batch. */
class TrialRecorder {
  /** The paths that the operations so far write. */
  readonly #written: string[] = [];

  /** Records an operation that has nothing to change. */
  async settled({ uses }: JudgedOperation, call: Call): Promise<OperationTrial> {
    const places = await realPathsOf(uses, call);
    return { places, ownVersions: [], settled: true, outline: undefined };
  }

  /** Records an operation that is about to be applied to the overlay. `base` are the versions that it depends on. */
  async note(
    { uses }: JudgedOperation,
    call: Call,
    base: readonly BaseVersion[],
    outline: string | undefined,
  ): Promise<OperationTrial> {
    const places = await realPathsOf(uses, call);
    const ownVersions: BaseVersion[] = [];
    for (const one of base) {
      const real = await realPathOf(call.fs, one.path, one.entry === true);
      if (!overlaps(real, this.#written)) ownVersions.push(one);
    }
    return { places, ownVersions, settled: false, outline };
  }

  /** Notes what an operation has written to the overlay. */
  applied({ uses }: JudgedOperation, { places }: OperationTrial): void {
    this.#written.push(...writtenOf(uses, places));
  }
}

/** The result of a trial. */
export interface Tried {
  /** The written places that need an approval for which there is no approver. */
  readonly unasked: readonly PlaceToApprove[];
  /** True when a reviewer has seen one of the operations. */
  readonly isReviewed: boolean;
}

/**
 * Tries all operations on an overlay, and asks about those that need an approval: each approver once. What a reviewer
 * revises or leaves out is tried again, and asked about again where that changes what other operations do. `prepared` is
 * the overlay of the first trial, on which rules decide about the operations.
 * @throws BatchFailed; HookException
 */
export async function tryOperations(
  batch: BatchCall,
  operations: readonly Operation[],
  prepared: OverlayBackend,
): Promise<Tried> {
  const { session } = batch;
  const reviews = new Map<Operation, Review>();
  for (let overlay: OverlayBackend | undefined; ; overlay = new OverlayBackend(session.files.fs)) {
    const trial = new Trial(batch, overlay ?? prepared, reviews);
    let isDecided = false;
    await runInOrder(session, operations, async (run, about) => {
      await run((operation) => trial.make(operation));
      isDecided = await trial.ask(operations, about);
    });
    if (isDecided) return trial;
    session.staging.stage?.refresh();
  }
}

/** One trial of a batch on an overlay. */
class Trial implements Tried {
  readonly unasked: PlaceToApprove[] = [];
  readonly #batch: BatchCall;
  readonly #overlay: OverlayBackend;
  /** The replies of reviewers in earlier trials; undefined for a trial without questions. */
  readonly #reviews: Map<Operation, Review> | undefined;
  readonly #records = new TrialRecorder();
  /** The files that the operations have seen, apart from the record of the agent. */
  readonly #seen: SeenFiles;
  readonly #mayAsk: boolean;
  readonly #toAsk = new Map<Operation, AskedOperation>();
  /** The approvers of operations on paths that several people are asked about. */
  readonly #groups = new ApproverGroups();

  constructor(batch: BatchCall, overlay: OverlayBackend, reviews: Map<Operation, Review> | undefined) {
    this.#batch = batch;
    this.#overlay = overlay;
    this.#reviews = reviews;
    this.#seen = forkForTrial(batch.call.seen);
    const { session, args } = batch;
    this.#mayAsk = !args.dry_run && args.operations.some(({ tool }) => session.gates.mayAsk(tool));
  }

  get isReviewed(): boolean {
    return (this.#reviews?.size ?? 0) > 0;
  }

  /** Tries an operation: it passes the steps of a call, but for the question, the locks and the commit. @throws FilewrightError */
  async make(operation: Operation): Promise<Answer<unknown>> {
    const judged = operation.judged ?? (await judgeOperation(operation));
    const call: Call = { ...judged.call, fs: judged.admitted.view(this.#overlay), seen: this.#seen };
    const { tool } = operation;
    operation.decision = undefined;
    if (tool.kind === "read") return readInTurn(judged, tool, call);
    for (let attempt = 1; ; attempt++) {
      const planned = await this.#plan(judged, tool, call);
      if ("answer" in planned) {
        if (this.#mayAsk) operation.trial = await this.#records.settled(judged, call);
        return planned.answer;
      }
      const decided = await this.#decide(operation, judged, planned);
      const answer = await this.#apply(operation, decided, attempt === MAX_PLANS_PER_CALL);
      if (answer === undefined) continue;
      if (this.#batch.session.gates.confirmFor(tool.name) === undefined) this.unasked.push(...decided.places);
      return answer;
    }
  }

  /** Makes an operation on the overlay; undefined if another call has changed a file first, as the trial holds no locks. */
  async #apply(
    operation: Operation,
    { change, plan: planned }: PlannedChange,
    isLast: boolean,
  ): Promise<Answer<unknown> | undefined> {
    try {
      const answer = await applyGuarded(change, planned);
      if (operation.trial !== undefined) this.#records.applied(judgedOf(operation), operation.trial);
      return answer;
    } catch (error) {
      if (isLast || isGuardRefusal(error) || !isConflict(error)) throw error;
      return undefined;
    }
  }

  /**
   * Asks about the operations that need an approval and are not decided as they are planned now. Returns false when they
   * are to be tried again.
   * @throws FilewrightError APPROVAL_DENIED, CANCELLED, CONFLICT
   */
  async ask(operations: readonly Operation[], about: (operation: Operation) => void): Promise<boolean> {
    const batch = this.#batch;
    const { session, call } = batch;
    const stale = staleFunctionsOf(
      () => this.#assertUnchanged(operations),
      () => this.#watch(operations),
    );
    for (const asked of questionsOf([...this.#toAsk.values()])) {
      if (asked.every(({ review, question }) => review.hasDecided(question))) continue;
      // The first operation of the question has the error of a refusal of all of them.
      about(this.#operationOf(asked[0]));
      call.timer.untimed?.();
      const after = await askAboutOperations({ session, call, stale }, asked);
      if (after === "next") continue;
      if (after === "revised") await this.#revise(operations);
      else this.#beginAnew(asked, after.looksAgainAt);
      return false;
    }
    this.#approve();
    return true;
  }

  #operationOf(asked: AskedOperation | undefined): Operation {
    const found = [...this.#toAsk].find(([, one]) => one === asked);
    return (found as readonly [Operation, AskedOperation])[0];
  }

  /** Decides about all operations as their reviewers have. */
  #approve(): void {
    for (const [operation, one] of this.#toAsk) {
      const decision = one.review.approved(one);
      operation.decision = decision;
      if (decision.reviewed !== undefined) operation.meant.request.facts.tell(reviewOf(decision.reviewed));
    }
  }

  /** Leaves out what a reviewer has refused. @throws FilewrightError CONFLICT when the files changed while he was asked */
  async #revise(operations: readonly Operation[]): Promise<void> {
    for (const [operation, { review }] of this.#toAsk)
      if (review.refusal !== undefined) operation.decision = { leftOut: review.refusal };
    await this.#assertUnchanged(operations);
  }

  /** Forgets what reviewers have said, because one of them looks again. The next question replaces the one with this digest. */
  #beginAnew(asked: readonly AskedOperation[], digest: string): void {
    const again = new Set(asked.map(({ review }) => review));
    for (const [operation, review] of this.#reviews ?? []) {
      operation.decision = undefined;
      this.#reviews?.set(operation, new Review(again.has(review) ? digest : undefined));
    }
  }

  /** @throws FilewrightError CONFLICT when an entry of an operation is no more as it was planned on */
  async #assertUnchanged(operations: readonly Operation[]): Promise<void> {
    const { session } = this.#batch;
    session.staging.stage?.refresh();
    await assertVersionsUnchanged(versionsBeforeBatch(operations), session.files.fs);
  }

  /** Tries the operations while a question about them is open, without another question. @throws FilewrightError */
  async #watch(operations: readonly Operation[]): Promise<void> {
    const { session } = this.#batch;
    session.staging.stage?.refresh();
    const again = new Trial(this.#batch, new OverlayBackend(session.files.fs), undefined);
    for (const operation of operations)
      if (refusalOf(operation) === undefined) await again.make({ ...operation });
  }

  async #plan(
    { session, meant, uses, admitted }: JudgedOperation,
    tool: AnyChangingTool,
    call: Call,
  ): Promise<PlannedChange | Settled<unknown>> {
    const { sources, ruled, isKept } = admitted;
    const { args } = meant;
    const { dry_run: isDryRun } = this.#batch.args;
    // Later operations of a dry run can read the result of this one, so its approval comes first.
    if (isKept && isDryRun)
      await requestApproval(session, tool, call.locations, { ...requesterOf(call), uses, args });
    const asksToReveal = isKept && !isDryRun && this.#reviews !== undefined;
    const { facts } = meant.request;
    const judged = { sources, ruled, isKept: asksToReveal };
    return plan({ session, tool, args, uses, call, facts, admitted: judged, early: undefined });
  }

  /**
   * Decides about a planned operation, or notes that it is to be asked about. Returns it as its reviewer has revised it.
   * @throws FilewrightError
   */
  async #decide(
    operation: Operation,
    judged: JudgedOperation,
    planned: PlannedChange,
  ): Promise<PlannedChange> {
    const { args, session } = this.#batch;
    const { change } = planned;
    this.#toAsk.delete(operation);
    const decided = args.dry_run ? unasked(planned) : await decideAbout(planned);
    const approver =
      "approver" in decided ? decided.approver : await this.#approverOfPaths(judged, change.call);
    if (approver === undefined) {
      operation.decision = decided as ApprovedChange;
      if (this.#mayAsk)
        operation.trial = await this.#records.note(judged, change.call, baseOf(planned), undefined);
      return planned;
    }
    await assertSeen(change, planned.plan);
    const largest = session.past.log.largestUndo?.bytes;
    const question = await changeQuestionOf(change, planned.plan, largest);
    operation.trial = await this.#records.note(judged, change.call, question.base, question.outline);
    if (this.#reviews === undefined) return planned;
    const review = this.#reviews.get(operation) ?? new Review(undefined);
    this.#reviews.set(operation, review);
    let revised = planned;
    for (const revision of review.revisions)
      revised = { ...revised, plan: await choose(revised.plan, revision.files, revision.isSelection) };
    const shown = revised === planned ? question : await changeQuestionOf(change, revised.plan, largest);
    const { ownVersions } = operation.trial;
    this.#toAsk.set(operation, { planned, approver, question, shown, ownVersions, review });
    return revised;
  }

  /**
   * Returns who is asked about earlier operations that write a path of this one, or one above or below it. An operation
   * that needs no approval itself is in their question too: else it would replace or remove what they have seen, or have
   * written themselves. Several people are asked about it in a question of its own, and all have to agree.
   */
  async #approverOfPaths({ uses }: JudgedOperation, call: Call): Promise<Confirm | undefined> {
    if (this.#toAsk.size === 0) return undefined;
    const own = writtenOf(uses, await realPathsOf(uses, call));
    const asked = new Set<Confirm>();
    for (const [operation, { approver }] of this.#toAsk) {
      const places = operation.trial?.places ?? [];
      if (!writtenOf(judgedOf(operation).uses, places).some((path) => overlaps(path, own))) continue;
      for (const one of this.#groups.members(approver)) asked.add(one);
    }
    return this.#groups.of([...asked]);
  }
}

/** Returns true for a path that is one of some paths, or above or below one of them. */
function overlaps(path: string, paths: readonly string[]): boolean {
  return paths.some((other) => isWithin(path, other) || isWithin(other, path));
}

/** Returns those of the places of an operation that it writes. */
function writtenOf(uses: JudgedOperation["uses"], places: readonly string[]): readonly string[] {
  return places.filter((_, index) => uses[index]?.intent === "write");
}

/**
 * Runs a read of a batch, in its turn where it walks a tree. It may wait while the batch has locks: other calls
 * that walk never wait for locks.
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

/** Returns the versions on which a plan was computed. */
function baseOf({ plan: planned }: PlannedChange): readonly BaseVersion[] {
  return planned.kind === "act" ? [] : planned.base;
}

/** Returns the versions that must be unchanged when the first operation of a batch is made. */
export function versionsBeforeBatch(operations: readonly Operation[]): readonly BaseVersion[] {
  return operations.flatMap((one) => (refusalOf(one) === undefined ? (one.trial?.ownVersions ?? []) : []));
}

/**
 * Makes an operation exactly as it was approved. It is planned once and never again.
 * @throws FilewrightError CONFLICT when the operation would now be another one
 */
export async function repeatAsApproved(operation: Operation, call: Call): Promise<Answer<unknown>> {
  const { tool, meant, trial } = operation;
  const { args } = meant;
  const judged = judgedOf(operation);
  if (tool.kind === "read") return readInTurn(judged, tool, call);
  const { uses } = judged;
  const { places, ownVersions, settled, outline } = trial as OperationTrial;
  await assertStateUnchanged({ places, base: ownVersions }, { uses, call });
  const planned = await tool.plan(args, call);
  if ((planned.kind === "settled") !== settled) throw changedSinceApprovalError(call);
  if (planned.kind === "settled") return planned.answer;
  let plan = planned;
  if (outline !== undefined) {
    const question = await changeQuestionOf({ tool, args, uses, call }, plan, undefined);
    if (question.outline !== outline) throw changedSinceApprovalError(call);
  }
  // The plan is the one that was shown, so the reviewer's revisions make of it what he approved.
  for (const revision of approvedOf(operation)?.reviewed?.revisions ?? [])
    plan = await choose(plan, revision.files, revision.isSelection);
  return applyGuarded({ ...judged, tool, args, call }, plan);
}

function changedSinceApprovalError({ locations }: Call): FilewrightError {
  return new FilewrightError("CONFLICT", "changed while its approval was asked for", {
    path: locations[0]?.path,
  });
}

/** Plans an operation again that needed no question, and applies it; the new plan may include changes of another writer. */
export async function repeatOperation(operation: Operation, call: Call): Promise<Answer<unknown>> {
  const { tool, meant } = operation;
  const { args } = meant;
  const judged = judgedOf(operation);
  if (tool.kind === "read") return readInTurn(judged, tool, call);
  let plan: Plan<unknown> | undefined;
  for (let attempt = 1; ; attempt++) {
    plan = await tool.plan(args, call, plan);
    if (plan.kind === "settled") return plan.answer;
    try {
      return await applyGuarded({ ...judged, tool, args, call }, plan);
    } catch (error) {
      if (attempt === MAX_PLANS_PER_CALL || isGuardRefusal(error) || !isConflict(error)) throw error;
    }
  }
}

export function isConflict(error: unknown): boolean {
  return error instanceof FilewrightError && error.code === "CONFLICT";
}
