/**
 * Requests approvals for reads, and for changes that fail or are only tried, because their answers
 * reveal content.
 */
import type { Files } from "../backends/files.ts";
import {
  type CallFacts,
  decide,
  type DecisionSource,
  type Location,
  type PathForms,
  type Verdict,
} from "../policy/index.ts";
import { escapeControls } from "../engine/escape.ts";
import { nameOf } from "../backends/paths.ts";
import type { AllowedBy } from "../backends/transaction/step.ts";
import { mustAsk } from "../hooks/approvals.ts";
import { askReviewer, type CallQuestion } from "../hooks/asking.ts";
import { approvesCall, type Confirm, refusedBy } from "../hooks/confirm.ts";
import { digestOfParts } from "../hooks/question.ts";
import type { Call, PathUse, Plan } from "../tools/lib/tool.ts";
import type { MetaApproval } from "./result.ts";
import { realPathOf } from "../policy/grant-paths.ts";
import { type CommandInput, exactCommandOf, rootsContaining } from "./command.ts";
import type { ReviewableChange } from "./review.ts";
import { effectsOfCall } from "./reach.ts";
import type { Session } from "./session.ts";
import { asksUndecided } from "./sources.ts";
import type { PlaceToApprove } from "./written-places.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";

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

/**
 * Plans a change whose content the rules hide from the call. A failure reveals content, and so does a plan with nothing
 * to do, such as a dry run: an approval is requested first.
 * @throws FilewrightError APPROVAL_DENIED, and as the plan does
 */
export async function planWithApprovalToReveal(
  session: Session,
  { tool, args, uses, call }: ReviewableChange,
): Promise<Plan<unknown>> {
  let plan: Plan<unknown>;
  try {
    plan = await tool.plan(args, call);
  } catch (error) {
    await requestApproval(session, tool, call.locations, { ...requesterOf(call), uses, args });
    throw error;
  }
  if (plan.kind === "settled")
    await requestApproval(session, tool, call.locations, { ...requesterOf(call), uses, args });
  return plan;
}

/** The decision that an approval is needed because of a rule. */
const ASK_BY_RULE_VERDICT: Verdict = {
  decision: "ask",
  source: "rules",
  question: "A rule wants this to be asked about.",
};

/** The facts of a call by which an approval covers it: each path in its real forms, and all that it does. */
export type ApprovalFacts = Pick<CallFacts, "tool" | "places" | "effects"> & {
  readonly caller: NonNullable<CallFacts["caller"]>;
};

/** A call that an approval may cover. */
export interface ApprovableWork extends CommandInput {
  readonly uses: readonly PathUse[];
  readonly call: Pick<Call, "fs" | "locations"> & {
    readonly about: Pick<Call["about"], "agent" | "turn">;
    readonly signal?: AbortSignal | undefined;
  };
}

/** The way in which a person decides about a call that nothing denies. */
export interface PersonalDecision {
  /** The approver to ask before the call; undefined when it needs no approval. */
  readonly approver: Confirm | undefined;
  /** True for a change that goes ahead without a question and is unreviewed until a person keeps it. */
  readonly isUnreviewed: boolean;
  /** The reason why the call needs no question; undefined where one is asked, and where the workspace never asks. */
  readonly allowedBy: AllowedBy | undefined;
}

/** A call that the rules and the grants have decided about. */
export interface RuledCall {
  /** The sources of the workspace. */
  readonly sources: readonly DecisionSource[];
  readonly tool: string;
  /** The decision of the policy and the rules. */
  readonly ruled: Verdict;
  /** The facts by which an approval covers the call; without them none does. */
  readonly covering: ApprovalFacts | undefined;
  /** The places that the call writes and that need an approval. */
  readonly asked: readonly PlaceToApprove[];
}

/**
 * Continues the decision about a call after the rules and the grants, and returns who decides about it when.
 * @throws FilewrightError APPROVAL_DENIED
 */
export function decidePersonally(
  session: Session,
  { sources, tool, ruled, covering, asked }: RuledCall,
): PersonalDecision {
  const { places = [], effects = [], caller } = covering ?? {};
  const writesAskedPlace = asked.length > 0;
  const facts = { tool, args: {}, places, effects, caller, writesAskedPlace };
  const verdict = decide(sources, facts, { step: "approval", before: ruled });
  if (caller !== undefined && (verdict.decision === "ask" || verdict.source === "approvals"))
    session.gates.approvals.note({ tool, places, effects, ...caller });
  if (mustAsk(verdict))
    return { approver: session.gates.confirmFor(tool), isUnreviewed: false, allowedBy: undefined };
  const isUnreviewed = verdict.decision === "allow" && verdict.review === true;
  return { approver: undefined, isUnreviewed, allowedBy: allowedByVerdict(verdict) };
}

function allowedByVerdict(verdict: Verdict): AllowedBy | undefined {
  if (verdict.decision !== "allow") return undefined;
  if (verdict.review === true) return ALLOWED_FOR_REVIEW;
  if (verdict.approval !== undefined) {
    const { id, covers, by } = verdict.approval;
    return withoutUndefined({ kind: "approval" as const, approval: { id, covers }, by });
  }
  return verdict.source === "rules" ? ALLOWED_BY_RULE : undefined;
}

const ALLOWED_FOR_REVIEW: AllowedBy = Object.freeze({ kind: "review" });
const ALLOWED_BY_RULE: AllowedBy = Object.freeze({ kind: "rule" });

/** Returns the reason of a call that an answer allowed. */
export function allowedByAnswer({ by }: Pick<MetaApproval, "by">): AllowedBy {
  return withoutUndefined({ kind: "answer" as const, by });
}

/**
 * Reads the approvals of other processes, and the facts by which an approval covers a call; undefined for a call that
 * needs none. `asked` is as in {@link RuledCall}.
 */
export function approvalFactsIfNeeded(
  session: Session,
  work: ApprovableWork,
  ruled: Verdict,
  asked: readonly PlaceToApprove[],
): Promise<ApprovalFacts> | undefined {
  const asksByDefault =
    ruled.source === "none" && asksUndecided(session, session.gates.confirmFor(work.tool.name));
  if (ruled.decision !== "ask" && asked.length === 0 && !asksByDefault) return undefined;
  return approvalFactsOf(session, work);
}

async function approvalFactsOf(
  { gates: { approvals } }: Session,
  work: ApprovableWork,
): Promise<ApprovalFacts> {
  await approvals.refresh?.();
  const { tool, uses, call } = work;
  const { fs, locations, signal } = call;
  const { agent, turn } = call.about;
  const places: PathForms[] = [];
  for (const [index, { path }] of locations.entries()) {
    const { entry = false, belowReplaced, writesThrough = false } = uses[index] ?? {};
    const real = async (of: boolean): Promise<string> =>
      belowReplaced === true ? path : realPathOf(fs, path, of).catch(() => path);
    const own = await real(entry);
    places.push(writesThrough ? [own, await real(false)] : [own]);
  }
  const effects = await effectsOfCall({ fs, uses, locations, signal }, places);
  const command = await exactCommandOf(work);
  return { tool: tool.name, places, effects, caller: { agent, turn, command } };
}

/** Returns true when a lasting approval already covers a call that the rules would ask about. */
export async function hasLastingApproval(
  session: Session,
  sources: readonly DecisionSource[],
  work: ApprovableWork,
): Promise<boolean> {
  const facts = { args: {}, ...(await approvalFactsOf(session, work)) };
  return decide(sources, facts, { step: "approval", before: ASK_BY_RULE_VERDICT }).decision === "allow";
}

/** The caller of a read that needs an approval, and how the call uses its paths. */
interface Requester {
  readonly about: Pick<Call["about"], "agent" | "turn">;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: Call["reader"]["onProgress"];
  /** The files that the call sees. Default: those of the workspace. */
  readonly fs?: Files;
  readonly uses?: readonly PathUse[];
  /** The arguments of a change. */
  readonly args?: object;
}

/** Returns the caller of a call that has begun. */
export function requesterOf({ about, signal, fs, reader }: Call): Requester {
  return { about, signal, fs, onProgress: reader.onProgress };
}

/**
 * Requests the approval of a read, or of an answer that reveals content. The caller checks that a rule
 * requires it.
 */
export async function requestApproval(
  session: Session,
  tool: CommandInput["tool"] & { readonly title: string },
  locations: readonly Location[],
  { signal, about, onProgress, fs = session.files.fs, uses = [], args }: Requester,
): Promise<void> {
  const { approvals, notify } = session.gates;
  const roots = rootsContaining(locations);
  const { agent, turn } = about;
  const call = { fs, locations, about, signal };
  const covering = await approvalFactsOf(session, { tool, args, uses, call });
  const asked = { tool: tool.name, roots, command: covering.caller.command };
  const sources = session.gates.sources(tool.name);
  const { approver: confirm } = decidePersonally(session, {
    sources,
    tool: tool.name,
    ruled: ASK_BY_RULE_VERDICT,
    covering,
    asked: [],
  });
  if (confirm === undefined) return;
  const [at] = locations;
  const [path, title] = [at?.path ?? "", escapeControls(`${tool.title}: ${at?.typed ?? tool.name}`)];
  const question: CallQuestion["question"] = withoutUndefined({
    type: "info" as const,
    title,
    tool: tool.name,
    fileName: at === undefined ? "" : nameOf(at.path),
    fileDiff: "",
    originalContent: null,
    newContent: null,
    path,
    paths: locations.map((one) => one.path),
    risk: "low" as const,
    agent,
    turn,
    hasProgress: onProgress === undefined ? undefined : true,
    scopes: approvals.offer(asked, []),
    changes: [],
    digest: digestOfParts(["filewright read 1", tool.name, locations.map((one) => one.path)]),
    complete: true,
  });
  const reply = await askReviewer(
    { confirm, approvals, notify },
    { asked: { ...asked, turn }, title, question },
    signal,
  );
  if (!approvesCall(reply)) throw refusedBy(reply);
}
