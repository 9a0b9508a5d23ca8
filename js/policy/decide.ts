/**
 * The one decision about a call: allowed, denied, or to be asked about.
 *
 * Sources are consulted in order. Each sees the decision of those before it, and leaves it or replaces it; a
 * denial is final. The callers pass them in this order: the path policy, the call rules, the default, the places
 * that need an approval, the approvals that last, and whether anybody can be asked. Grants of directories are
 * requested between the rules and the default, so a call is decided in two steps; `before` carries the first on.
 *
 * A decision covers every path that a call names or reaches: the entries below a directory that it
 * deletes, moves or copies, their destinations, and its additional effects (a patch that deletes a
 * file is a deletion).
 */
import type { Resolver } from "./resolve.ts";
import { type CallRules, type Decision, type PathForms, type Rules, strictest } from "./rules.ts";

/** The source of the decision. `none`: no source decided, so the call is allowed. */
export type DecisionSourceName =
  | "policy"
  | "rules"
  | "default"
  | "places"
  | "approvals"
  | "approver"
  | "none";

/** The decision about a call. */
export type Verdict =
  | { readonly decision: "allow"; readonly source: DecisionSourceName }
  | { readonly decision: "deny"; readonly source: DecisionSourceName; readonly reason: string }
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
}

/** One source of decisions. */
export interface DecisionSource {
  readonly name: Exclude<DecisionSourceName, "none">;
  /** Returns undefined to leave the decision of the sources before it. */
  decide(call: CallFacts, before: Verdict | undefined): Verdict | undefined;
}

/**
 * Decides about a call.
 * @param before the decision of earlier sources, when the sources continue it
 */
export function decide(
  sources: readonly DecisionSource[],
  call: CallFacts,
  before: Verdict = ALLOWED_BY_NO_SOURCE,
): Verdict {
  let verdict = before;
  for (const source of sources) {
    if (verdict.decision === "deny") break;
    verdict = source.decide(call, verdict.source === "none" ? undefined : verdict) ?? verdict;
  }
  return verdict;
}

const ALLOWED_BY_NO_SOURCE: Verdict = { decision: "allow", source: "none" };

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
    decide({ tool, args, places, effects }) {
      const own = decideAll(rules.forCall(tool, args), places);
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

/** The decision about a call that no source before decides; undefined leaves it to the sources after. */
export function defaultSource(decision: "ask" | "deny" | undefined): DecisionSource {
  const name = "default";
  return {
    name,
    decide({ tool }, before) {
      if (before !== undefined || decision === undefined) return undefined;
      return decision === "ask"
        ? { decision, source: name, question: `${tool} is asked about, because no rule decides.` }
        : { decision, source: name, reason: `No rule allows ${tool} here.` };
    },
  };
}

function decideAll(rules: CallRules, places: readonly PathForms[]): Decision | undefined {
  return places.length === 0 ? rules.decide([]) : strictest(places.map((place) => rules.decide(place)));
}
