/**
 * A changing call, from its plan to its answer: plan, ask, lock, compare, apply.
 *
 * No lock is held while the tool plans or a reviewer decides. Under the lock the plan is applied
 * only if the state that it was computed from is unchanged. Otherwise the tool plans again. If a
 * reviewer approved the old plan, the call fails with CONFLICT instead, because only approved
 * content is written. See `review.ts`.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { AllowedBy } from "../backends/transaction/step.ts";
import type { CallEffect } from "../hooks/observer.ts";
import type { About, Undoability, Made } from "../journal/index.ts";
import type { RecordOp } from "../storage/storage.ts";
import { holdSeen, type SeenFiles } from "../tools/lib/seen.ts";
import type { Answer, Call, ChangingTool, PathUse, Plan } from "../tools/lib/tool.ts";
import { applyGuarded, assertSeen, type GuardSettings, guardSettingsOf, isGuardRefusal } from "./guard.ts";
import { effectsByHashes, hashesByPath } from "./observe.ts";
import { acquireLocks, type EarlyLocks, lockKeysOf, RELEASED } from "./path-locks.ts";
import type { MetaApproval } from "./result.ts";
import {
  allowedByAnswer,
  approvalFactsIfNeeded,
  decidePersonally,
  planWithApprovalToReveal,
  type RuleResult,
} from "./permit.ts";
import {
  assertStateUnchanged,
  type ApprovalEvidence,
  type ReviewableChange,
  type ReviewedPlan,
  reviewUntilApproved,
} from "./review.ts";
import type { NotesInCommit } from "./past/reads.ts";
import type { Session } from "./session.ts";
import { isWrongAssumption } from "./staged.ts";
import { withUndoWarning } from "./undo-note.ts";
import { isDryRun, checkWrittenPlaces, unaskedPlaceWarnings } from "./written-places.ts";

/** The maximum number of plans for one call; a new one is needed when another writer was faster. */
export const MAX_PLANS_PER_CALL: number = 8;

/** An applied change, with the reviewer's part in it. */
export interface AppliedChange<Data> {
  readonly answer: Answer<Data>;
  /** Its record in the history. */
  readonly undo: Undoability;
  readonly modifiedByUser: boolean;
  /** A sentence for the model about what the reviewer left out. */
  readonly reviewNote?: string | undefined;
  readonly approval?: MetaApproval | undefined;
  readonly allowedBy?: readonly AllowedBy[] | undefined;
  /** The contents before and after, when an observer requests them. */
  readonly effects?: readonly CallEffect[] | undefined;
  /** The time for which the change waited for locks, in milliseconds. */
  readonly lockWaitMs?: number | undefined;
}

/** Returns the change of a call that has nothing to change. */
function settledChange<Data>(answer: Answer<Data>, modifiedByUser = false): AppliedChange<Data> {
  return { answer, undo: "nothing", modifiedByUser };
}

/**
 * Runs one changing call from its plan to its answer. `ruled` and `isKept` are the results of the rules, `early` the
 * locks that the call has taken already.
 */
export async function runChange<Args extends object, Data, Todo>(
  session: Session,
  tool: ChangingTool<Args, Data, Todo>,
  args: Args,
  uses: readonly PathUse[],
  call: Call,
  { sources, ruled, isKept }: RuleResult,
  early?: EarlyLocks,
): Promise<AppliedChange<Data>> {
  // The real paths are determined while the tool plans, because most plans begin with a read.
  const keys = lockKeysOf(uses, call);
  keys.catch(() => {}); // The later await reports the error; the error of a failed plan is more specific.
  const askedPlaces = keys.then((all) => checkWrittenPlaces(session, all, call));
  askedPlaces.catch(() => {});
  let plan = await planWithApprovalToReveal(session, { tool, args, uses, call, isKept });
  if (plan.settled !== undefined) return settledChange(plan.settled);

  const confirm = session.confirmFor(tool.name);
  const places = await askedPlaces;
  const guarding = guardSettingsOf(session, sources);
  const covering = approvalFactsIfNeeded(session, { tool, args, uses, call }, ruled, places);
  const personal = decidePersonally(session, sources, tool.name, ruled, covering && (await covering), places);
  const { approver, isUnreviewed } = personal;
  const asked = approver !== undefined;
  let reviewed: ReviewedPlan<Plan<Data, Todo>> | undefined;
  if (approver !== undefined) {
    await assertSeen(guarding, { tool, args, uses, call }, plan);
    call.untimed?.();
    const reviewable = { tool, args, uses, call };
    reviewed = await reviewUntilApproved(session, reviewable, plan, approver, async (isTrial) => {
      const next = await planWithApprovalToReveal(session, {
        ...reviewable,
        isKept: isKept && isTrial !== true,
      });
      await assertSeen(guarding, reviewable, next);
      return next;
    });
    plan = reviewed.plan;
    if (plan.settled !== undefined) return settledChange(plan.settled);
  }
  const { approval, note: reviewNote, revisions = [] } = reviewed ?? {};
  const modifiedByUser = revisions.length > 0;
  const allowing = approval === undefined ? personal.allowedBy : allowedByAnswer(approval);
  const allowedBy = allowing && [allowing];
  const reasons = { isUnreviewed, allowedBy };

  // Links may have changed while the reviewer decided, so the real paths are determined again.
  const held = asked ? await lockKeysOf(uses, call) : await keys;
  if (asked) await checkWrittenPlaces(session, held, call);
  const isLocked = !asked && early?.areFor(held) === true;
  // The call was read through a link, or a reviewer was asked: these are other locks, or they were held too long.
  if (!isLocked) await early?.unlock();
  let unlock = isLocked ? early.unlock : await acquireLocks(session, held, call, !asked);
  let lockWaitMs = unlock.waitedMs ?? 0;
  // What was read before the question, or while another call had the lock, may be outdated.
  if ((asked && unlock.taken !== true) || session.stage?.isOutdated() === true) session.stage?.refresh();
  // True once the call was planned on what came with its locks.
  let isPlannedLocked = isLocked;
  try {
    for (let attempt = 1; ; attempt++) {
      throwIfCancelled(call.signal);
      try {
        const hashes = session.hashes ? await hashesByPath(uses, call) : undefined;
        call.untimed?.();
        const made = { tool, args, uses, call };
        const { result: answer, undo } = await applyPlan(session, guarding, made, plan, reviewed, reasons);
        const effects = hashes && effectsByHashes(hashes, await hashesByPath(uses, call));
        const warnings = confirm === undefined && !isDryRun(args) ? unaskedPlaceWarnings(places) : [];
        return {
          answer: { ...answer, warnings: [...(answer.warnings ?? []), ...warnings] },
          undo,
          modifiedByUser,
          reviewNote,
          approval,
          allowedBy,
          effects,
          lockWaitMs,
        };
      } catch (error) {
        if (
          asked ||
          attempt === MAX_PLANS_PER_CALL ||
          (session.guard === "refuse" && isGuardRefusal(error)) ||
          isWrongAssumption(session, error) ||
          !(error instanceof FilewrightError) ||
          error.code !== "CONFLICT"
        )
          throw error;
      }
      if (unlock.skipped) {
        // The backend saw no reason to lock; after this conflict it does, so that no writer starves.
        await unlock();
        unlock = RELEASED;
        unlock = await acquireLocks(session, held, call, true);
        lockWaitMs += unlock.waitedMs ?? 0;
        isPlannedLocked = false;
      }
      if (unlock.taken !== true || isPlannedLocked) session.stage?.refresh();
      isPlannedLocked = true;
      plan = await tool.plan(args, call);
      if (plan.settled !== undefined) return settledChange(plan.settled, modifiedByUser);
    }
  } finally {
    await unlock();
  }
}

/** Applies a plan so that it can be rolled back, after comparing the approved state with the current one. */
function applyPlan<Args extends object, Data, Todo>(
  session: Session,
  guarding: GuardSettings,
  { tool, args, uses, call }: ReviewableChange<Args, Data, Todo>,
  plan: Plan<Data, Todo>,
  shown: ApprovalEvidence | undefined,
  { isUnreviewed, allowedBy }: Pick<Call, "isUnreviewed" | "allowedBy">,
): Promise<Made<Answer<Data>>> {
  const held = holdNotes(session, call);
  const undoes = tool.undoes?.(plan);
  const about: About = {
    callId: call.callId,
    tool: tool.name,
    agent: call.agent,
    rollback: tool.several === true ? "always" : "try",
    signal: call.signal,
    records: held?.records,
    unrecorded: tool.exactCommand === undefined ? undefined : [],
    // An undo or a rewind leaves nothing new to review.
    unreviewed: isUnreviewed === true && undoes === undefined,
    allowedBy,
    undoes,
  };
  if (tool.recordsItself === true) {
    const compared = shown === undefined ? Promise.resolve() : assertStateUnchanged(shown, { uses, call });
    const own: Call = { ...call, ...(isUnreviewed === true ? { isUnreviewed } : {}), allowedBy };
    return compared.then(async () => ({
      result: await tool.apply(plan, args, own),
      undo: "undoable",
    }));
  }
  const applied = session.journal.change(call.fs, about, async (fs) => {
    const own: Call = { ...call, fs, seen: held?.seen ?? call.seen };
    if (shown !== undefined) await assertStateUnchanged(shown, { uses, call: own });
    return applyGuarded(guarding, { tool, args, uses, call: own }, plan);
  });
  return applied.then((made) => {
    held?.committed();
    return withUndoWarning(made, session.journal);
  });
}

/** The notes of a change about the content that it has seen. They count once the change is committed. */
interface HeldNotes {
  /** The record for the calls of the change. */
  readonly seen: SeenFiles;
  /** Returns the notes that can be a part of the commit. */
  records(): readonly RecordOp[];
  /** Makes all notes in the record itself. */
  committed(): void;
}

/** Holds back what a change notes as seen; undefined for a session without a stage, where it counts at once. */
export function holdNotes(
  { stage, reads }: Pick<Session, "stage" | "reads">,
  { seen, agent }: Pick<Call, "seen" | "agent">,
): HeldNotes | undefined {
  if (stage === undefined) return undefined;
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

/** Throws when the call was cancelled. @throws FilewrightError CANCELLED */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new FilewrightError("CANCELLED", "cancelled");
}
