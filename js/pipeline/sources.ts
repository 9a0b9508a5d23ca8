/**
 * The sources that decide about the calls of a workspace, in their order. Every decision of the pipeline walks
 * this list, and `access_info` prints the sources of it that are in force.
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
  rulesSource,
  type Verdict,
} from "../policy/index.ts";
import { approvalsSource, approverSource, mustAsk } from "../hooks/approvals.ts";
import type { Session } from "./session.ts";
import { placesSource } from "./written-places.ts";

/** Returns true when a person is asked before a change about which no rule decides. */
export function asksUndecided(
  { gates: { requireApproval, reviewsAfter } }: Pick<Session, "gates">,
  confirm: unknown,
): boolean {
  return !reviewsAfter && (requireApproval || confirm !== undefined);
}

/** Returns what decides about the calls of a tool, in its order. */
export function decisionSourcesOf(session: Session, tool: string): readonly DecisionSource[] {
  const { rules, permissions, approvals, reviewsAfter } = session.gates;
  const confirm = session.gates.confirmFor(tool);
  const asks = asksUndecided(session, confirm);
  const mayAsk = confirm !== undefined || asks || !rules.isEmpty;
  return [
    hooksSource(session.hooks.bound.some(({ hook }) => hook.stage === "before")),
    policySource(session.files.resolver),
    rulesSource(rules),
    permissions?.source ?? grantsSource(false, false),
    defaultSource(reviewsAfter ? "review" : asks ? "ask" : undefined),
    placesSource(confirm),
    approvalsSource(approvals, mayAsk),
    approverSource(confirm, mayAsk),
    guardSource(session.gates.guard === "refuse"),
  ];
}

/** Returns the names of the sources in force about a change. */
export function decisionSourcesInForce(session: Session): readonly NamedSource[] {
  return decisionSourcesOf(session, "write_file")
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
