/**
 * A change, in three steps: plan, where its tool says what it would do, and nothing is written; ask, where a reviewer sees
 * the exact bytes and decides, if an approval is needed; commit, which locks, compares and makes it.
 *
 * The plan is carried out only where each file still has the version that it was computed from
 * (`js/tools/change/make.ts`), with or without a lock. Where another writer was faster, the tool plans again, and that plan
 * may fail with CONFLICT itself. A change that a reviewer has seen is never planned again: `assertStateUnchanged` in
 * `js/pipeline/review.ts` compares the state that the reviewer has seen, and the call fails with CONFLICT.
 */
import type { Files } from "../backends/files.ts";
import type { MaybePromise } from "../backends/backend.ts";
import type { AllowedBy } from "../backends/transaction/step.ts";
import type { CommitList } from "../backends/transaction/recorded-list.ts";
import type { FilesFound, FoundFile } from "../backends/transaction/step-maker.ts";
import { checkAborted, FilewrightError } from "../engine/errors.ts";
import { forEachYielding, Yielder } from "../engine/yielder.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { type About, type Made, needsSteps } from "../log/index.ts";
import type { AdmittedCall } from "../pipeline/enter.ts";
import type { Fact, Facts } from "../pipeline/facts.ts";
import { applyGuarded, assertSeen, isGuardRefusal } from "../pipeline/guard.ts";
import { effectsFrom } from "../pipeline/observe.ts";
import type { NotesInCommit, Reads } from "../pipeline/past/reads.ts";
import { acquireLocks, type EarlyLocks, type HeldLocks, lockKeysOf } from "../pipeline/path-locks.ts";
import {
  allowedByAnswer,
  approvalFactsIfNeeded,
  decidePersonally,
  planWithApprovalToReveal,
} from "../pipeline/permit.ts";
import {
  type AskedChange,
  assertStateUnchanged,
  type ReviewedPlan,
  reviewUntilApproved,
} from "../pipeline/review.ts";
import { isWrongAssumption } from "../pipeline/staged.ts";
import { withUndoWarning } from "../pipeline/undo-note.ts";
import {
  checkWrittenPlaces,
  type PlaceToApprove,
  unaskedPlaceWarnings,
  type WrittenPath,
} from "../pipeline/written-places.ts";
import type { Location } from "../policy/index.ts";
import type { CallStage } from "../storage/staged/stage.ts";
import type { RecordOp } from "../storage/storage.ts";
import { listedChanges } from "../tools/change/list.ts";
import { type ChangingPlan, carryOut } from "../tools/change/make.ts";
import { holdSeen, type SeenFiles } from "../tools/lib/seen.ts";
import type { Answer, Call, Plan, Settled } from "../tools/lib/tool.ts";

/** A change that a call may make, if need be after an approval. */
interface ChangingCall extends AskedChange {
  /** The facts of the call, to which the change is added. */
  readonly facts: Facts;
  readonly admitted: Pick<AdmittedCall, "sources" | "ruled" | "isKept">;
  /** The locks that the call has taken already; undefined for none. */
  readonly early: EarlyLocks | undefined;
}

/** A planned change. */
export interface PlannedChange {
  readonly change: ChangingCall;
  readonly plan: ChangingPlan;
  /** The real paths to lock, in their order: those of the change, and directories that may be repositories. */
  readonly keys: readonly WrittenPath[];
  /** The places that it writes and that need an approval. */
  readonly places: readonly PlaceToApprove[];
  /** When the real paths were looked up, by `performance.now()`. */
  readonly locatedAt: number;
}

/**
 * Makes a change: plan, ask, commit. The first plan and the decision of a reviewer need no lock; only a call that locked
 * early (`steps.ts`) plans with its locks.
 */
export async function changeFiles(asked: ChangingCall): Promise<Made<Answer<unknown>>> {
  const planned = await plan(asked);
  if ("answer" in planned) return settledChange(planned.answer);
  const decided = await decideAbout(planned);
  const approved = "approver" in decided ? await askReviewer(planned, decided.approver) : decided;
  return "answer" in approved ? settledChange(approved.answer) : commit(approved);
}

/** Plans a change. @throws FilewrightError as its tool does */
export async function plan(change: ChangingCall): Promise<PlannedChange | Settled<unknown>> {
  // The real paths are determined while the tool plans, because most plans begin with a read.
  const located = locateWrites(change);
  located.catch(() => {}); // The await below reports the error; the error of a failed plan is more specific.
  const planned = await planOf(change, change.admitted.isKept);
  if (planned.kind === "settled") return planned;
  return { change, plan: planned, ...(await located) };
}

/** Returns the plan of the tool. With `isKept` the rules hide what it reads until a reviewer has approved it. */
function planOf(change: ChangingCall, isKept: boolean): MaybePromise<Plan<unknown>> {
  const { session, tool, args, call } = change;
  return isKept ? planWithApprovalToReveal(session, change) : tool.plan(args, call);
}

/** Returns the real paths of a change, and those of its places that need an approval. */
async function locateWrites({
  session,
  uses,
  call,
}: ChangingCall): Promise<Pick<PlannedChange, "keys" | "places" | "locatedAt">> {
  const locatedAt = performance.now();
  const keys = await lockKeysOf(session, uses, call);
  return { keys, places: await checkWrittenPlaces(session, keys, call), locatedAt };
}

/** A change that may be made now. */
export interface ApprovedChange extends PlannedChange {
  /** What the reviewer has seen and said; undefined where nobody was asked. */
  readonly reviewed: ReviewedPlan | undefined;
  /** True for a change that goes ahead without a question and is unreviewed until a person keeps it. */
  readonly isUnreviewed: boolean;
  /** The reasons why it was allowed; undefined where no rule, approval, answer or review allowed it. */
  readonly allowedBy: readonly AllowedBy[] | undefined;
}

/** Returns a planned change that needs no question. */
export function unasked(planned: PlannedChange): ApprovedChange {
  return { reviewed: undefined, isUnreviewed: false, allowedBy: undefined, ...planned };
}

/** Returns the person to ask about a planned change, or the change where none needs to be. @throws FilewrightError APPROVAL_DENIED */
export async function decideAbout(
  planned: PlannedChange,
): Promise<ApprovedChange | { readonly approver: Confirm }> {
  const { session, tool, args, uses, call, admitted } = planned.change;
  const { sources, ruled } = admitted;
  // No source is left to decide: there is no rule, no approver, and no option that wants an approval or a review.
  if (!session.gates.mayAsk(tool.name) && ruled.source === "none") return unasked(planned);
  const covering = approvalFactsIfNeeded(session, { tool, args, uses, call }, ruled, planned.places);
  const personal = decidePersonally(session, {
    sources,
    tool: tool.name,
    ruled,
    covering: covering && (await covering),
    asked: planned.places,
  });
  const { approver, isUnreviewed, allowedBy } = personal;
  if (approver !== undefined) return { approver };
  return { reviewed: undefined, isUnreviewed, allowedBy: allowedBy && [allowedBy], ...planned };
}

/** Returns the fact about a review that a made change tells. */
export function reviewOf({ approval, revisions, note }: ReviewedPlan): Fact {
  return { what: "reviewed", approval, isModified: revisions.length > 0, note };
}

/** Asks a reviewer, again after each change that he wants, until he approves or refuses. */
async function askReviewer(
  planned: PlannedChange,
  approver: Confirm,
): Promise<ApprovedChange | Settled<unknown>> {
  const { change } = planned;
  const { call, admitted } = change;
  await assertSeen(change, planned.plan);
  call.timer.untimed?.();
  const reviewed = await reviewUntilApproved(change, planned.plan, approver, async (isTrial) => {
    const next = await planOf(change, admitted.isKept && isTrial !== true);
    if (next.kind !== "settled") await assertSeen(change, next);
    return next;
  });
  if ("answer" in reviewed) return reviewed;
  // The real paths are determined again, because a reviewer may have looked again at a change of other places.
  const { keys, locatedAt } = await locateWrites(change);
  const allowedBy = [allowedByAnswer(reviewed.approval)];
  return { ...planned, plan: reviewed.plan, keys, locatedAt, reviewed, isUnreviewed: false, allowedBy };
}

/** Returns the change of a call that has nothing to write. */
function settledChange(answer: Answer<unknown>): Made<Answer<unknown>> {
  return { result: answer, undo: "nothing" };
}

/** Makes a change. @throws FilewrightError CONFLICT and others */
async function commit(approved: ApprovedChange): Promise<Made<Answer<unknown>>> {
  const { change, reviewed } = approved;
  const { session, tool, args, call, facts, early } = change;
  const asked = reviewed !== undefined;
  let locks = await locksOf(approved);
  // What was read before a question is read again, unless a shared lock has brought the present state. What another
  // commit has replaced is read again, too.
  if ((asked && !locks.isShared) || session.staging.stage?.isOutdated() === true)
    session.staging.stage?.refresh();
  // True once the plan was made after the locks were taken.
  let isPlannedLocked = locks === early?.locks;
  let attempt: Attempt = { plan: approved.plan, isBySteps: false };
  try {
    for (let count = 1; ; count++) {
      checkAborted(call.signal);
      const made = await applyOnce(approved, attempt, count === MAX_PLANS_PER_CALL);
      if ("result" in made) return made;
      if (locks.mustLock()) {
        // These locks bring the present state, so the next plan need not refresh it.
        locks = await lockAgain(approved, locks);
        isPlannedLocked = false;
      }
      if (!locks.isShared || isPlannedLocked) session.staging.stage?.refresh();
      isPlannedLocked = true;
      const next = await tool.plan(args, call, attempt.plan);
      if (next.kind === "settled") return settledChange(next.answer);
      attempt = { plan: next, isBySteps: made.isBySteps };
    }
  } finally {
    facts.tell({ what: "waited", reason: "lock", ms: locks.waitedMs });
    await locks.release();
  }
}

/**
 * Releases the locks and asks for them again, because the backend left out some for which it saw no reason: it locks a path
 * that met a conflict, so that no writer starves. What was held is released also where this fails.
 */
async function lockAgain({ change, keys }: ApprovedChange, held: HeldLocks): Promise<HeldLocks> {
  await held.release();
  const optimistic = true;
  const locks = await acquireLocks(change.session, keys, change.call, optimistic);
  return { ...locks, waitedMs: held.waitedMs + locks.waitedMs };
}

/** Returns the locks of a change: those that the call has already, or others. */
async function locksOf({ change, keys, reviewed }: ApprovedChange): Promise<HeldLocks> {
  const { session, call, early } = change;
  const asked = reviewed !== undefined;
  if (!asked && early?.areFor(keys) === true) return early.locks;
  // A path of the call leads through a link, or a reviewer was asked: these are other locks, or they were held too long.
  await early?.locks.release();
  const optimistic = !asked;
  return acquireLocks(session, keys, call, optimistic);
}

/** A plan, and whether it is made by steps even where it is a list that the disk can make. */
interface Attempt {
  readonly plan: ChangingPlan;
  readonly isBySteps: boolean;
}

/** Applies a plan; the way of the next one for a conflict after which another plan is made, unless this is the last one. */
async function applyOnce(
  approved: ApprovedChange,
  attempt: Attempt,
  isLast: boolean,
): Promise<Made<Answer<unknown>> | Pick<Attempt, "isBySteps">> {
  try {
    return await apply(approved, attempt);
  } catch (error) {
    if (approved.reviewed !== undefined || isLast || !mayPlanAgain(approved, error)) throw error;
    return { isBySteps: attempt.isBySteps || needsSteps(error) };
  }
}

/** Returns true for a conflict with another writer, after which the change can be planned on what is there now. */
function mayPlanAgain({ change: { session } }: ApprovedChange, error: unknown): error is FilewrightError {
  if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") return false;
  // Files that could not be restored are no state to plan on.
  if (error.details?.["rolled_back"] === false) return false;
  if (session.gates.guard === "refuse" && isGuardRefusal(error)) return false;
  return !isWrongAssumption(session, error);
}

/** Applies a plan under the locks, and adds its effects to the facts. */
async function apply(approved: ApprovedChange, attempt: Attempt): Promise<Made<Answer<unknown>>> {
  const { change, places, reviewed, allowedBy } = approved;
  const { session, tool, uses, call, facts } = change;
  const effectsNow = session.observers.hashes ? await effectsFrom(uses, call) : undefined;
  call.timer.untimed?.();
  const { result: answer, undo } = await applyRecorded(approved, attempt);
  facts.tell({ what: "changed", effects: await effectsNow?.(), allowedBy });
  if (reviewed !== undefined) facts.tell(reviewOf(reviewed));
  const isUnasked = places.length > 0 && session.gates.confirmFor(tool.name) === undefined;
  const warnings = [...(answer.warnings ?? []), ...(isUnasked ? unaskedPlaceWarnings(places) : [])];
  return { result: { ...answer, warnings }, undo };
}

/** Applies a plan so that it can be rolled back, after comparing the approved state with the current one. */
async function applyRecorded(
  approved: ApprovedChange,
  { plan, isBySteps }: Attempt,
): Promise<Made<Answer<unknown>>> {
  const { change, reviewed, isUnreviewed, allowedBy } = approved;
  const { session, tool, uses, call } = change;
  const { stage } = session.staging;
  const held = stage && holdNotes(stage, session.past.reads, call);
  const undoes = plan.kind === "act" ? plan.undoes : undefined;
  const about: About = {
    callId: call.about.callId,
    tool: tool.name,
    agent: call.about.agent,
    rollback: tool.traits.includes("writesSeveral") ? "always" : "try",
    signal: call.signal,
    records: held?.records,
    unrecorded: tool.exactCommand === undefined ? undefined : [],
    // A rewind leaves nothing new to review. An undo records itself, below.
    unreviewed: isUnreviewed && undoes === undefined,
    allowedBy,
    undoes,
  };
  if (tool.traits.includes("recordsItself")) {
    if (reviewed !== undefined) await assertStateUnchanged(reviewed, { uses, call });
    const own: Call = { ...call, about: { ...call.about, isUnreviewed, allowedBy } };
    return { result: await carryOut(plan, own), undo: "undoable" };
  }
  const run = async (fs: Files, list?: CommitList): Promise<Answer<unknown>> => {
    const own: Call = { ...call, fs, commit: list, seen: held?.seen ?? call.seen };
    if (reviewed !== undefined) await assertStateUnchanged(reviewed, { uses, call: own });
    return applyGuarded({ ...change, call: own }, plan);
  };
  const list = plan.kind === "act" || isBySteps ? undefined : listedChanges(plan.changes);
  const planned = { list, found: () => filesFound(approved, plan) };
  const made = await session.past.log.append(call.fs, about, run, planned);
  held?.committed();
  return made.undo === "too_large" ? withUndoWarning(made, session.past.log) : made;
}

/** The time in milliseconds for which a real path that was looked up counts as the present one. */
const RECENT_MS = 100;

/** Returns the files that a plan replaces, as it found them. */
async function filesFound(approved: ApprovedChange, plan: ChangingPlan): Promise<FilesFound | undefined> {
  if (plan.kind === "act") return undefined;
  const yielder = new Yielder({ signal: approved.change.call.signal });
  // A link may be on the way by now: another plan is made because something has changed, and a lock may have taken long.
  const isRecent = plan === approved.plan && performance.now() - approved.locatedAt < RECENT_MS;
  const places = isRecent ? await placesOf(approved, yielder) : undefined;
  const found = new Map<string, FoundFile>();
  for (const change of plan.changes) {
    await yielder.yieldIfDue();
    if (change.do !== "put" || change.was === null) continue;
    const { bytes, version, stat } = change.was;
    if (bytes === null || version === undefined || stat === undefined) continue;
    found.set(change.target, { bytes, version, stat, real: places?.get(change.path) });
  }
  return found;
}

/** Returns the real paths of the files that a call writes, by their paths. */
async function placesOf(
  { keys, change: { uses, call } }: ApprovedChange,
  yielder: Yielder,
): Promise<ReadonlyMap<string, string>> {
  const places = new Map<string, string>();
  await forEachYielding(keys, yielder, ({ of, path }) => {
    if (of !== undefined) places.set(of, path);
  });
  // For these uses the real path is that of a link, not of its target.
  let index = 0;
  await forEachYielding(uses, yielder, ({ entry, writesThrough }) => {
    const { path } = call.locations[index++] as Location;
    if (entry === true || writesThrough === true) places.delete(path);
  });
  return places;
}

/** The maximum number of plans for one call; a new one is needed when another writer was faster. */
export const MAX_PLANS_PER_CALL: number = 8;

/** The notes of a change about the content that it has seen. They count once the change is committed. */
interface HeldNotes {
  /** The record for the calls of the change. */
  readonly seen: SeenFiles;
  /** Returns the notes that can be a part of the commit. */
  records(): readonly RecordOp[];
  /** Makes all notes in the record itself. */
  committed(): void;
}

/** Holds back what a change on a stage notes as seen. Without a stage it counts at once. */
export function holdNotes(
  stage: Pick<CallStage, "committedVersion">,
  reads: Reads,
  { seen, about: { agent } }: Pick<Call, "seen" | "about">,
): HeldNotes {
  const held = holdSeen(seen);
  let noted: NotesInCommit | undefined;
  return {
    seen: held.seen,
    records() {
      noted = reads.inCommit(agent, held.notes());
      return noted?.ops ?? [];
    },
    committed() {
      held.release((version) => stage.committedVersion(version));
      noted?.committed();
    },
  };
}
