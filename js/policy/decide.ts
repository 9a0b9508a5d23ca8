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
import {
  type CallRules,
  type Decision,
  type OnRule,
  type PathForms,
  type Rules,
  strictestDecision,
} from "./rules.ts";

/** A step of a call. Each decision source is consulted at one of them, once its facts are known. */
export type DecisionStep = "offer" | "arguments" | "paths" | "grants" | "approval" | "content";

/** The name of a source of decisions about calls. */
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

/** Every decision source in the order of consultation, with the step at which it is consulted. */
export const DECISION_ORDER: Readonly<Record<NamedSource, DecisionStep>> = {
  /** The option `approve` of an adapter: the framework asks before it makes the call. */
  framework: "offer",
  /** The `before` hooks, which may refuse the call or change its arguments. */
  hooks: "arguments",
  /** The roots and the deny list of the policy. */
  policy: "paths",
  /** The call rules of the workspace. */
  rules: "paths",
  /** The directories and secrets that a person granted. */
  grants: "grants",
  /** The decision about a change that no earlier source decides. */
  default: "approval",
  /** The places whose change needs an approval whatever the rules say. */
  places: "approval",
  /** Approvals of earlier calls that cover this call too. */
  approvals: "approval",
  /** The reviewer. Refuses the call when an approval is needed and nobody can be asked. */
  approver: "approval",
  /** The guard, which refuses to overwrite content that the agent has not read. */
  guard: "content",
};

/** The source of the decision. `none`: no source decided, so the call is allowed. */
export type DecisionSourceName = NamedSource | "none";

/** The decision about a call. */
export type Verdict =
  | {
      readonly decision: "allow";
      readonly source: DecisionSourceName;
      /** True when a change goes ahead without a question, and is unreviewed until it is kept. */
      readonly review?: true;
      /** The lasting approval that allows it, with the person who gave it. Only from the source `approvals`. */
      readonly approval?: { readonly id: string; readonly covers: string; readonly by?: string | undefined };
    }
  | {
      readonly decision: "deny";
      readonly source: DecisionSourceName;
      readonly reason: string;
      /** The error with which the call fails. Default: APPROVAL_DENIED with `reason`. */
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
  /** Every path that the call names or reaches. */
  readonly places: readonly PathForms[];
  readonly effects: readonly Effect[];
  /** Paths that are no {@link Location}s, so that no policy has checked them yet; the source `policy` does. */
  readonly unchecked?: readonly string[];
  /** Called with the rules that decide, to count them; absent where the decision is about no call. */
  readonly onRule?: OnRule | undefined;
  /** The answer of the host to whether this call must be asked about. Only `false` says no. */
  readonly selected?: unknown;
  /** The error of the hook that refused the call. */
  readonly stopped?: FilewrightError | undefined;
  /** A directory or secret that the call needs; the source `grants` decides about one at a time. */
  readonly grant?: GrantFact;
  /** The caller, to whom an approval can be limited. Absent where no approval is to cover the call. */
  readonly caller?: CallerFacts | undefined;
  /** True when the call writes to a place whose change always needs an approval. */
  readonly writesAskedPlace?: boolean;
  /** The error of the guard: the change would overwrite content that the agent has not read. */
  readonly unseen?: FilewrightError | undefined;
}

/** A caller, and the command that it runs, by which approvals are limited. */
export interface CallerFacts {
  readonly agent?: string | undefined;
  readonly turn: string;
  /** The exact command of a call that runs one. */
  readonly command?: { readonly argv: readonly string[]; readonly cwd: string } | undefined;
}

/** A directory or a secret that a call needs, and what is known of its grant. */
export interface GrantFact {
  /** The absolute path of the directory or secret. */
  readonly path: string;
  /** `open`: nobody has answered yet. `refused`: refused since the call began. `never`: it cannot be granted. */
  readonly state: "granted" | "open" | "refused" | "never";
}

/** One source of decisions. */
export interface DecisionSource {
  readonly name: NamedSource;
  /** False when the options give this source nothing to decide. It is still consulted, but not listed. */
  readonly isInForce?: boolean;
  /** Returns the new decision; undefined keeps `before`, the decision of the earlier sources. */
  decide(call: CallFacts, before: Verdict | undefined): Verdict | undefined;
}

/** The part of the sources to consult, and the decision from which they continue. */
export interface DecideOptions {
  /** Consults only the sources of this step. Default: all sources. */
  readonly step?: DecisionStep | undefined;
  /** The decision of the earlier steps. Default: allowed, because no source has decided. */
  readonly before?: Verdict | undefined;
}

/** Consults the sources in order and returns the decision. A denial ends it. */
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
 * Creates the source for the function with which a host selects the calls to ask about. Only the answer `false`
 * keeps the decision as it is; a missing or invalid answer leads to a question.
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

/** Creates the source for `before` hooks: the call is denied if one of them refused it. */
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

/**
 * Creates the source for the policy. It denies a call with an unchecked path that may not be read: one outside the
 * roots or on the deny list.
 */
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

/** Creates the source for the call rules. They apply to the call and to each of its additional effects. */
export function rulesSource(rules: Rules): DecisionSource {
  const name = "rules";
  return {
    name,
    isInForce: !rules.isEmpty,
    decide({ tool, args, places, effects, onRule }) {
      const own = strictestRuleDecision(rules.forCall(tool, args), places, onRule);
      const besides = effects.map((effect) =>
        rules.forCall(effect.tool, effect.args).decide(effect.place, onRule),
      );
      // An effect can restrict a call; only a rule about the call itself can allow it.
      const decision = strictestDecision([own, ...besides.filter((one) => one === "deny" || one === "ask")]);
      if (decision === "deny") return { decision, source: name, reason: `A rule forbids ${tool} here.` };
      if (decision === "ask")
        return { decision, source: name, question: `A rule wants ${tool} to be asked about here.` };
      if (!rules.reviews || !wantsReview(rules, { tool, args, places, effects }))
        return decision === undefined ? undefined : { decision: "allow", source: name };
      // Where no rule decides about the whole call, it goes ahead or not; if so, a part of it is to be reviewed.
      return { decision: "allow", source: decision === undefined ? "none" : name, review: true };
    },
  };
}

/** Returns true when a rule wants a part of a call, or an effect of it, to be reviewed after it. */
function wantsReview(
  rules: Rules,
  { tool, args, places, effects }: Pick<CallFacts, "tool" | "args" | "places" | "effects">,
): boolean {
  const own = rules.forCall(tool, args);
  return (
    (places.length === 0 ? [[]] : places).some(own.wantsReview) ||
    effects.some((effect) => rules.forCall(effect.tool, effect.args).wantsReview(effect.place))
  );
}

/**
 * Creates the source for granted directories and secrets. If `canAsk` is false, nobody can grant one now, and an
 * open one is denied.
 */
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

/**
 * Creates the source that decides about a change when no earlier source has. Undefined as `decision` allows it, and
 * `review` allows it as well and leaves it unreviewed.
 */
export function defaultSource(decision: "ask" | "review" | "deny" | undefined): DecisionSource {
  const name = "default";
  return {
    name,
    isInForce: decision !== undefined,
    decide({ tool }, before) {
      if (before !== undefined || decision === undefined) return undefined;
      if (decision === "review") return { decision: "allow", source: name, review: true };
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

/** Returns the strictest decision of the rules about any of the paths; about the call itself if it has none. */
function strictestRuleDecision(
  rules: CallRules,
  places: readonly PathForms[],
  onRule: OnRule | undefined,
): Decision | undefined {
  return places.length === 0
    ? rules.decide([], onRule)
    : strictestDecision(places.map((place) => rules.decide(place, onRule)));
}
