/**
 * Requests approvals for reads, and for changes that fail or are only tried, because their answers
 * reveal content.
 */
import { decide, type DecisionSource, defaultSource, type Location, type Verdict } from "../policy/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { nameOf } from "../backends/paths.ts";
import { approvalsSource, approverSource, mustAsk, scopesOf } from "../hooks/approvals.ts";
import { askConfirm, type Confirm, refusedBy } from "../hooks/confirm.ts";
import { notifySafely } from "../hooks/events.ts";
import { digestOf } from "../hooks/question.ts";
import type { Call, ChangingTool, DecidingSource, Plan } from "../tools/lib/tool.ts";
import { rootsOf } from "./review.ts";
import type { Session } from "./session.ts";
import { type AskedPlace, placesSource } from "./written-places.ts";

/** The result of the rules for a call. */
export interface Ruled {
  /** The decision of the policy and the rules. For a read, every required approval was already given. */
  readonly ruled: Verdict;
  /**
   * True when a rule requires an approval for the change, and reading the path is denied or needs an
   * approval, too. Then neither a dry run nor a failure may reveal content before the approval.
   */
  readonly isKept: boolean;
}

/** The input of a plan. `isKept` is as in {@link Ruled}. */
export interface Planning<Args extends object, Data, Todo> {
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
export async function planTold<Args extends object, Data, Todo>(
  session: Session,
  { tool, args, call, isKept }: Planning<Args, Data, Todo>,
): Promise<Plan<Data, Todo>> {
  if (!isKept) return tool.plan(args, call);
  let plan: Plan<Data, Todo>;
  try {
    plan = await tool.plan(args, call);
  } catch (error) {
    await permit(session, tool, call.locations, call);
    throw error;
  }
  if (plan.settled !== undefined) await permit(session, tool, call.locations, call);
  return plan;
}

/** A rule wants the call to be asked about. */
const RULED_ASK: Verdict = {
  decision: "ask",
  source: "rules",
  question: "A rule wants this to be asked about.",
};

/**
 * Continues the decision about a call after the rules, and returns the approver to ask; undefined when the call
 * needs no approval.
 * @param confirm the approver of the tool
 * @param ruled the decision of the policy and the rules
 * @param between the sources between the rules and the approvals that last
 * @throws FilewrightError APPROVAL_DENIED
 */
function approverOf(
  session: Session,
  tool: string,
  locations: readonly Location[],
  confirm: Confirm | undefined,
  ruled: Verdict,
  between: readonly DecisionSource[] = [],
): Confirm | undefined {
  const sources = [
    ...between,
    approvalsSource(session.approvals, rootsOf(locations)),
    approverSource(confirm),
  ];
  const verdict = decide(sources, { tool, args: {}, places: [], effects: [] }, ruled);
  return mustAsk(verdict) ? confirm : undefined;
}

/**
 * Returns the approver to ask about a change; undefined when it needs no approval.
 * @param places the places that it writes and that need an approval
 * @throws FilewrightError APPROVAL_DENIED
 */
export function approverOfChange(
  session: Session,
  tool: string,
  locations: readonly Location[],
  ruled: Verdict,
  places: readonly AskedPlace[],
): Confirm | undefined {
  const confirm = session.confirmFor(tool);
  const asks = session.requireApproval || confirm !== undefined;
  return approverOf(session, tool, locations, confirm, ruled, [
    defaultSource(asks ? "ask" : undefined),
    placesSource(places, confirm),
  ]);
}

/** Returns what decides about a change in this workspace, in its order, as `access_info` prints it. */
export function sourcesInForce({
  rules,
  prompting,
  requireApproval,
  confirmFor,
}: Session): readonly DecidingSource[] {
  const isAsked = confirmFor("write_file") !== undefined;
  const isApproved = requireApproval || isAsked;
  return [
    "policy",
    ...(rules.isEmpty ? [] : (["rules"] as const)),
    ...(prompting === undefined ? [] : (["grants"] as const)),
    ...(isApproved ? (["default"] as const) : []),
    ...(isAsked ? (["places"] as const) : []),
    ...(isApproved || !rules.isEmpty ? (["approvals", "approver"] as const) : []),
  ];
}

/**
 * Requests the approval of a read, or of an answer that reveals content. The caller checks that a rule
 * requires it.
 */
export async function permit(
  session: Session,
  tool: { readonly name: string; readonly title: string },
  locations: readonly Location[],
  { signal, agent = session.agent }: Partial<Pick<Call, "signal" | "agent">>,
): Promise<void> {
  const { approvals, notify } = session;
  const roots = rootsOf(locations);
  const confirm = approverOf(session, tool.name, locations, session.confirmFor(tool.name), RULED_ASK);
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
      scopes: scopesOf(tool.name, roots, false),
      changes: [],
      digest: digestOf(["filewright read 1", tool.name, locations.map((one) => one.path)]),
      complete: true,
    },
    signal,
  );
  const { outcome } = reply;
  const approval = approvals.remember(reply, tool.name, roots);
  const lasting = approval === undefined ? {} : { approval };
  notifySafely(notify, { type: "approval_answered", tool: tool.name, path, outcome, ...lasting });
  if (outcome === "cancel" || outcome === "modify_with_editor") throw refusedBy(reply);
}
