/**
 * The third step of a change, of three: lock, compare, apply.
 *
 * Under the lock the tool applies its plan only to the versions that it was computed from (`js/tools/lib/contents.ts`).
 * Where another writer was faster, the tool plans again, and that plan may fail with CONFLICT itself. What a reviewer
 * approved is never planned again: `assertStateUnchanged` in `js/pipeline/review.ts` compares what he has seen, and the
 * call fails with CONFLICT.
 */
import { checkAborted, FilewrightError } from "../engine/errors.ts";
import type { About, Made } from "../journal/index.ts";
import { holdNotes, MAX_PLANS_PER_CALL } from "../pipeline/change.ts";
import { applyGuarded, isGuardRefusal } from "../pipeline/guard.ts";
import { effectsFrom } from "../pipeline/observe.ts";
import { acquireLocks, type HeldLocks } from "../pipeline/path-locks.ts";
import { assertStateUnchanged } from "../pipeline/review.ts";
import { isWrongAssumption } from "../pipeline/staged.ts";
import { withUndoWarning } from "../pipeline/undo-note.ts";
import { isDryRun, unaskedPlaceWarnings } from "../pipeline/written-places.ts";
import { makePlan } from "../tools/change/make.ts";
import type { Answer, Call } from "../tools/lib/tool.ts";
import { type ApprovedChange, reviewOf } from "./ask.ts";

/** Returns the change of a call that has nothing to write. */
export function settledChange(answer: Answer<unknown>): Made<Answer<unknown>> {
  return { result: answer, undo: "nothing" };
}

/** Makes a change. @throws FilewrightError CONFLICT and others */
export async function commit(approved: ApprovedChange): Promise<Made<Answer<unknown>>> {
  const { change, reviewed } = approved;
  const { session, tool, args, call, facts, early } = change;
  const asked = reviewed !== undefined;
  let locks = await locksOf(approved);
  // Reads from before the question are outdated, unless a shared lock has read again; so are those that another
  // commit replaced.
  if ((asked && !locks.isShared) || session.staging.stage?.isOutdated() === true)
    session.staging.stage?.refresh();
  // True once the call was planned on what came with its locks.
  let isPlannedLocked = locks === early?.locks;
  let { plan } = approved;
  try {
    for (let attempt = 1; ; attempt++) {
      checkAborted(call.signal);
      const made = await applyOnce(approved, plan, attempt === MAX_PLANS_PER_CALL);
      if (made !== undefined) {
        facts.tell({ what: "waited", reason: "lock", ms: locks.waitedMs });
        return made;
      }
      if (locks.isSkipped) {
        locks = await lockAll(approved, locks);
        isPlannedLocked = false;
      }
      if (!locks.isShared || isPlannedLocked) session.staging.stage?.refresh();
      isPlannedLocked = true;
      const next = await tool.plan(args, call, plan);
      if (next.kind === "settled") return settledChange(next.answer);
      plan = next;
    }
  } finally {
    await locks.release();
  }
}

/**
 * Locks what the backend left out because it saw no reason to lock: after a conflict it does, so that no writer starves.
 * What was held before is released first, also where this fails.
 */
async function lockAll({ change, keys }: ApprovedChange, held: HeldLocks): Promise<HeldLocks> {
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
  // The call was read through a link, or a reviewer was asked: these are other locks, or they were held too long.
  await early?.locks.release();
  const optimistic = !asked;
  return acquireLocks(session, keys, call, optimistic);
}

/** Applies a plan; undefined for a conflict after which another plan is made, unless this is the last one. */
async function applyOnce(
  approved: ApprovedChange,
  plan: ApprovedChange["plan"],
  isLast: boolean,
): Promise<Made<Answer<unknown>> | undefined> {
  try {
    return await apply(approved, plan);
  } catch (error) {
    if (approved.reviewed !== undefined || isLast || !mayPlanAgain(approved, error)) throw error;
    return undefined;
  }
}

/** Returns true for a conflict with another writer, after which the change can be planned on what is there now. */
function mayPlanAgain({ change: { session } }: ApprovedChange, error: unknown): boolean {
  if (!(error instanceof FilewrightError) || error.code !== "CONFLICT") return false;
  if (session.gates.guard === "refuse" && isGuardRefusal(error)) return false;
  return !isWrongAssumption(session, error);
}

/** Applies a plan under the locks, and adds its effects to the facts. */
async function apply(approved: ApprovedChange, plan: ApprovedChange["plan"]): Promise<Made<Answer<unknown>>> {
  const { change, places, reviewed, allowedBy } = approved;
  const { session, tool, args, uses, call, facts } = change;
  const effectsNow = session.observers.hashes ? await effectsFrom(uses, call) : undefined;
  call.timer.untimed?.();
  const { result: answer, undo } = await applyRecorded(approved, plan);
  facts.tell({ what: "changed", effects: await effectsNow?.(), allowedBy });
  if (reviewed !== undefined) facts.tell(reviewOf(reviewed));
  const isUnasked = places.length > 0 && session.gates.confirmFor(tool.name) === undefined && !isDryRun(args);
  const warnings = [...(answer.warnings ?? []), ...(isUnasked ? unaskedPlaceWarnings(places) : [])];
  return { result: { ...answer, warnings }, undo };
}

/** Applies a plan so that it can be rolled back, after comparing the approved state with the current one. */
async function applyRecorded(
  approved: ApprovedChange,
  plan: ApprovedChange["plan"],
): Promise<Made<Answer<unknown>>> {
  const { change, guarding, reviewed, isUnreviewed, allowedBy } = approved;
  const { session, tool, args, uses, call } = change;
  const held = holdNotes(session, call);
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
    return { result: await makePlan(plan, own), undo: "undoable" };
  }
  const made = await session.past.journal.change(call.fs, about, async (fs) => {
    const own: Call = { ...call, fs, seen: held?.seen ?? call.seen };
    if (reviewed !== undefined) await assertStateUnchanged(reviewed, { uses, call: own });
    return applyGuarded(guarding, { tool, args, uses, call: own }, plan);
  });
  held?.committed();
  return withUndoWarning(made, session.past.journal);
}
