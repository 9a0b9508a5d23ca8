/**
 * The sources that decide about the calls of a workspace, in their order, which is that of
 * `DECISION_ORDER` in `js/policy/decide.ts`. Every decision of the pipeline walks this list, a step at a time, and
 * `access_info` prints the sources of it that are in force.
 */
import {
  type CallFacts,
  decide,
  type DecideOptions,
  type DecisionSource,
  defaultSource,
  guardSource,
  grantsSource,
  hooksSource,
  type NamedSource,
  policySource,
  type Resolver,
  rulesSource,
  type Verdict,
} from "../policy/index.ts";
import { approvalsSource, approverSource, mustAsk } from "../hooks/approvals.ts";
import type { Confirm } from "../hooks/confirm.ts";
import type { BoundHook } from "../hooks/run.ts";
import type { Session, SessionGates } from "./session.ts";
import { placesSource } from "./written-places.ts";
import { TOOL_FOR_ACCESS } from "../schema/tool-facts.ts";

/** Returns true when a person is asked before a change about which no rule decides. */
export function asksUndecided(
  { gates: { requireApproval, reviewsAfter } }: { readonly gates: GateParts },
  confirm: unknown,
): boolean {
  return !reviewsAfter && (requireApproval || confirm !== undefined);
}

/** The gates of a workspace without the list of what decides, which is made from them. */
type GateParts = Omit<SessionGates, "hasTurns" | "sources" | "mayAsk">;

/** The other parts of a workspace that decide about its calls. */
interface GateSettings {
  readonly hooks: readonly BoundHook[];
  readonly resolver: Resolver;
}

/** Completes gates by what decides about the calls of each tool, and who is asked, found when its first call needs it. */
export function makeGates(given: GateParts, settings: GateSettings): SessionGates {
  const known = new Map<string, readonly DecisionSource[]>();
  const sources = (tool: string): readonly DecisionSource[] => {
    const made = known.get(tool) ?? sourcesOf({ ...given, confirmFor }, settings, tool);
    known.set(tool, made);
    return made;
  };
  const approvers = new Map<string, Confirm | undefined>();
  const confirmFor = (tool: string, calledAs?: string): Confirm | undefined => {
    if (calledAs !== undefined) return given.confirmFor(tool, calledAs);
    if (!approvers.has(tool)) approvers.set(tool, given.confirmFor(tool));
    return approvers.get(tool);
  };
  const { rules, requireApproval, reviewsAfter, hasApprover, permissions } = given;
  const alwaysAsks = requireApproval || reviewsAfter || !rules.isEmpty;
  const mayAsk = (tool: string): boolean => alwaysAsks || (hasApprover && confirmFor(tool) !== undefined);
  const hasTurns = alwaysAsks || hasApprover || permissions !== undefined;
  return Object.freeze({ ...given, confirmFor, sources, hasTurns, mayAsk });
}

function sourcesOf(
  gates: GateParts,
  { hooks, resolver }: GateSettings,
  tool: string,
): readonly DecisionSource[] {
  const { rules, permissions, approvals, reviewsAfter } = gates;
  const confirm = gates.confirmFor(tool);
  const asks = asksUndecided({ gates }, confirm);
  const mayAsk = confirm !== undefined || asks || !rules.isEmpty;
  return [
    hooksSource(hooks.some(({ hook }) => hook.stage === "before")),
    policySource(resolver),
    rulesSource(rules),
    permissions?.source ?? grantsSource(false, false),
    defaultSource(reviewsAfter ? "review" : asks ? "ask" : undefined),
    placesSource(confirm),
    approvalsSource(approvals, mayAsk),
    approverSource(confirm, mayAsk),
    guardSource(gates.guard === "refuse"),
  ];
}

/** Returns the names of the sources in force about a change. */
export function decisionSourcesInForce(session: Session): readonly NamedSource[] {
  return session.gates
    .sources(TOOL_FOR_ACCESS.write)
    .filter(({ isInForce = true }) => isInForce)
    .map(({ name }) => name);
}

/** Decides by the facts of one step. @throws FilewrightError for a denial */
export function decideStep(
  sources: readonly DecisionSource[],
  facts: Pick<CallFacts, "tool"> & Partial<CallFacts>,
  options: DecideOptions,
): Verdict {
  const verdict = decide(sources, { args: {}, places: [], effects: [], ...facts }, options);
  mustAsk(verdict);
  return verdict;
}
