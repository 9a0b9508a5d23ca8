/**
 * Requests approvals for reads, and for changes that fail or are only tried, because their answers
 * reveal content.
 */
import { decide, type DecisionSource, type Location, type Verdict } from "../policy/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { nameOf } from "../backends/paths.ts";
import { mustAsk, scopesOf } from "../hooks/approvals.ts";
import { askConfirm, type Confirm, refusedBy } from "../hooks/confirm.ts";
import { notifySafely } from "../hooks/events.ts";
import { digestOfParts } from "../hooks/question.ts";
import type { Call, ChangingTool, Plan } from "../tools/lib/tool.ts";
import { rootsContaining } from "./review.ts";
import type { Session } from "./session.ts";
import { decisionSourcesOf } from "./sources.ts";
import type { PlaceToApprove } from "./written-places.ts";

/** The decision of the policy and the rules about a call. */
export interface RuleResult {
  /** The sources that decide about the call, in their order. */
  readonly sources: readonly DecisionSource[];
  /** The decision of the policy and the rules. For a read, every required approval was already given. */
  readonly ruled: Verdict;
  /**
   * True when a rule requires an approval for the change, and reading the path is denied or needs an
   * approval, too. Then neither a dry run nor a failure may reveal content before the approval.
   */
  readonly isKept: boolean;
}

/** The input of a plan. `isKept` is as in {@link RuleResult}. */
export interface PlanInput<Args extends object, Data, Todo> {
  readonly tool: ChangingTool<Args, Data, Todo>;
  readonly args: Args;
  readonly call: Call;
  readonly isKept: boolean;
}

/**
 * Plans a change. A failure reveals content, and so does a plan with nothing to do, such as a dry run:
 * if the rules hide the content from the call, an approval is requested first.
 * @throws FilewrightError APPROVAL_DENIED, and as the plan does
 */
export async function planWithApprovalToReveal<Args extends object, Data, Todo>(
  session: Session,
  { tool, args, call, isKept }: PlanInput<Args, Data, Todo>,
): Promise<Plan<Data, Todo>> {
  if (!isKept) return tool.plan(args, call);
  let plan: Plan<Data, Todo>;
  try {
    plan = await tool.plan(args, call);
  } catch (error) {
    await requestApproval(session, tool, call.locations, call);
    throw error;
  }
  if (plan.settled !== undefined) await requestApproval(session, tool, call.locations, call);
  return plan;
}

/** The decision that an approval is needed because of a rule. */
const ASK_BY_RULE_VERDICT: Verdict = {
  decision: "ask",
  source: "rules",
  question: "A rule wants this to be asked about.",
};

/**
 * Continues the decision about a call after the rules and the grants, and returns the approver to ask; undefined
 * when the call needs no approval.
 * @param sources those of the workspace
 * @param ruled the decision of the policy and the rules
 * @param places the places that the call writes and that need an approval
 * @throws FilewrightError APPROVAL_DENIED
 */
export function approverToAsk(
  session: Session,
  sources: readonly DecisionSource[],
  tool: string,
  locations: readonly Location[],
  ruled: Verdict,
  places: readonly PlaceToApprove[] = [],
): Confirm | undefined {
  const [roots, writesAskedPlace] = [rootsContaining(locations), places.length > 0];
  const facts = { tool, args: {}, places: [], effects: [], roots, writesAskedPlace };
  const verdict = decide(sources, facts, { step: "approval", before: ruled });
  return mustAsk(verdict) ? session.confirmFor(tool) : undefined;
}

/**
 * Reads the approvals of other processes before a decision that one of them may change; undefined when none can. The
 * parameters are those of {@link approverToAsk}.
 */
export function refreshApprovals(
  session: Session,
  tool: string,
  ruled: Verdict,
  places: readonly PlaceToApprove[],
): Promise<void> | undefined {
  const { refresh } = session.approvals;
  if (refresh === undefined) return undefined;
  const asksByDefault =
    ruled.source === "none" && (session.requireApproval || session.confirmFor(tool) !== undefined);
  return ruled.decision === "ask" || places.length > 0 || asksByDefault ? refresh() : undefined;
}

/** Returns true when a lasting approval already covers a call that the rules would ask about. */
export function hasLastingApproval(
  sources: readonly DecisionSource[],
  tool: string,
  locations: readonly Location[],
): boolean {
  const facts = { tool, args: {}, places: [], effects: [], roots: rootsContaining(locations) };
  return decide(sources, facts, { step: "approval", before: ASK_BY_RULE_VERDICT }).decision === "allow";
}

/**
 * Requests the approval of a read, or of an answer that reveals content. The caller checks that a rule
 * requires it.
 */
export async function requestApproval(
  session: Session,
  tool: { readonly name: string; readonly title: string },
  locations: readonly Location[],
  { signal, agent = session.agent }: Partial<Pick<Call, "signal" | "agent">>,
): Promise<void> {
  const { approvals, notify } = session;
  const roots = rootsContaining(locations);
  await approvals.refresh?.();
  const confirm = approverToAsk(
    session,
    decisionSourcesOf(session, tool.name),
    tool.name,
    locations,
    ASK_BY_RULE_VERDICT,
  );
  if (confirm === undefined) return;
  const [at] = locations;
  const [path, title] = [at?.path ?? "", escapeControls(`${tool.title}: ${at?.typed ?? tool.name}`)];
  notifySafely(notify, { type: "approval_asked", tool: tool.name, path, title });
  const reply = await askConfirm(
    confirm,
    {
      type: "info",
      title,
      tool: tool.name,
      fileName: at === undefined ? "" : nameOf(at.path),
      fileDiff: "",
      originalContent: null,
      newContent: null,
      path,
      paths: locations.map((one) => one.path),
      risk: "low",
      ...(agent === undefined ? {} : { agent }),
      scopes: scopesOf(tool.name, roots, false, approvals.until),
      changes: [],
      digest: digestOfParts(["filewright read 1", tool.name, locations.map((one) => one.path)]),
      complete: true,
    },
    signal,
  );
  const { outcome } = reply;
  const approval = await approvals.remember(reply, tool.name, roots);
  const lasting = approval === undefined ? {} : { approval };
  notifySafely(notify, { type: "approval_answered", tool: tool.name, path, outcome, ...lasting });
  if (outcome === "cancel" || outcome === "modify_with_editor") throw refusedBy(reply);
}
