/**
 * The one decision about a call: allowed, denied, or to be asked about.
 *
 * Sources are consulted in order. Each sees the decision of those before it, and leaves it or replaces it; a
 * denial is final. {@link DECISION_ORDER} is the order, and `js/pipeline/sources.ts` the list of a workspace.
 *
 * A call is decided in steps, because the facts of later sources are known later: what the call writes only after
 * it is planned, and nothing may be read for a plan before the rules allow it. A source leaves the decision while
 * its fact is missing, except where the safe answer to a missing fact is a question.
 *
 * A decision covers every path that a call names or reaches: the entries below a directory that it
 * deletes, moves or copies, their destinations, and its additional effects (a patch that deletes a
 * file is a deletion).
 */
import type { FilewrightError } from "../engine/errors.ts";
import type { Resolver } from "./resolve.ts";
import { type CallRules, type Decision, type PathForms, type Rules, strictest } from "./rules.ts";

/** A moment of a call at which some sources are consulted. */
export type DecisionStep = "offer" | "arguments" | "paths" | "grants" | "approval" | "content";

/** A source by its name. */
export type NamedSource =
  | "framework"
  | "hooks"
  | "policy"
  | "rules"
  | "grants"
  | "default"
  | "places"
  | "approvals"
  | "approver"
  | "guard";

/** Every source, in the order in which they are consulted, with its step. */
export const DECISION_ORDER: Readonly<Record<NamedSource, DecisionStep>> = {
  /** What the host chose for its framework, which asks before the call is made. */
  framework: "offer",
  /** The hooks before the call. */
  hooks: "arguments",
  /** The roots and the deny list. */
  policy: "paths",
  /** The call rules. */
  rules: "paths",
  /** The granted directories. */
  grants: "grants",
  /** What holds for a change that no source before decides. */
  default: "approval",
  /** The places that need an approval whatever the rules say. */
  places: "approval",
  /** The approvals that last. */
  approvals: "approval",
  /** The reviewer, or the lack of one. */
  approver: "approval",
  /** The guard: content that was not read is not overwritten. */
  guard: "content",
};

/** The source of the decision. `none`: no source decided, so the call is allowed. */
export type DecisionSourceName = NamedSource | "none";

/** The decision about a call. */
export type Verdict =
  | { readonly decision: "allow"; readonly source: DecisionSourceName }
  | {
      readonly decision: "deny";
      readonly source: DecisionSourceName;
      readonly reason: string;
      /** The error of the call, where it is not the common one of a denial. */
      readonly error?: FilewrightError;
    }
  | { readonly decision: "ask"; readonly source: DecisionSourceName; readonly question: string };

/** An additional effect of a call: the work of another tool on one path. */
export interface Effect {
  readonly tool: string;
  /** The arguments that the other tool would get. */
  readonly args: object;
  readonly place: PathForms;
}

/** The facts of a call on which the decision depends. */
export interface CallFacts {
  readonly tool: string;
  readonly args: object;
  /** Every path that it names or reaches. */
  readonly places: readonly PathForms[];
  readonly effects: readonly Effect[];
  /** Paths that were not resolved to locations, which checks them; the path policy checks these here. */
  readonly unchecked?: readonly string[];
  /** What the host's own function answered to the question whether this call must be asked about. */
  readonly selected?: unknown;
  /** The refusal of a hook. */
  readonly stopped?: FilewrightError | undefined;
  /** One directory or secret that the call needs. */
  readonly grant?: GrantFact;
  /** The roots of its paths, for approvals that hold below a root. */
  readonly roots?: readonly string[];
  /** True when it writes to a place that always needs an approval. */
  readonly writesAskedPlace?: boolean;
  /** The refusal of the guard: the change would lose content that was not read. */
  readonly unseen?: FilewrightError | undefined;
}

/** A directory or a secret that a call needs, and what is known of its grant. */
export interface GrantFact {
  /** Absolute. */
  readonly path: string;
  /** `open`: nobody answered yet. `refused`: somebody refused since the call began. `never`: it cannot be granted. */
  readonly state: "granted" | "open" | "refused" | "never";
}

/** One source of decisions. */
export interface DecisionSource {
  readonly name: NamedSource;
  /** False for a source that has nothing to decide about with the options in force. It is consulted all the same. */
  readonly isInForce?: boolean;
  /** Returns undefined to leave the decision of the sources before it. */
  decide(call: CallFacts, before: Verdict | undefined): Verdict | undefined;
}

/** Where a decision begins and ends. */
export interface DecideOptions {
  /** Only the sources of this step. Default: all. */
  readonly step?: DecisionStep | undefined;
  /** The decision of earlier steps, when the sources continue it. */
  readonly before?: Verdict | undefined;
}

/** Decides about a call. */
export function decide(
  sources: readonly DecisionSource[],
  call: CallFacts,
  { step, before = ALLOWED_BY_NO_SOURCE }: DecideOptions = {},
): Verdict {
  let verdict = before;
  for (const source of sources) {
    if (verdict.decision === "deny") break;
    if (step !== undefined && DECISION_ORDER[source.name] !== step) continue;
    verdict = source.decide(call, verdict.source === "none" ? undefined : verdict) ?? verdict;
  }
  return verdict;
}

const ALLOWED_BY_NO_SOURCE: Verdict = { decision: "allow", source: "none" };

/**
 * The answer of a host's own function. Only `false` leaves the decision: an answer that is missing or not
 * understood asks.
 */
export function selectionSource(name: "framework" | "hooks"): DecisionSource {
  return {
    name,
    decide: ({ tool, selected }) =>
      selected === false
        ? undefined
        : { decision: "ask", source: name, question: `The host wants ${tool} to be asked about.` },
  };
}

/** The hooks before the call: one that stopped it denies. */
export function hooksSource(isInForce = true): DecisionSource {
  const name = "hooks";
  return {
    name,
    isInForce,
    decide: ({ stopped }) =>
      stopped === undefined
        ? undefined
        : { decision: "deny", source: name, reason: stopped.message, error: stopped },
  };
}

/** The path policy. It denies a call with an unchecked path outside the roots or on the deny list. */
export function policySource(resolver: Pick<Resolver, "mayRead">): DecisionSource {
  const name = "policy";
  return {
    name,
    decide: ({ unchecked = [] }) =>
      unchecked.every(resolver.mayRead)
        ? undefined
        : { decision: "deny", source: name, reason: "It lies outside the allowed roots." },
  };
}

/** The call rules for the call and its effects. */
export function rulesSource(rules: Rules): DecisionSource {
  const name = "rules";
  return {
    name,
    isInForce: !rules.isEmpty,
    decide({ tool, args, places, effects }) {
      const own = strictestByPath(rules.forCall(tool, args), places);
      const besides = effects.map((effect) => rules.forCall(effect.tool, effect.args).decide(effect.place));
      // An effect can restrict a call; only a rule about the call itself can allow it.
      const decision = strictest([own, ...besides.filter((one) => one === "deny" || one === "ask")]);
      if (decision === undefined) return undefined;
      if (decision === "deny") return { decision, source: name, reason: `A rule forbids ${tool} here.` };
      if (decision === "ask")
        return { decision, source: name, question: `A rule wants ${tool} to be asked about here.` };
      return { decision, source: name };
    },
  };
}

/** The grants of directories and secrets. `canAsk`: somebody can be asked for one. */
export function grantsSource(canAsk: boolean, isInForce = true): DecisionSource {
  const name = "grants";
  return {
    name,
    isInForce,
    decide({ grant }) {
      if (grant === undefined || grant.state === "granted") return undefined;
      if (grant.state === "open" && canAsk)
        return { decision: "ask", source: name, question: `${grant.path} was not granted.` };
      return { decision: "deny", source: name, reason: `${grant.path} was not granted.` };
    },
  };
}

/** The decision about a call that no source before decides; undefined leaves it to the sources after. */
export function defaultSource(decision: "ask" | "deny" | undefined): DecisionSource {
  const name = "default";
  return {
    name,
    isInForce: decision !== undefined,
    decide({ tool }, before) {
      if (before !== undefined || decision === undefined) return undefined;
      return decision === "ask"
        ? { decision, source: name, question: `${tool} is asked about, because no rule decides.` }
        : { decision, source: name, reason: `No rule allows ${tool} here.` };
    },
  };
}

/**
 * The guard. It denies a change of content that was not read, or has changed since.
 * @param isInForce false where such a change is made, with a warning or without
 */
export function guardSource(isInForce: boolean): DecisionSource {
  const name = "guard";
  return {
    name,
    isInForce,
    decide: ({ unseen }) =>
      unseen === undefined || !isInForce
        ? undefined
        : { decision: "deny", source: name, reason: unseen.message, error: unseen },
  };
}

function strictestByPath(rules: CallRules, places: readonly PathForms[]): Decision | undefined {
  return places.length === 0 ? rules.decide([]) : strictest(places.map((place) => rules.decide(place)));
}
