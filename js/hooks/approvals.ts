/** The approvals of a session: their scope, their expiry, and their revocation. */
import { keepLast } from "../schema/keep-last.ts";
import type { DecisionSource, Verdict } from "../policy/decide.ts";
import type { GlobBases } from "../policy/rule-globs.ts";
import { FilewrightError } from "../engine/errors.ts";
import { memoryRecords } from "../records/memory.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { type Approval, ApprovalList, type ApprovalPlace, loadKept } from "./approval-list.ts";
import { type Confirm, type ConfirmPayload, type ConfirmReply, denied, type Scope } from "./confirm.ts";
import { type CoveredCalls, makeRecentCalls } from "./scope/recent.ts";
import {
  type AskedCall,
  assertOffered,
  type ChangingOutcome,
  isLasting,
  type LastingOutcome,
  offeredScope,
  phraseOfDuration,
  scopeLabel,
  scopesOf,
} from "./scope/offer.ts";
import {
  type ApprovalScope,
  describeCovered,
  describeScope,
  endOfScope,
  type ScopedCall,
  type ScopeEnd,
  workOf,
} from "./scope/scope.ts";
import { makeTurns } from "./scope/turns.ts";

export type { Approval, ApprovalPlace } from "./approval-list.ts";
export type { AskedCall, ChangingOutcome } from "./scope/offer.ts";

/** A call about which a reviewer would be asked. */
export interface ApprovableCall extends ScopedCall {
  /** The turn of the call. */
  readonly turn: string;
  /** True when it writes to a place that needs an approval whatever the rules say. */
  readonly writesAskedPlace?: boolean | undefined;
}

/** The question whose answer is stored. */
export interface AskedQuestion extends AskedCall {
  /** The turn of the call. */
  readonly turn: string;
}

/** The lasting approvals of an agent, as they were when they were read last. */
export interface Approvals {
  /** The time at which an approval ends that names none, for the question to a reviewer. */
  readonly until: string;
  /** Returns the turn of a call that begins now; `named` is the turn that the host gave it. */
  turn(agent: string | undefined, named: string | undefined): string;
  /** Returns the turn that a call would belong to, without being activity of it; undefined for a new one. */
  currentTurn(agent: string | undefined, named: string | undefined): string | undefined;
  /**
   * Reads what other processes have approved or revoked. Called before a decision that an approval may change;
   * undefined when no other process can.
   */
  readonly refresh: (() => Promise<void>) | undefined;
  /**
   * Returns the lasting approval that covers a call; undefined if none does. Each effect of the call must be covered
   * too, by this approval or by another.
   */
  covering(call: ApprovableCall): Approval | undefined;
  /** Remembers a call that was asked about or covered, for {@link Approvals.wouldHaveCovered}. */
  note(call: ScopedCall): void;
  /**
   * Returns how many of the last calls that needed an approval a scope would have covered, whatever its time.
   * @throws FilewrightError for an invalid scope
   */
  wouldHaveCovered(scope: ApprovalScope): CoveredCalls;
  /** Returns every outcome that a reviewer may choose, with its scope. `editable` adds a changed content. */
  offer(asked: AskedCall, changing: readonly ChangingOutcome[]): readonly Scope[];
  /**
   * Stores the approval of an answer that covers later calls too; returns undefined for any other answer.
   * @throws FilewrightError APPROVAL_DENIED for a scope that is wider than what was offered, or cannot be stored
   */
  remember(reply: ConfirmReply, asked: AskedQuestion): Promise<Approval | undefined>;
  /** Returns the approvals that have not ended. */
  list(): Promise<readonly Approval[]>;
  /** Revokes an approval for later calls. Returns false if there is none with this id. */
  revoke(id: string): Promise<boolean>;
  /** Puts an approval back that was revoked here, as it was. Returns false if there is none, or its time has passed. */
  restore(id: string): Promise<boolean>;
}

/** The places of the approvals of one agent. */
export interface ApprovalPlaces {
  /** The records that outlive the process, for all that last. Default: memory, until the workspace is closed. */
  readonly shared?: ApprovalPlace | undefined;
  /** The records of those whose scope says `kept`, without `shared`. Default: none, so that nothing is kept. */
  readonly kept?: ApprovalPlace | undefined;
  /** The agent whose approvals they are. Default: the workspace itself, `""`. */
  readonly agent?: string | undefined;
  /** The working directory and the roots to which the paths of scopes are relative. Default: `/`. */
  readonly bases?: GlobBases | undefined;
}

/**
 * The lifetime of an approval for which the reviewer sets no expiry, in milliseconds. An approval in memory ends with
 * its workspace. A shared record outlives the process, so it needs an end of its own.
 */
const SHARED_LASTS_MS = 24 * 60 * 60 * 1000;

/** The number of revoked approvals that can be put back. */
const MAX_REVOKED = 100;

/** The narrowest and the widest end of a scope without a place that keeps. */
const ENDS_IN_MEMORY: readonly ScopeEnd[] = ["turn", "time", "session"];

/**
 * Creates the approvals of an agent: an empty list in memory, or those of records. `now` returns milliseconds since
 * 1970.
 */
export function makeApprovals(now: () => number = () => Date.now(), places: ApprovalPlaces = {}): Approvals {
  const { shared, kept, agent = "", bases } = places;
  const listOf = (place: ApprovalPlace): ApprovalList => new ApprovalList(place, agent, now, bases);
  const own = listOf(shared ?? { records: memoryRecords(now), kindOf: () => "approvals" });
  const apart = shared !== undefined || kept === undefined ? undefined : listOf(kept);
  const keeper = shared === undefined ? apart : own;
  const lists = apart === undefined ? [own] : [own, apart];
  const until =
    shared === undefined
      ? "until this workspace is closed"
      : `for ${phraseOfDuration(SHARED_LASTS_MS)}, at every replica`;
  const ends: readonly ScopeEnd[] = keeper === undefined ? ENDS_IN_MEMORY : [...ENDS_IN_MEMORY, "kept"];
  const made = { now, until, ends, bases, lastsMs: shared === undefined ? Infinity : SHARED_LASTS_MS };
  const turns = makeTurns(now);
  const recent = makeRecentCalls();
  const revoked = new Map<string, Approval>();
  const load = async (mustRead = false): Promise<void> => {
    await own.load();
    // What cannot be read allows nothing, so the reviewer is asked.
    if (apart !== undefined) await loadKept(apart, mustRead);
  };
  const placeOf = ({ scope }: Approval): ApprovalList => (scope.until === "kept" ? (keeper ?? own) : own);

  return Object.freeze({
    until,
    turn: turns.of,
    currentTurn: turns.current,
    refresh: keeper === undefined ? undefined : () => load(),
    covering: (call: ApprovableCall) => coveringOf(lists, call),
    note: recent.note,
    wouldHaveCovered: (scope: ApprovalScope) => recent.countCovered(scope, bases),
    offer: (asked: AskedCall, changing: readonly ChangingOutcome[]) =>
      scopesOf(asked, changing, until, (outcome) => offeredScope(outcome, asked, ends)),
    async remember({ outcome, payload = {} }: ConfirmReply, asked: AskedQuestion) {
      if (!isLasting(outcome)) return undefined;
      const approval = approvalOfAnswer(outcome, payload, asked, made);
      await store(placeOf(approval), approval);
      await load();
      return approval;
    },
    async list() {
      await load(true);
      return lists.flatMap((list) => list.inForce());
    },
    async revoke(id: string) {
      await load();
      const one = lists.map((list) => list.find(id)).find((found) => found !== undefined);
      const removed = (await own.remove(id)) || (apart !== undefined && (await apart.remove(id)));
      await load();
      if (removed && one !== undefined) keepLast(revoked, id, one, MAX_REVOKED);
      return removed;
    },
    async restore(id: string) {
      const one = revoked.get(id);
      if (one === undefined || (one.expires !== undefined && Date.parse(one.expires) <= now())) return false;
      revoked.delete(id);
      await placeOf(one).add(one);
      await load();
      return true;
    },
  });
}

/** Returns the approval that covers a call, if each work of it is covered by one of the lists. */
function coveringOf(lists: readonly ApprovalList[], call: ApprovableCall): Approval | undefined {
  const isUsable = ({ scope, turn }: Approval): boolean => {
    if (scope?.until === "turn" && turn !== call.turn) return false;
    // As a rule, what is kept cannot override a place that always needs an approval.
    return scope?.until !== "kept" || call.writesAskedPlace !== true;
  };
  const found = workOf(call).map((work) =>
    lists.map((list) => list.covering(work, isUsable)).find((approval) => approval !== undefined),
  );
  return found.includes(undefined) ? undefined : found[0];
}

/** How the approvals of a workspace end, and what their scopes are relative to. */
interface ApprovalTerms {
  readonly now: () => number;
  readonly until: string;
  readonly ends: readonly ScopeEnd[];
  readonly bases: GlobBases | undefined;
  readonly lastsMs: number;
}

/** Returns the approval of an answer. @throws FilewrightError APPROVAL_DENIED for a scope wider than what was offered */
function approvalOfAnswer(
  outcome: LastingOutcome,
  { scope: wanted, expires, by }: ConfirmPayload,
  asked: AskedQuestion,
  { now, until, ends, bases, lastsMs }: ApprovalTerms,
): Approval {
  const offered = offeredScope(outcome, asked, ends);
  if (wanted !== undefined) assertOffered(wanted, offered, asked.tool, bases);
  const scope = wanted ?? offered.scope;
  const end = endOfScope(scope);
  const lasts = end === "kept" ? Infinity : now() + lastsMs;
  const stop = end === "time" ? Date.parse(scope.until) : Infinity;
  const over = Math.min(expires?.getTime() ?? Infinity, lasts, stop);
  return Object.freeze(
    withoutUndefined({
      id: `approval-${crypto.randomUUID()}`,
      outcome,
      scope,
      turn: end === "turn" ? asked.turn : undefined,
      label: wanted === undefined ? scopeLabel(outcome, asked, until) : describeScope(wanted, until),
      granted_at: new Date(now()).toISOString(),
      expires: over === Infinity ? undefined : new Date(over).toISOString(),
      by,
    }),
  );
}

/** Stores an approval. @throws FilewrightError APPROVAL_DENIED for one that cannot be kept */
async function store(list: ApprovalList, approval: Approval): Promise<void> {
  try {
    await list.add(approval);
  } catch (error) {
    if (approval.scope.until !== "kept" || !(error instanceof FilewrightError)) throw error;
    throw denied(`The approval cannot be kept: ${error.message}`, error);
  }
}

/**
 * Creates the source for lasting approvals. It allows a call that would be asked about if an approval covers it.
 * Without a `caller` in the facts of the call, no approval covers it.
 */
export function approvalsSource(approvals: Approvals, isInForce = true): DecisionSource {
  const name = "approvals";
  return {
    name,
    isInForce,
    decide({ tool, places, effects, caller, writesAskedPlace }, before) {
      if (before?.decision !== "ask" || caller === undefined) return undefined;
      const approval = approvals.covering({ tool, places, effects, writesAskedPlace, ...caller });
      if (approval === undefined) return undefined;
      const { id, scope, label, by } = approval;
      // Approvals of older versions have no scope.
      const covers = scope === undefined ? label : describeCovered(scope);
      return { decision: "allow", source: name, approval: { id, covers, by } };
    },
  };
}

/** Creates the source that denies a call which needs an approval when nobody can be asked. */
export function approverSource(confirm: Confirm | undefined, isInForce = true): DecisionSource {
  const name = "approver";
  return {
    name,
    isInForce,
    decide({ tool }, before) {
      if (before?.decision !== "ask" || confirm !== undefined) return undefined;
      const reason = `${tool} needs an approval here, and there is nobody to ask.`;
      return { decision: "deny", source: name, reason };
    },
  };
}

/**
 * Returns true when a call needs an approval.
 * @throws FilewrightError for a denial: that of its source, or APPROVAL_DENIED
 */
export function mustAsk(verdict: Verdict): boolean {
  if (verdict.decision === "deny") throw verdict.error ?? denied(verdict.reason);
  return verdict.decision === "ask";
}
