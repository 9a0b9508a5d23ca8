/** The second step of a change, of three: where an approval is needed, a reviewer sees the exact bytes and decides. */
import type { AllowedBy } from "../backends/transaction/step.ts";
import type { Fact } from "../pipeline/facts.ts";
import { assertSeen } from "../pipeline/guard.ts";
import {
  allowedByAnswer,
  approvalFactsIfNeeded,
  decidePersonally,
  planWithApprovalToReveal,
} from "../pipeline/permit.ts";
import { type ReviewedPlan, reviewUntilApproved } from "../pipeline/review.ts";
import type { Confirm } from "../hooks/confirm.ts";
import { locateWrites, type PlannedChange, type SettledChange } from "./plan.ts";

/** A change that may be made now. */
export interface ApprovedChange extends PlannedChange {
  /** What the reviewer has seen and said; undefined where nobody was asked. */
  readonly reviewed: ReviewedPlan | undefined;
  /** True for a change that goes ahead without a question and is unreviewed until a person keeps it. */
  readonly isUnreviewed: boolean;
  /** The reasons why it was allowed; undefined where no rule, approval, answer or review allowed it. */
  readonly allowedBy: readonly AllowedBy[] | undefined;
}

/** A change that needs no question. */
export const NOBODY_ASKED = { reviewed: undefined, isUnreviewed: false, allowedBy: undefined } as const;

/** Asks for the approval of a planned change, where it needs one. @throws FilewrightError APPROVAL_DENIED */
export async function ask(planned: PlannedChange): Promise<ApprovedChange | SettledChange> {
  const decided = await decideAbout(planned);
  return "approver" in decided ? askReviewer(planned, decided.approver) : decided;
}

/** Returns the person to ask about a planned change, or the change where none needs to be. @throws FilewrightError APPROVAL_DENIED */
export async function decideAbout(
  planned: PlannedChange,
): Promise<ApprovedChange | { readonly approver: Confirm }> {
  const { session, tool, args, uses, call, admitted } = planned.change;
  const { sources, ruled } = admitted;
  // No source is left to decide: there is no rule, no approver, and no option that wants an approval or a review.
  if (!session.gates.mayAsk(tool.name) && ruled.source === "none") return { ...planned, ...NOBODY_ASKED };
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
  return { ...planned, reviewed: undefined, isUnreviewed, allowedBy: allowedBy && [allowedBy] };
}

/** Returns the fact about a review that a made change tells. */
export function reviewOf({ approval, revisions, note }: ReviewedPlan): Fact {
  return { what: "reviewed", approval, isModified: revisions.length > 0, note };
}

/** Asks a reviewer, again after each change that he wants, until he approves or refuses. */
async function askReviewer(
  planned: PlannedChange,
  approver: Confirm,
): Promise<ApprovedChange | SettledChange> {
  const { guarding, change } = planned;
  const { session, tool, args, uses, call, admitted } = change;
  const reviewable = { tool, args, uses, call };
  await assertSeen(guarding, reviewable, planned.plan);
  call.timer.untimed?.();
  const reviewed = await reviewUntilApproved(session, reviewable, planned.plan, approver, async (isTrial) => {
    const isKept = admitted.isKept && isTrial !== true;
    const next = await planWithApprovalToReveal(session, { ...reviewable, isKept });
    if (next.kind !== "settled") await assertSeen(guarding, reviewable, next);
    return next;
  });
  if ("kind" in reviewed) return { settled: reviewed.answer, isReviewed: true };
  // Links may have changed while the reviewer decided, so the real paths are determined again.
  const { keys } = await locateWrites(change);
  const allowedBy = [allowedByAnswer(reviewed.approval)];
  return { ...planned, plan: reviewed.plan, keys, reviewed, isUnreviewed: false, allowedBy };
}
