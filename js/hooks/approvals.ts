/** The approvals of a session: their scope, their expiry, and their revocation. */
import type { DecisionSource, Verdict } from "../policy/decide.ts";
import type { GlobBases } from "../policy/rule-globs.ts";
import type { MaybePromise } from "../backends/backend.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import { callback, flag, instance, integer, type Options, required } from "../schema/option.ts";
import { type Confirm, type ConfirmReply, denied, type Outcome, type Scope } from "./confirm.ts";
import { type CoveredCalls, makeRecentCalls } from "./scope/recent.ts";
import {
  type ApprovalScope,
  compileScope,
  compileStoredScope,
  describeCovered,
  describeScope,
  endOfScope,
  EVERY_TOOL_WORDS,
  globBelow,
  type OfferedScope,
  type ScopedCall,
  type ScopeEnd,
  type ScopedWork,
  type ScopeMatcher,
  wideningOf,
  workOf,
} from "./scope/scope.ts";
import { commandInWords, type ExactCommand, runsCommands } from "./scope/command.ts";
import { effectsInWords } from "./scope/effects.ts";
import { makeTurns } from "./scope/turns.ts";

/** The outcomes that cover later calls, too. */
type LastingOutcome = "proceed_always" | "proceed_always_tool" | "proceed_always_server";

/** An approval that lasts beyond its call. */
export interface Approval {
  /** The id that `revoke` takes. */
  readonly id: string;
  /** The outcome that it allows. */
  readonly outcome: LastingOutcome;
  /** Which calls it covers. */
  readonly scope: ApprovalScope;
  /** The turn with which it ends, when its scope says `turn`. */
  readonly turn?: string;
  /** A description of the scope. */
  readonly label: string;
  /** When it was given, in ISO 8601. */
  readonly granted_at: string;
  /** When it ends, in ISO 8601; absent when no time ends it. */
  readonly expires?: string;
  /** The person who gave it. */
  readonly by?: string;
}

/**
 * A store of lasting approvals, which several processes may share. Each agent of a workspace has its own list; that
 * of the workspace itself is the one of the agent `""`.
 */
export interface ApprovalStore {
  /**
   * The time after which an approval ends unless its reviewer has named an earlier one, in milliseconds. Reviewers
   * are told it. Default: when the workspace is closed.
   */
  readonly lastsMs?: number | undefined;
  /** True when an approval whose scope says `kept` outlives the process. Default: such a scope is refused. */
  readonly keeps?: boolean | undefined;
  /** Returns the approvals of an agent, the oldest first; those that have ended may be among them. */
  list(agent: string): MaybePromise<readonly Approval[]>;
  /** Stores an approval, and keeps those that other processes have stored meanwhile. */
  add(agent: string, approval: Approval): MaybePromise<void>;
  /** Removes an approval. Returns false if there is none with this id. */
  remove(agent: string, id: string): MaybePromise<boolean>;
}

/** The description of a store of approvals: any object with these methods. */
export const APPROVAL_STORE: Options<ApprovalStore> = instance<ApprovalStore>(
  "ApprovalStore",
  "a store of approvals",
  {
    lastsMs: integer(1),
    keeps: flag(),
    list: required(callback()),
    add: required(callback()),
    remove: required(callback()),
  },
);

/** Creates a store of approvals in memory, for workspaces of one process. */
export function memoryApprovals(): ApprovalStore {
  const kept = new Map<string, readonly Approval[]>();
  const list = (agent: string): readonly Approval[] => kept.get(agent) ?? [];
  return Object.freeze({
    list,
    add: (agent: string, approval: Approval) => void kept.set(agent, [...list(agent), approval]),
    remove(agent: string, id: string): boolean {
      const [before, after] = [list(agent), list(agent).filter((one) => one.id !== id)];
      kept.set(agent, after);
      return after.length < before.length;
    },
  });
}

/** A call about which a reviewer would be asked. */
export interface ApprovableCall extends ScopedCall {
  /** The turn of the call. */
  readonly turn: string;
  /** True when it writes to a place that needs an approval whatever the rules say. */
  readonly writesAskedPlace?: boolean | undefined;
}

/** The call that a question is about, as far as it limits what an answer can cover. */
export interface AskedCall {
  readonly tool: string;
  /** The roots that contain the paths of the call. */
  readonly roots: readonly string[];
  /** The command that the call runs; absent for a tool that runs none. */
  readonly command?: ExactCommand | undefined;
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
export interface StoredApprovals {
  /** The store of all that last. Default: memory. */
  readonly store?: ApprovalStore | undefined;
  /** The store of those whose scope says `kept`, where `store` keeps none. Default: none, so that nothing is kept. */
  readonly kept?: ApprovalStore | undefined;
  /** The agent whose approvals they are. Default: the workspace itself, `""`. */
  readonly agent?: string | undefined;
  /** The working directory and the roots to which the paths of scopes are relative. Default: `/`. */
  readonly bases?: GlobBases | undefined;
}

/** The number of revoked approvals that can be put back. */
const MAX_REVOKED = 100;

/** The narrowest and the widest end of a scope without a store that keeps. */
const ENDS_IN_MEMORY: readonly ScopeEnd[] = ["turn", "time", "session"];

/**
 * Creates the approvals of an agent: an empty list in memory, or those of a store. `now` returns milliseconds since
 * 1970.
 */
export function makeApprovals(now: () => number = () => Date.now(), stored: StoredApprovals = {}): Approvals {
  const { store = memoryApprovals(), agent = "", bases } = stored;
  const keeper = store.keeps === true ? store : stored.kept;
  const { lastsMs } = store;
  const until =
    lastsMs === undefined
      ? "until this workspace is closed"
      : `for ${phraseOfDuration(lastsMs)}, at every replica`;
  const ends: readonly ScopeEnd[] = keeper === undefined ? ENDS_IN_MEMORY : [...ENDS_IN_MEMORY, "kept"];
  const turns = makeTurns(now);
  const recent = makeRecentCalls();
  const revoked = new Map<string, Approval>();
  let known: readonly KnownApproval[] = [];
  const inForce = (): readonly KnownApproval[] =>
    known.filter(({ approval: { expires } }) => expires === undefined || Date.parse(expires) > now());

  const load = async (mustRead: boolean): Promise<void> => {
    const own = await store.list(agent);
    let kept: readonly Approval[] = [];
    try {
      if (keeper !== undefined && keeper !== store) kept = await keeper.list(agent);
    } catch (error) {
      // What cannot be read allows nothing, so the reviewer is asked.
      if (mustRead || !(error instanceof FilewrightError)) throw error;
    }
    known = [...own, ...kept].map(
      (approval) => known.find((one) => one.approval === approval) ?? { approval },
    );
  };
  const matches = (one: KnownApproval, work: ScopedWork): boolean => {
    one.matcher ??= compileStoredScope(one.approval.scope, bases) ?? COVERS_NOTHING;
    return one.matcher(work);
  };
  const offerOf = (outcome: LastingOutcome, asked: AskedCall): OfferedScope =>
    offeredScope(outcome, asked, ends);
  const usableFor = (call: ApprovableCall): readonly KnownApproval[] =>
    inForce().filter(({ approval: { scope, turn } }) => {
      if (scope?.until === "turn" && turn !== call.turn) return false;
      // As a rule, what is kept cannot override a place that always needs an approval.
      return scope?.until !== "kept" || call.writesAskedPlace !== true;
    });

  return Object.freeze({
    until,
    turn: turns.of,
    currentTurn: turns.current,
    refresh: stored.store === undefined && keeper === undefined ? undefined : () => load(false),
    covering(call: ApprovableCall) {
      const usable = usableFor(call);
      const found = workOf(call).map((work) => usable.find((one) => matches(one, work)));
      return found.includes(undefined) ? undefined : found[0]?.approval;
    },
    note: recent.note,
    wouldHaveCovered: (scope: ApprovalScope) => recent.countCovered(scope, bases),
    offer: (asked: AskedCall, changing: readonly ChangingOutcome[]) =>
      scopesOf(asked, changing, until, (outcome) => offerOf(outcome, asked)),
    async remember({ outcome, payload }: ConfirmReply, asked: AskedQuestion) {
      if (!isLasting(outcome)) return undefined;
      const { tool, turn } = asked;
      const offered = offerOf(outcome, asked);
      const scope = payload?.scope ?? offered.scope;
      if (payload?.scope !== undefined) assertOffered(scope, offered, tool, bases);
      const end = endOfScope(scope);
      const isKept = end === "kept";
      const lasts = isKept ? Infinity : now() + (lastsMs ?? Infinity);
      const stop = end === "time" ? Date.parse(scope.until) : Infinity;
      const expires = Math.min(payload?.expires?.getTime() ?? Infinity, lasts, stop);
      const approval: Approval = Object.freeze({
        id: `approval-${crypto.randomUUID()}`,
        outcome,
        scope,
        ...(end === "turn" ? { turn } : {}),
        label: payload?.scope === undefined ? scopeLabel(outcome, asked, until) : describeScope(scope, until),
        granted_at: new Date(now()).toISOString(),
        ...(expires === Infinity ? {} : { expires: new Date(expires).toISOString() }),
        ...(payload?.by === undefined ? {} : { by: payload.by }),
      });
      try {
        await (isKept ? (keeper ?? store) : store).add(agent, approval);
      } catch (error) {
        if (!isKept || !(error instanceof FilewrightError)) throw error;
        throw denied(`The approval cannot be kept: ${error.message}`, error);
      }
      await load(false);
      return approval;
    },
    async list() {
      await load(true);
      return inForce().map(({ approval }) => approval);
    },
    async revoke(id: string) {
      await load(false);
      const one = known.find(({ approval }) => approval.id === id)?.approval;
      const removed =
        (await store.remove(agent, id)) ||
        (keeper !== undefined && keeper !== store && (await keeper.remove(agent, id)));
      await load(false);
      if (removed && one !== undefined) revoked.set(id, one);
      if (revoked.size > MAX_REVOKED) revoked.delete(revoked.keys().next().value as string);
      return removed;
    },
    async restore(id: string) {
      const one = revoked.get(id);
      if (one === undefined || (one.expires !== undefined && Date.parse(one.expires) <= now())) return false;
      revoked.delete(id);
      await (one.scope.until === "kept" ? (keeper ?? store) : store).add(agent, one);
      await load(false);
      return true;
    },
  });
}

/** An approval, with its scope once that was compiled. */
interface KnownApproval {
  readonly approval: Approval;
  matcher?: ScopeMatcher;
}

/** Returns the widest scope of an outcome that lasts. */
function offeredScope(
  outcome: LastingOutcome,
  { tool, roots, command }: AskedCall,
  ends: readonly ScopeEnd[],
): OfferedScope {
  if (command !== undefined) {
    const scope = Object.freeze({ tool, path: "**", command, until: "session" });
    return { scope, roots: undefined, ends };
  }
  const isLimited = outcome === "proceed_always" && roots.length > 0;
  const scope = Object.freeze({
    tool: outcome === "proceed_always_server" ? "*" : tool,
    path: isLimited ? globBelow(roots) : "**",
    until: "session",
  });
  return { scope, roots: isLimited ? roots : undefined, ends };
}

const COVERS_NOTHING: ScopeMatcher = () => false;

function isLasting(outcome: Outcome): outcome is LastingOutcome {
  return (
    outcome === "proceed_always" || outcome === "proceed_always_tool" || outcome === "proceed_always_server"
  );
}

/** @throws FilewrightError APPROVAL_DENIED for a scope that is invalid or wider than the offered one */
function assertOffered(
  scope: ApprovalScope,
  offered: OfferedScope,
  tool: string,
  bases: GlobBases | undefined,
): void {
  let widening: string | undefined;
  try {
    compileScope(scope, bases, [tool]);
    widening = wideningOf(scope, offered, bases);
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    throw denied("The scope of the reviewer's answer is not understood.", error);
  }
  if (widening !== undefined) throw denied(`The reviewer's answer is for ${widening} than what was offered.`);
}

/** Returns a duration in words, in the largest unit that it has a whole number of. */
function phraseOfDuration(ms: number): string {
  const units = [
    ["hour", 3_600_000],
    ["minute", 60_000],
    ["second", 1000],
  ] as const;
  const [unit, size] = units.find(([, of]) => ms >= of && ms % of === 0) ?? ["second", 1000];
  const count = Math.max(1, Math.round(ms / size));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** An outcome that approves a changed call. */
export type ChangingOutcome = "proceed_parts" | "modify_with_editor";

/** Returns every outcome that a reviewer may choose, with a description, and with its scope where it lasts. */
function scopesOf(
  asked: AskedCall,
  changing: readonly ChangingOutcome[],
  until: string,
  offerOf: (outcome: LastingOutcome) => OfferedScope,
): readonly Scope[] {
  const outcomes: Outcome[] = ["proceed_once", ...lastingOutcomesOf(asked), ...changing, "cancel"];
  const scopes = outcomes.map((outcome): Scope => {
    const label = scopeLabel(outcome, asked, until);
    if (!isLasting(outcome)) return Object.freeze({ outcome, label });
    const { scope, ends } = offerOf(outcome);
    return Object.freeze({ outcome, label, scope, ends, sessionEnd: until });
  });
  return Object.freeze(scopes);
}

/** Returns the outcomes for later calls: of a command only one, because none covers more than the same command. */
function lastingOutcomesOf({ tool, command }: AskedCall): readonly LastingOutcome[] {
  if (command !== undefined) return ["proceed_always"];
  return runsCommands(tool) ? [] : ["proceed_always", "proceed_always_tool", "proceed_always_server"];
}

/** Returns the description of an outcome for a reviewer. */
function scopeLabel(outcome: Outcome, { tool, roots, command }: AskedCall, until: string): string {
  if (isLasting(outcome) && command !== undefined) return `exactly ${commandInWords(command)}, ${until}`;
  const besides = effectsInWords(tool);
  switch (outcome) {
    case "proceed_once":
      return "this call only";
    case "proceed_always":
      return `${tool} below ${roots.map(escapeControls).join(" and ")}${besides}, ${until}`;
    case "proceed_always_tool":
      return roots.length === 0
        ? `every call of ${escapeControls(tool)}${besides}, whatever its arguments, ${until}`
        : `${tool} on every path of this workspace${besides}, ${until}`;
    case "proceed_always_server":
      return `${EVERY_TOOL_WORDS} on every path of this workspace, ${until}`;
    case "proceed_parts":
      return "only some parts of the change";
    case "modify_with_editor":
      return "change the content first";
    case "look_again":
      return "plan it again on the present content";
    case "cancel":
      return "refuse";
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
