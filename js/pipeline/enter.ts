/**
 * The steps between checked arguments and the run of a tool. Paths become locations, rules decide,
 * directories are granted, and an approval is requested for reads that need one. The content that
 * the call is about is neither read nor changed here.
 */
import { otherNamesOf } from "../backends/fallback/fallback.ts";
import type { Files } from "../backends/files.ts";
import {
  decide,
  type DecisionSource,
  type Intent,
  type Location,
  placeOf,
  type Verdict,
} from "../policy/index.ts";
import { countRulesOfCall, type OnRule } from "../policy/rules.ts";
import { debug } from "../engine/debug.ts";
import { FilewrightError } from "../engine/errors.ts";
import { STEPS_PER_YIELD_CHECK, Yielder } from "../engine/yielder.ts";
import { mustAsk } from "../hooks/approvals.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import { type AnyTool, CANONICAL_NAMES, type Call, type PathUse, type Progress } from "../tools/lib/tool.ts";
import { newCallId } from "../log/index.ts";
import type { SeenFiles } from "../tools/lib/seen.ts";
import { historyForCaller } from "./past/caller-history.ts";
import {
  HAS_LOOK_ALIKES,
  type LookAlikeContext,
  mayCreate,
  replacementForMissingPath,
  refuseLookAlikes,
  readableRoots,
} from "./paths/look-alikes.ts";
import { assertPlainPaths, UNUSUAL_PATH } from "./paths/path-forms.ts";
import { hasLastingApproval, requestApproval, type RuleResult } from "./permit.ts";
import { factsOfReachedPaths } from "./reach.ts";
import type { Session } from "./session.ts";
import { decisionSourcesInForce } from "./sources.ts";
import { nameCallPaths } from "./staged.ts";
import type { ViewRequest } from "./views.ts";
import { TOOL_FOR_ACCESS } from "../schema/tool-facts.ts";

/** The options of a call, in addition to its arguments. */
export interface CallOptions {
  /** Ends the call, with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the progress of a call over many files. */
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** The caller, with its own record of reads and its own lines in logs. Default: the workspace's `agent`. */
  readonly agent?: string | undefined;
  /** The host's own record of the call, handed to hooks. */
  readonly toolCall?: unknown;
  /**
   * The turn of the call: the agent's work on one request of its user, with which an approval for a turn ends. Default:
   * one turn until the caller has made no call for ten minutes.
   */
  readonly turn?: string | undefined;
}

/** The options of a call with what the pipeline adds when the call begins. */
export interface BegunCallOptions extends CallOptions {
  /** The caller; undefined for one without a name. */
  readonly agent: string | undefined;
  /** The id under which the history records the call; empty for one that only reads. */
  readonly callId: string;
  /** Empty where no approval can be asked for, so that none ends with the turn. */
  readonly turn: string;
  /** Counts a rule that decides about the call; undefined for a workspace without rules. */
  readonly onRule: OnRule | undefined;
}

/** Returns the options of a call that begins now. `callId` is the id that it already has. */
export function beginCall(
  { gates: { approvals, hasTurns, rules }, caller: { agent: own } }: Pick<Session, "gates" | "caller">,
  { kind }: Pick<AnyTool, "kind">,
  options: CallOptions,
  callId?: string,
): BegunCallOptions {
  const agent = options.agent ?? own;
  const { signal, onProgress, toolCall } = options;
  return {
    signal,
    onProgress,
    toolCall,
    agent,
    callId: kind === "read" ? "" : callId || newCallId(),
    turn: hasTurns ? approvals.turn(agent, options.turn) : "",
    onRule: rules.isEmpty ? undefined : countRulesOfCall(),
  };
}

/** The paths of a call, added as they are checked, so that a failure can name them. */
interface CallPaths {
  readonly uses: PathUse[];
  readonly locations: Location[];
}

/** A call whose arguments are checked. */
export interface CheckedCall extends CallPaths {
  readonly tool: AnyTool;
  readonly args: object;
  /** The number of the call among the answers about grants: a refusal with a later number applies to it. */
  readonly began: number;
  readonly options: BegunCallOptions;
  /** The canonical call that a call of a preset stands for. */
  readonly meant: CanonicalCall | undefined;
  /** Storage in place of the workspace's, for example the overlay of a batch. */
  readonly storage: Files | undefined;
}

/** A call about which the sources decide. */
interface JudgedCall extends CheckedCall {
  readonly session: Session;
  readonly sources: readonly DecisionSource[];
}

/** A call whose paths are checked and granted. The approval of a change is requested later. */
export interface AdmittedCall extends RuleResult {
  readonly call: Call;
  /** Returns other storage, such as an overlay, as this call may see it; by default the workspace's. */
  view(storage?: Files): Files;
}

/** Resolves the paths of a call, and applies rules and grants. */
export async function admitCall(session: Session, checked: CheckedCall): Promise<AdmittedCall> {
  const { tool, args, uses, locations, options } = checked;
  const judged: JudgedCall = { session, sources: session.gates.sources(tool.name), ...checked };
  const isOdd = await resolvePaths(session, tool.paths(args), checked, options.signal);
  if (session.staging.stage !== undefined) nameCallPaths(session, checked);
  if (isOdd) await refuseOddPaths(judged);
  const ruled = session.gates.rules.isEmpty ? NOT_RULED : await decideByRules(judged);
  if (session.gates.permissions !== undefined) {
    for (const [index, use] of uses.entries()) await assertGranted(judged, use, locations[index] as Location);
  }
  if (tool.kind === "read" && ruled.decision === "ask")
    await requestApproval(session, tool, locations, { ...requester(options), uses });
  const isKept = ruled.decision === "ask" && (await keepsContent(judged));
  const seeing = session.gates.rules.isEmpty
    ? seesEveryPath(judged)
    : pathVisibilityOf(judged, mayAskFurther(judged, ruled) && !(await hasLasting(judged)));
  const memory = session.past.reads.of(options.agent);
  // Avoids waiting when the record is already loaded.
  const seen = memory instanceof Promise ? await memory : memory;
  const call = makeCall(judged, { seeing, seen });
  return { call, sources: judged.sources, ruled, isKept, view: seeing.view };
}

/** Refuses a path in a form that is not supported, and one that would make an entry which looks like another. */
async function refuseOddPaths({ session, tool, args, uses, locations, storage }: JudgedCall): Promise<void> {
  // The refusal must not reveal paths that a rule hides from the call.
  const context = lookAlikeContext(session, tool.name, args, storage);
  await assertPlainPaths(uses, locations, { ...context, paths: session.files.resolver.policy.paths });
  await refuseLookAlikes(uses, locations, context);
}

/** Returns true for a read about which rules may ask again, for a path that the arguments do not name. */
function mayAskFurther({ session, tool, args }: JudgedCall, { decision }: Verdict): boolean {
  if (tool.kind !== "read" || decision === "ask") return false;
  return session.gates.rules.forCall(tool.name, args).mayReach("/", ["ask"]);
}

/** Returns true when an approval that was given before covers the call. */
function hasLasting({
  session,
  sources,
  tool,
  uses,
  locations,
  options,
  storage,
}: JudgedCall): Promise<boolean> {
  const call = { fs: storage ?? session.files.fs, locations, about: options };
  return hasLastingApproval(session, sources, { tool, uses, call });
}

/** Returns the context for look-alikes. It hides the paths that a rule hides from the call. */
export function lookAlikeContext(
  session: Session,
  tool: string,
  args: object,
  storage?: Files,
): LookAlikeContext {
  const fs =
    storage ??
    session.files.views.of({ rules: session.gates.rules.forCall(tool, args), hidden: ["deny", "ask"] });
  const { policy, display } = session.files.resolver;
  return { fs, cwd: policy.cwd, roots: readableRoots(policy), display };
}

/** Which paths a call may see. */
interface PathVisibility {
  /** The decisions that hide a path. */
  readonly hidden: ViewRequest["hidden"];
  /** True when the answer may lack paths that need an approval. */
  readonly leavesOut: boolean;
  /** Adds paths whose approval was given during the call. */
  approve(paths: readonly string[]): void;
  /** The storage as the call sees it. */
  readonly fs: Files;
  /** Returns other storage, such as an overlay, as the call sees it; by default the workspace's. */
  view(other?: Files): Files;
}

/** Returns what a call sees where no rule hides anything. */
function seesEveryPath({ session: { files }, storage }: JudgedCall): PathVisibility {
  const view = (other = files.fs): Files => other;
  return { hidden: ["deny"], leavesOut: false, approve: () => {}, fs: storage ?? files.fs, view };
}

/**
 * Returns the paths that the rules hide: those that they deny and, for a reading tool, those that
 * need an approval which was not given.
 */
function pathVisibilityOf(judged: JudgedCall, mayAsk: boolean): PathVisibility {
  const { session, tool, args, locations, storage } = judged;
  const rules = session.gates.rules.forCall(tool.name, args);
  const approved: string[] = [];
  // A tool that names no paths in advance requests an approval for each path as it finds it.
  const oneByOne = mayAsk && locations.length === 0;
  const hidden: ViewRequest["hidden"] = mayAsk ? ["deny", "ask"] : ["deny"];
  const request = { rules, hidden, approved: oneByOne ? approved : undefined };
  const { views } = session.files;
  const view = (other?: Files): Files =>
    other === undefined ? views.of(request) : views.over(other, request);
  return {
    hidden,
    leavesOut:
      mayAsk &&
      tool.kind === "read" &&
      tool.traits.includes("searches") &&
      (oneByOne || locations.some((at) => rules.mayReach(at.path, ["ask"]))),
    approve: (paths) => {
      approved.push(...paths);
    },
    fs: view(storage),
    view,
  };
}

/**
 * Resolves the paths of a call, between many of which other tasks may run. Returns true when the form of one must be
 * checked, or whether an entry looks like it. @throws CANCELLED
 */
async function resolvePaths(
  session: Session,
  asked: readonly PathUse[],
  { uses, locations }: CallPaths,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const yielder = asked.length < STEPS_PER_YIELD_CHECK ? undefined : new Yielder({ signal });
  const { resolver } = session.files;
  let isOdd = false;
  for (const use of asked) {
    const { typed } = use;
    uses.push(use);
    try {
      locations.push(resolver.resolve(typed, use.intent));
    } catch (error) {
      throw namingArgument(error, use);
    }
    isOdd ||= UNUSUAL_PATH.test(typed) || (HAS_LOOK_ALIKES.test(typed) && mayCreate(use));
    if (uses.length % STEPS_PER_YIELD_CHECK === 0) await yielder?.yieldIfDue();
  }
  return isOdd;
}

/** Returns the error of a path with the name of its argument. */
function namingArgument(error: unknown, { argument, typed }: PathUse): unknown {
  if (!(error instanceof FilewrightError) || error.code !== "INVALID_ARGUMENT") return error;
  return new FilewrightError("INVALID_ARGUMENT", `Invalid argument '${argument}': ${error.message}.`, {
    complete: true,
    path: typed,
    details: { argument },
  });
}

/** A call, or a further path of one, about which the policy and the rules decide. */
type Ruling = Omit<JudgedCall, "tool" | "uses" | "locations" | "began" | "meant"> & {
  readonly tool: Pick<AnyTool, "name">;
  readonly uses: readonly Pick<PathUse, "entry" | "tree" | "writesThrough" | "effects">[];
  readonly locations: readonly Location[];
};

/** The decision where there are no rules. What the policy refuses has no location, and makes no call. */
const NOT_RULED: Verdict = Object.freeze({ decision: "allow", source: "none" });

/** Returns the decision of the policy and of rules. @throws FilewrightError APPROVAL_DENIED for a denial */
async function decideByRules(ruling: Ruling): Promise<Verdict> {
  const { session, sources, args, uses, locations, options } = ruling;
  const { rules } = session.gates;
  const { fs: disk } = session.files;
  const { signal, onRule } = options;
  const tool = ruling.tool.name;
  const fs = ruling.storage ?? disk;
  const facts = await factsOfReachedPaths({ fs, disk, rules, tool, args, uses, locations, signal });
  const verdict = decide(sources, { ...facts, onRule }, { step: "paths" });
  debug.policy?.(`${tool}: ${verdict.decision} by ${verdict.source}`);
  // The refusal comes before any read, so that it cannot reveal the content.
  mustAsk(verdict);
  return verdict;
}

/** Returns true for a change that reaches a path which may not be read, or only with an approval. */
async function keepsContent({
  session,
  sources,
  tool,
  uses,
  locations,
  options,
  storage,
}: JudgedCall): Promise<boolean> {
  if (tool.kind !== "change") return false;
  const { fs: disk } = session.files;
  const facts = await factsOfReachedPaths({
    fs: storage ?? disk,
    disk,
    rules: session.gates.rules,
    tool: TOOL_FOR_ACCESS.read,
    args: {},
    uses: uses.map(({ effects: _, ...use }) => use),
    locations,
    signal: options.signal,
  });
  return decide(sources, facts, { step: "paths" }).decision !== "allow";
}

/** Checks that a grant covers a path, and asks for one where somebody can be asked. @throws FilewrightError GRANT_DENIED and others */
async function assertGranted(
  { session, sources, tool, began, options }: JudgedCall,
  { intent, entry = false }: Pick<PathUse, "intent" | "entry">,
  at: Location,
): Promise<void> {
  const { signal, agent } = options;
  const { secret } = session.files.resolver;
  const { grantSecrets } = session.files.views;
  const wanted = { at, intent, entry, tool: tool.name, began, secret, grantSecrets, agent, sources };
  await session.gates.permissions?.admit(session.files.fs, wanted, signal);
}

/** Returns true while grants cover a path, or none are needed. Nobody is asked. */
async function isGranted(
  { session, tool, began, options: { agent } }: JudgedCall,
  at: Location,
  intent: Intent,
): Promise<boolean> {
  const { secret } = session.files.resolver;
  const wanted = { at, intent, entry: false, tool: tool.name, began, secret, agent };
  const facts = (await session.gates.permissions?.facts(session.files.fs, wanted)) ?? [];
  return facts.every(({ state }) => state === "granted");
}

/** Returns who asks for an approval. */
function requester(options: BegunCallOptions): Parameters<typeof requestApproval>[3] {
  return { about: options, signal: options.signal, onProgress: options.onProgress };
}

/** What a call sees of the files, and has seen. */
interface Sight {
  readonly seeing: PathVisibility;
  readonly seen: SeenFiles;
}

/** The timer of a call without a time limit. */
const NO_TIMER: Call["timer"] = Object.freeze({ timeLeft: undefined, untimed: undefined });

function makeCall(judged: JudgedCall, { seeing, seen }: Sight): Call {
  const { session, tool, locations, options, meant } = judged;
  const { files, settings, commands } = session;
  return {
    about: {
      // An operation of a batch has the id of the batch, also where it only reads.
      callId: tool.kind === "read" ? "" : options.callId,
      agent: options.agent,
      turn: options.turn,
      isUnreviewed: false,
      allowedBy: undefined,
    },
    fs: seeing.fs,
    commit: undefined,
    locations,
    reach: reachOf(judged, seeing),
    reader: {
      names: meant?.names ?? CANONICAL_NAMES,
      display: files.resolver.display,
      brief: meant?.brief === true,
      coversRoots: meant?.fixedText !== true,
      excludeLines: meant?.excludeLines,
      refusesOmissions: meant?.fixedText !== true,
      onProgress: options.onProgress,
    },
    settings: {
      commands: commands.sandbox,
      ...settings,
      ignoreFiles: meant?.ignoreFiles?.(settings.ignoreFiles) ?? settings.ignoreFiles,
    },
    seen,
    past: () => historyForCaller(session, options.agent),
    signal: options.signal,
    timer: NO_TIMER,
  };
}

/** Returns what a call may reach beyond the paths that it named at its beginning. */
function reachOf(judged: JudgedCall, seeing: PathVisibility): Call["reach"] {
  const { session, tool, args, options, meant, storage } = judged;
  const { files, gates } = session;
  return {
    async locate(typed, intent) {
      const at = files.resolver.resolve(typed, intent);
      const ruled = gates.rules.isEmpty
        ? NOT_RULED
        : await decideByRules({ ...judged, uses: [], locations: [at] });
      if (ruled.decision === "ask" && tool.kind === "read") {
        await requestApproval(session, tool, [at], requester(options));
        const real = (await placeOf(storage ?? files.fs, at, false)).slice(-1);
        // What may be read under one name may be read under each.
        seeing.approve([...real, ...(await otherNamesOf(files.fs, at.path))]);
      }
      await assertGranted(judged, { intent }, at);
      return at;
    },
    found: files.resolver.resolve,
    isGranted: (at, intent) => isGranted(judged, at, intent),
    // The texts of presets look files up by the requested paths, so these must not be replaced.
    alike:
      meant === undefined && tool.kind === "read"
        ? (typed, at) =>
            replacementForMissingPath(typed, at, lookAlikeContext(session, tool.name, args, storage), true)
        : undefined,
    grants: async () => (await gates.permissions?.list()) ?? [],
    decidedBy: () => decisionSourcesInForce(session),
    summary: files.access,
    mayTell: (path) => mayShowPath(judged, seeing.hidden, path),
    leavesOut: seeing.leavesOut,
  };
}

/**
 * Returns true when the answer may show a path that the call does not name: neither the policy nor a rule hides
 * it.
 */
function mayShowPath(
  { sources, tool, args }: JudgedCall,
  hidden: ViewRequest["hidden"],
  path: string,
): boolean {
  const facts = { tool: tool.name, args, places: [[path]], effects: [], unchecked: [path] };
  const { decision, source } = decide(sources, facts, { step: "paths" });
  return source === "policy" ? decision !== "deny" : !hidden.includes(decision);
}
