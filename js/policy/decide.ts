/**
 * The decision about a call: allowed, denied, or to be asked about.
 *
 * Sources are evaluated in order, and the first with an opinion decides: the path policy, then the
 * call rules. The pipeline itself evaluates grants, stored approvals and the default.
 *
 * A decision covers every path that a call names or reaches: the entries below a directory that it
 * deletes, moves or copies, their destinations, and its additional effects (a patch that deletes a
 * file is a deletion).
 */
import type { Resolver } from "./resolve.ts";
import { type CallRules, type Decision, type PathForms, type Rules, strictest } from "./rules.ts";

/** The source of the decision. `none`: no source had an opinion. */
export type DecisionSourceName = "policy" | "rules" | "none";

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
  /** Those of `places` that are no locations yet: the path policy has not checked them. */
  readonly unchecked?: readonly string[];
}

/** One source of decisions; returns undefined without an opinion. */
export type DecisionSource = (call: CallFacts) => Verdict | undefined;

/** Decides about a call: the first source with an opinion wins. */
export function decide(sources: readonly DecisionSource[], call: CallFacts): Verdict {
  for (const source of sources) {
    const verdict = source(call);
    if (verdict !== undefined) return verdict;
  }
  return { decision: "allow", source: "none" };
}

/** The path policy: it denies paths outside the roots and denied ones, and allows nothing by itself. */
export function policySource(resolver: Pick<Resolver, "mayRead">): DecisionSource {
  return ({ unchecked = [] }) =>
    unchecked.every(resolver.mayRead)
      ? undefined
      : { decision: "deny", source: "policy", reason: "It lies outside the allowed roots." };
}

/** The call rules for the call and its effects. */
export function rulesSource(rules: Rules): DecisionSource {
  return ({ tool, args, places, effects }) => {
    const own = decideAll(rules.forCall(tool, args), places);
    const besides = effects.map((effect) => rules.forCall(effect.tool, effect.args).decide(effect.place));
    // An effect can restrict a call; only a rule about the call itself can allow it.
    const decision = strictest([own, ...besides.filter((one) => one === "deny" || one === "ask")]);
    if (decision === undefined) return undefined;
    if (decision === "deny") return { decision, source: "rules", reason: `A rule forbids ${tool} here.` };
    if (decision === "ask")
      return { decision, source: "rules", question: `A rule wants ${tool} to be asked about here.` };
    return { decision, source: "rules" };
  };
}

function decideAll(rules: CallRules, places: readonly PathForms[]): Decision | undefined {
  return places.length === 0 ? rules.decide([]) : strictest(places.map((place) => rules.decide(place)));
}
