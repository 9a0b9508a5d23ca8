/** The first step of a change, of three: its tool says what it would do, and nothing is written. */
import type { AdmittedCall } from "../pipeline/enter.ts";
import type { Facts } from "../pipeline/facts.ts";
import { type GuardSettings, guardSettingsOf } from "../pipeline/guard.ts";
import { type EarlyLocks, lockKeysOf } from "../pipeline/path-locks.ts";
import { planWithApprovalToReveal } from "../pipeline/permit.ts";
import type { Session } from "../pipeline/session.ts";
import { checkWrittenPlaces, type PlaceToApprove, type WrittenPath } from "../pipeline/written-places.ts";
import type { ChangingPlan } from "../tools/change/make.ts";
import type { AnyChangingTool, Answer, Call, PathUse } from "../tools/lib/tool.ts";

/** A change that a call may make, if need be after an approval. */
export interface Change {
  readonly session: Session;
  readonly tool: AnyChangingTool;
  readonly args: object;
  readonly uses: readonly PathUse[];
  readonly call: Call;
  /** The facts of the call, to which the change is added. */
  readonly facts: Facts;
  readonly admitted: Pick<AdmittedCall, "sources" | "ruled" | "isKept">;
  /** The locks that the call has taken already; undefined for none. */
  readonly early: EarlyLocks | undefined;
}

/** A change that has nothing to write, such as a dry run. */
export interface SettledChange {
  readonly settled: Answer<unknown>;
  /** True when a reviewer has seen it before. */
  readonly isReviewed: boolean;
}

/** A planned change. */
export interface PlannedChange {
  readonly change: Change;
  readonly plan: ChangingPlan;
  readonly guarding: GuardSettings;
  /** The real paths to lock, in their order: those of the change, and directories that may be repositories. */
  readonly keys: readonly WrittenPath[];
  /** The places that it writes and that need an approval. */
  readonly places: readonly PlaceToApprove[];
}

/** Plans a change. @throws FilewrightError as its tool does */
export async function plan(change: Change): Promise<PlannedChange | SettledChange> {
  const { session, tool, args, uses, call, admitted } = change;
  // The real paths are determined while the tool plans, because most plans begin with a read.
  const located = locateWrites(change);
  located.catch(() => {}); // The await below reports the error; the error of a failed plan is more specific.
  const { isKept, sources } = admitted;
  const planned = await planWithApprovalToReveal(session, { tool, args, uses, call, isKept });
  if (planned.kind === "settled") return { settled: planned.answer, isReviewed: false };
  return { change, plan: planned, guarding: guardSettingsOf(session, sources), ...(await located) };
}

/** Returns the real paths of a change, and those of its places that need an approval. */
export async function locateWrites({
  session,
  uses,
  call,
}: Change): Promise<Pick<PlannedChange, "keys" | "places">> {
  const keys = await lockKeysOf(uses, call);
  return { keys, places: await checkWrittenPlaces(session, keys, call) };
}
