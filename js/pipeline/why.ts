/**
 * Explains the decision about a call, gate by gate: each states its decision, in the order in which calls pass them. The
 * gates are those of calls: the resolver of paths, and the decision sources of the workspace, consulted step by step by
 * the same `decide`. There is no question, only the facts for the decision are read, and no hook runs.
 */
import { displayPath } from "../backends/windows-paths.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import { realPathOf } from "../policy/grant-paths.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  type CallFacts,
  decide,
  type DecisionSource,
  type Grant,
  type Location,
  type NamedSource,
  type Verdict,
} from "../policy/index.ts";
import { DECISION_ORDER, type DecisionStep } from "../policy/decide.ts";
import type { PathGate, Resolver } from "../policy/resolve.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { anything, mapOf, optionChecker, type Options, options, required, text } from "../schema/option.ts";
import type { AnyTool, PathUse } from "../tools/lib/tool.ts";
import { factsOfReachedPaths } from "./reach.ts";
import { exactCommandOf } from "./command.ts";
import type { Session } from "./session.ts";
import { checkWrittenPlaces } from "./written-places.ts";

/** A call to explain: a tool on one path. */
export interface WhyQuestion {
  /** The canonical name of the tool. */
  readonly tool: string;
  /** The path, as a call would name it. */
  readonly path: string;
  /** The arguments, for rules that test them. Default: those that such a rule does not know. */
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  /** The caller. Default: the agent of the workspace. */
  readonly agent?: string | undefined;
  /** The turn of the call, as in the options of a call. */
  readonly turn?: string | undefined;
}

/** The name of a gate: a check of the policy, or a source of decisions. */
export type GateName =
  | PathGate
  | "secret"
  // Each check of the policy is a gate of its own, and a framework asks before the call.
  | Exclude<NamedSource, "framework" | "policy">;

/** One gate of a call. */
export interface WhyGate {
  /** The name of the gate. */
  readonly gate: GateName;
  /**
   * `passes`: the gate changes nothing. `allows` and `asks`: it decides so. `stops`: the call is refused here. `depends`:
   * it decides by what is known only during the call. `not reached`: an earlier gate stopped the call.
   */
  readonly verdict: "passes" | "allows" | "asks" | "stops" | "depends" | "not reached";
  /** The reason, in one sentence; absent for a gate that changes nothing. */
  readonly because?: string;
  /** The options that configure the gate. */
  readonly configured: string;
  /** The directories and secrets that the gate `grants` misses and that `ws.grants.add` can grant; absent for none. */
  readonly missing?: readonly Pick<Grant, "dir" | "access">[];
}

/**
 * The options of `ws.why`.
 *
 * @printed
 */
export const WHY_OPTIONS: Options<WhyQuestion> = options("WhyQuestion", {
  tool: required(text()),
  path: required(text()),
  args: mapOf(anything()),
  agent: text(),
  turn: text(),
});

/** Checks a question to `ws.why`. @throws FilewrightError INVALID_ARGUMENT for an invalid one */
export const checkWhyQuestion: (given: unknown) => WhyQuestion = optionChecker("why", WHY_OPTIONS);

/** The checks of a path, in their order. */
const PATH_GATES: readonly PathGate[] = ["read-only", "root", "deny", "protected", "temporary"];

/** The options that configure each gate. */
const CONFIGURED: Readonly<Record<GateName, string>> = {
  hooks: "hooks",
  "read-only": "readOnly, access.readOnly",
  root: "root, roots, access.read, access.write, access.followSymlinks",
  deny: "access.deny, permissions.grantsFile, stateDir",
  protected: "access.protect, access.places",
  temporary: "none: names of Filewright's own files",
  rules: "rules",
  secret: "access.secrets, access.places, permissions",
  grants: "permissions",
  default: "confirm, requireApproval, review, hooks",
  places: "access.places",
  approvals: "approvals, the answers of reviewers",
  approver: "confirm, hooks",
  guard: "guard, preset",
};

/** What a gate says about a call. */
interface Finding {
  readonly verdict: WhyGate["verdict"];
  readonly because?: string | undefined;
  /** Where the gate is configured; absent for all of its options. */
  readonly configured?: string;
  readonly missing?: WhyGate["missing"];
}

const PASSES: Finding = { verdict: "passes" };

/** The names of all gates, in the order in which calls pass them. */
const GATES: readonly GateName[] = Object.keys(CONFIGURED) as GateName[];

/** A decision that is explained, by the findings of its gates; after one that stops the call none is reached. */
class Explanation {
  readonly #session: Session;
  readonly #found: WhyGate[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  tell(gate: GateName, { verdict, because, configured = CONFIGURED[gate], missing = [] }: Finding): void {
    if (this.#found.at(-1)?.verdict === "stops") return;
    const more = withoutUndefined({ because, missing: missing.length === 0 ? undefined : missing });
    this.#found.push({ gate, verdict, configured, ...more });
  }

  /** Consults the sources of a step about each of some facts; they leave the decision where there are none. */
  consult(step: DecisionStep, call: KnownCall, about: readonly CallFacts[], before: Verdict): Verdict {
    let verdict = before;
    for (const source of this.#session.gates.sources(call.tool.name)) {
      const { name } = source;
      // The gates of the policy are those of the path.
      if (DECISION_ORDER[name] !== step || name === "policy" || name === "framework") continue;
      const earlier = verdict;
      for (const facts of about) verdict = decide([source], facts, { before: verdict });
      this.tell(name, verdict === earlier ? PASSES : findingOf(this.#session, call, name, verdict));
    }
    return verdict;
  }

  /** Returns the findings of the gates, and the gates that are not reached. */
  gates(): readonly WhyGate[] {
    const further = GATES.slice(this.#found.length).map((gate): WhyGate => {
      return { gate, verdict: "not reached", configured: CONFIGURED[gate] };
    });
    return Object.freeze([...this.#found, ...further]);
  }
}

/** Returns every gate of a call in order, with its verdict. */
export async function explainDecision(
  session: Session,
  tool: AnyTool,
  question: WhyQuestion,
): Promise<readonly WhyGate[]> {
  const explained = new Explanation(session);
  const runs = session.hooks.bound.some(({ hook }) => hook.stage === "before");
  explained.tell("hooks", runs ? { verdict: "depends", because: "A hook may refuse the call." } : PASSES);
  const located = await locate(session, tool, question.path);
  const refused = "refusal" in located ? located : undefined;
  for (const gate of PATH_GATES) {
    const stops = refused?.gate === gate;
    explained.tell(gate, stops ? { verdict: "stops", because: refused?.refusal.message } : PASSES);
  }
  if ("refusal" in located) return explained.gates();
  const call = await factsOf(session, tool, question, located);
  const { facts, personal, grants } = call;
  const ruled = explained.consult("paths", call, [facts], { decision: "allow", source: "none" });
  explained.tell("secret", secretFinding(session, call));
  const needed = grants.map((grant) => ({ ...facts, grant }));
  // A directory is asked about on its own: its answer is no approval of the call.
  explained.consult("grants", call, needed, ruled);
  const isAsked = tool.kind !== "read" || ruled.decision === "ask";
  explained.consult("approval", call, isAsked ? [personal] : [], ruled);
  explained.tell("guard", guardFinding(session, call));
  return explained.gates();
}

/** A call as far as it is known before it is made. */
interface KnownCall {
  readonly tool: AnyTool;
  /** What the rules decide by. */
  readonly facts: CallFacts;
  /** What all that comes after them decides by. */
  readonly personal: CallFacts;
  readonly grants: readonly NonNullable<CallFacts["grant"]>[];
  /** True for a read of a secret. */
  readonly isSecret: boolean;
}

/** Returns the facts of a call. */
async function factsOf(
  session: Session,
  tool: AnyTool,
  question: WhyQuestion,
  { at, real, isAskedPlace }: LocatedPath,
): Promise<KnownCall> {
  const { approvals, rules } = session.gates;
  const { fs } = session.files;
  const agent = question.agent ?? session.caller.agent;
  const uses = [pathUseOf(tool, question.path)];
  const named = { tool: tool.name, args: question.args ?? {} };
  const reached = { fs, disk: fs, rules, uses, ...named, locations: [at], signal: undefined };
  const facts = await factsOfReachedPaths(reached);
  // Without its arguments the command is not known, so that no approval covers it.
  const command = await exactCommandOf({ tool, args: question.args, call: { fs, locations: [at] } });
  const isSecret = tool.kind === "read" && (await readsSecret(session, real));
  const grants = await grantFactsOf(session, tool, at, agent);
  await approvals.refresh?.();
  // The question is no activity of a turn. A call that would begin one is covered by no approval of a turn.
  const caller = { agent, turn: approvals.currentTurn(agent, question.turn) ?? "", command };
  const personal = { ...facts, places: [[real]], caller, writesAskedPlace: isAskedPlace };
  return { tool, facts, personal, grants, isSecret };
}

function guardFinding({ gates: { guard } }: Session, { tool }: KnownCall): Finding {
  if (tool.kind === "read" || guard !== "refuse") return PASSES;
  return { verdict: "depends", because: "A change of content that the agent has not read is refused." };
}

function secretFinding({ gates: { permissions } }: Session, { isSecret }: KnownCall): Finding {
  if (!isSecret || permissions !== undefined) return PASSES;
  return { verdict: "stops", because: "The file is a secret. Reading it needs a grant of its own." };
}

/** Returns what a source that has decided says. */
function findingOf(
  session: Session,
  { tool, facts, grants }: KnownCall,
  name: DecisionSource["name"],
  decided: Verdict,
): Finding {
  const verdict = nameOf(decided);
  if (name === "rules") return { verdict, ...ruleWords(session, facts, decided) };
  if (name === "approvals") return { verdict, because: approvalWords(decided) };
  const because = wordsOf(decided);
  return name === "grants"
    ? { verdict, because, missing: missingGrants(session, tool, grants) }
    : { verdict, because };
}

/** The location of a path and its real path. */
interface LocatedPath {
  readonly at: Location;
  readonly real: string;
  /** True when a change at the path needs an approval because of the place. */
  readonly isAskedPlace: boolean;
}

/** Locates the path of a question, or returns the refusal of it. */
/** A path that the policy refuses, and by which check. */
interface RefusedPath {
  readonly refusal: FilewrightError;
  readonly gate: PathGate;
}

async function locate(session: Session, tool: AnyTool, typed: string): Promise<LocatedPath | RefusedPath> {
  const { resolver, fs } = session.files;
  const { intent, entry = false } = pathUseOf(tool, typed);
  let path = typed;
  try {
    const at = resolver.resolve(typed, intent);
    const real = await realPathOf(fs, at.path, entry).catch((error: unknown) => {
      // Where a link leads is checked by the storage; what cannot be resolved fails in the call itself.
      if (error instanceof FilewrightError && !LINK_REFUSALS.has(error.code)) return at.path;
      throw error;
    });
    // The storage checks the real path, too, by the same rules.
    path = real;
    resolver.resolve(real, intent);
    // A place that no call may write is refused here, and one that needs an approval is reported.
    return { at, real, isAskedPlace: tool.kind !== "read" && (await writesAskedPlace(session, real)) };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    return { refusal: error, gate: gateOf(resolver, path, intent) };
  }
}

/** Returns the check that refuses a path. Where none of those of the policy does, the first of them is reported. */
function gateOf(resolver: Resolver, path: string, intent: PathUse["intent"]): PathGate {
  try {
    return resolver.gateOf(path, intent) ?? "root";
  } catch {
    return "root"; // It is no path.
  }
}

/** The error codes with which the storage refuses a link that leads to a path that the policy does not allow. */
const LINK_REFUSALS: ReadonlySet<string> = new Set(["OUTSIDE_ALLOWED", "PROTECTED_PATH"]);

function pathUseOf({ kind, traits }: AnyTool, typed: string): PathUse {
  const intent = kind === "read" ? "read" : "write";
  return { argument: "path", typed, intent, missing: "accept", entry: traits.includes("actsOnLinks") };
}

async function readsSecret({ files: { resolver, fs } }: Session, real: string): Promise<boolean> {
  return resolver.secret(real) && (await lstatOrNull(fs, real).catch(() => null))?.isFile === true;
}

async function grantFactsOf(
  { gates, files }: Session,
  tool: AnyTool,
  at: Location,
  agent: string | undefined,
): Promise<readonly NonNullable<CallFacts["grant"]>[]> {
  const { permissions } = gates;
  if (permissions === undefined) return [];
  const { secret } = files.resolver;
  const { intent, entry = false } = pathUseOf(tool, at.typed);
  const began = permissions.begin();
  return permissions.facts(files.fs, { at, intent, entry, tool: tool.name, agent, began, secret });
}

/** Returns the directories and secrets without a grant that can be granted, as the caller would write them. */
function missingGrants(
  { files }: Session,
  { kind }: AnyTool,
  grants: KnownCall["grants"],
): NonNullable<WhyGate["missing"]> {
  return grants
    .filter(({ state }) => state === "open" || state === "refused")
    .map(({ path }) => ({
      dir: displayPath(path, files.resolver.policy.paths),
      access: kind === "read" ? "read" : "write",
    }));
}

async function writesAskedPlace(session: Session, path: string): Promise<boolean> {
  const written = [{ path, write: true, tree: false }];
  return (await checkWrittenPlaces(session, written, { fs: session.files.fs, signal: undefined })).length > 0;
}

function nameOf({ decision }: Verdict): WhyGate["verdict"] {
  return decision === "deny" ? "stops" : decision === "ask" ? "asks" : "allows";
}

function wordsOf(verdict: Verdict): string | undefined {
  if (verdict.decision === "deny") return verdict.reason;
  if (verdict.decision === "ask") return verdict.question;
  return verdict.review === true ? "The change is unreviewed until it is kept." : undefined;
}

function approvalWords(verdict: Verdict): string | undefined {
  if (verdict.decision !== "allow" || verdict.approval === undefined) return wordsOf(verdict);
  return `An approval covers it: ${verdict.approval.covers}.`;
}

/** Returns which rule decided: where it is configured, and its decision. */
function ruleWords(
  { gates: { rules } }: Session,
  { tool, args, places }: CallFacts,
  verdict: Verdict,
): Pick<Finding, "configured" | "because"> {
  const own = rules.forCall(tool, args);
  const found = (places.length === 0 ? [[]] : places).flatMap(own.deciding);
  const wanted = verdict.decision === "allow" && verdict.review === true ? "review" : verdict.decision;
  const rule = found.find(({ decision }) => decision === wanted);
  if (rule === undefined) return { because: wordsOf(verdict) };
  const where = `${rule.list === 0 ? "rules" : "rules of the agent"}[${rule.index}]`;
  return { configured: where, because: `${where} says ${rule.decision}.` };
}
