/**
 * Explains the decision about a call, gate by gate, in the order in which calls pass them. The gates are those of
 * calls: the resolver of paths, and the decision sources of the workspace, consulted by the same `decide`. Nobody is
 * asked, nothing is read but what decides, and no hook runs.
 */
import type { ExactCommand } from "../hooks/scope/command.ts";
import { displayPath } from "../backends/windows-paths.ts";
import { entryPathVia, lstatOrNull, realpathVia } from "../backends/fallback/fallback.ts";
import { FilewrightError } from "../engine/errors.ts";
import { type CallFacts, decide, type Grant, type Location, type Verdict } from "../policy/index.ts";
import { gateOfRefusal, type PathGate } from "../policy/resolve.ts";
import { anything, mapOf, optionChecker, type Options, options, required, text } from "../schema/option.ts";
import type { AnyTool, PathUse } from "../tools/lib/tool.ts";

import { factsOfReachedPaths } from "./reach.ts";
import { exactCommandOf } from "./review.ts";
import type { Session } from "./session.ts";
import { decisionSourcesOf } from "./sources.ts";
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
  | "hooks"
  | "rules"
  | "grants"
  | "default"
  | "places"
  | "approvals"
  | "approver"
  | "guard";

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

/** The checks of a path, in their order, with the options that configure them. */
const PATH_GATES: readonly (readonly [gate: PathGate, configured: string])[] = [
  ["read-only", "readOnly, access.readOnly"],
  ["root", "root, roots, access.read, access.write, access.followSymlinks"],
  ["deny", "access.deny, permissions.grantsFile, stateDir"],
  ["protected", "access.protect, access.places"],
  ["temporary", "none: names of Filewright's own files"],
];

/** The gates after those of the path, in the order of `decide`, with the options that configure them. */
const CONFIGURED: Readonly<Record<Exclude<GateName, PathGate>, string>> = {
  hooks: "hooks",
  rules: "rules",
  secret: "access.secrets, access.places, permissions",
  grants: "permissions",
  default: "confirm, requireApproval, review, hooks",
  places: "access.places",
  approvals: "approvals, the answers of reviewers",
  approver: "confirm, hooks",
  guard: "guard, preset",
};

/** Returns every gate of a call in order, with its verdict. */
export async function explainDecision(
  session: Session,
  tool: AnyTool,
  question: WhyQuestion,
): Promise<readonly WhyGate[]> {
  const gates: WhyGate[] = [];
  let isStopped = false;
  const add = (
    gate: GateName,
    verdict: WhyGate["verdict"],
    configured: string,
    because?: string,
    missing: WhyGate["missing"] = [],
  ): void => {
    const reached = isStopped ? "not reached" : verdict;
    gates.push({
      gate,
      verdict: reached,
      ...(because === undefined || reached === "not reached" ? {} : { because }),
      configured,
      ...(missing.length === 0 || reached === "not reached" ? {} : { missing }),
    });
    isStopped ||= verdict === "stops";
  };

  const runs = session.hooks.some(({ hook }) => hook.stage === "before");
  add(
    "hooks",
    runs ? "depends" : "passes",
    CONFIGURED.hooks,
    runs ? "A hook may refuse the call." : undefined,
  );
  const { at, real, refusal, isAskedPlace } = await locate(session, tool, question.path);
  // If the error does not tell which check refused the path, the first of them is reported.
  const stoppedAt = refusal && (gateOfRefusal(refusal) ?? "root");
  for (const [gate, configured] of PATH_GATES) {
    if (stoppedAt === gate) add(gate, "stops", configured, (refusal as FilewrightError).message);
    else add(gate, "passes", configured);
  }

  const sources = decisionSourcesOf(session, tool.name);
  const agent = question.agent ?? session.agent;
  const args = question.args ?? {};
  let facts: CallFacts = { tool: tool.name, args, places: [], effects: [] };
  let command: ExactCommand | undefined;
  let isSecret = false;
  let isPlace = false;
  let grants: Awaited<ReturnType<typeof grantFactsOf>> = [];
  if (at !== undefined && !isStopped) {
    const uses = [pathUseOf(tool, question.path)];
    const { fs, rules } = session;
    facts = await factsOfReachedPaths({
      ...{ fs, disk: fs, rules, uses },
      tool: tool.name,
      args,
      locations: [at],
      signal: undefined,
    });
    // Without its arguments the command is not known, so that no approval covers it.
    const { args: named } = question;
    command = await exactCommandOf({ tool, args: named, call: { fs, locations: [at] } });
    isSecret = tool.kind === "read" && real !== undefined && (await readsSecret(session, real));
    grants = await grantFactsOf(session, tool, at, agent);
    isPlace = isAskedPlace === true;
    await session.approvals.refresh?.();
  }
  // The question is no activity of a turn. A call that would begin one is covered by no approval of a turn.
  const caller = { agent, turn: session.approvals.currentTurn(agent, question.turn) ?? "", command };
  const places = real === undefined ? [] : [[real]];
  let verdict: Verdict = { decision: "allow", source: "none" };
  for (const source of sources) {
    const { name } = source;
    // Hooks and the policy come first, above; an adapter's own question is not a part of the workspace.
    if (name === "hooks" || name === "policy" || name === "framework") continue;
    const configured = CONFIGURED[name];
    if (name === "guard") {
      const looks = tool.kind !== "read" && session.guard === "refuse";
      const because = looks ? "A change of content that the agent has not read is refused." : undefined;
      add(name, looks ? "depends" : "passes", configured, because);
      continue;
    }
    const before: Verdict = verdict;
    if (name === "grants") {
      for (const grant of grants) verdict = decide([source], { ...facts, grant }, { before: verdict });
      if (isSecret && session.permissions === undefined)
        add(
          "secret",
          "stops",
          CONFIGURED.secret,
          "The file is a secret. Reading it needs a grant of its own.",
        );
      else add("secret", "passes", CONFIGURED.secret);
    } else if (name === "rules") verdict = decide([source], facts, { before: verdict });
    else if (tool.kind !== "read" || verdict.decision === "ask")
      verdict = decide(
        [source],
        { ...facts, places, caller, writesAskedPlace: isPlace },
        { before: verdict },
      );
    if (verdict === before) add(name, "passes", configured);
    else if (name === "rules") add(name, nameOf(verdict), ...ruleWords(session, facts, verdict));
    else if (name === "approvals") add(name, nameOf(verdict), configured, approvalWords(verdict));
    else if (name === "grants") {
      add(name, nameOf(verdict), configured, wordsOf(verdict), missingGrants(session, tool, grants));
      // A directory is asked about on its own: its answer is no approval of the call.
      if (verdict.decision === "ask") verdict = before;
    } else add(name, nameOf(verdict), configured, wordsOf(verdict));
  }
  return Object.freeze(gates);
}

/** The location of a path and its real path, or the refusal of one of them. */
interface LocatedPath {
  readonly at?: Location;
  readonly real?: string;
  readonly refusal?: FilewrightError;
  /** True when a change at the path needs an approval because of the place. */
  readonly isAskedPlace?: boolean;
}

/** Locates the path of a question. */
async function locate(session: Session, tool: AnyTool, typed: string): Promise<LocatedPath> {
  const { resolver, fs } = session;
  const { intent, entry = false } = pathUseOf(tool, typed);
  try {
    const at = resolver.resolve(typed, intent);
    const real = await (entry ? entryPathVia : realpathVia)(fs, at.path).catch((error: unknown) => {
      // Where a link leads is checked by the storage; what cannot be resolved fails in the call itself.
      if (error instanceof FilewrightError && !LINK_REFUSALS.has(error.code)) return at.path;
      throw error;
    });
    // The storage checks the real path, too, by the same rules.
    resolver.resolve(real, intent);
    // A place that no call may write is refused here, and one that needs an approval is reported.
    return { at, real, isAskedPlace: tool.kind !== "read" && (await writesAskedPlace(session, real)) };
  } catch (error) {
    if (error instanceof FilewrightError) return { refusal: error };
    throw error;
  }
}

/** The error codes with which the storage refuses a link that leads to a path that the policy does not allow. */
const LINK_REFUSALS: ReadonlySet<string> = new Set(["OUTSIDE_ALLOWED", "PROTECTED_PATH"]);

/** The tools that act on a link itself, never on its target. */
const ENTRY_TOOLS: ReadonlySet<string> = new Set(["delete", "move"]);

function pathUseOf({ kind, name }: AnyTool, typed: string): PathUse {
  const intent = kind === "read" ? "read" : "write";
  return {
    argument: "path",
    typed,
    intent,
    missing: "accept",
    ...(ENTRY_TOOLS.has(name) ? { entry: true } : {}),
  };
}

async function readsSecret({ resolver, fs }: Session, real: string): Promise<boolean> {
  return resolver.secret(real) && (await lstatOrNull(fs, real).catch(() => null))?.isFile === true;
}

async function grantFactsOf(
  { permissions, fs, resolver: { secret } }: Session,
  tool: AnyTool,
  at: Location,
  agent: string | undefined,
): Promise<readonly NonNullable<CallFacts["grant"]>[]> {
  if (permissions === undefined) return [];
  const { intent, entry = false } = pathUseOf(tool, at.typed);
  const began = permissions.begin();
  return permissions.facts(fs, { at, intent, entry, tool: tool.name, agent, began, secret });
}

/** Returns the directories and secrets without a grant that can be granted, as the caller would write them. */
function missingGrants(
  { resolver: { policy } }: Session,
  { kind }: AnyTool,
  grants: Awaited<ReturnType<typeof grantFactsOf>>,
): NonNullable<WhyGate["missing"]> {
  return grants
    .filter(({ state }) => state === "open" || state === "refused")
    .map(({ path }) => ({
      dir: displayPath(path, policy.paths),
      access: kind === "read" ? "read" : "write",
    }));
}

async function writesAskedPlace(session: Session, path: string): Promise<boolean> {
  const written = [{ path, write: true, tree: false }];
  return (await checkWrittenPlaces(session, written, { fs: session.fs, signal: undefined })).length > 0;
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
  { rules }: Session,
  { tool, args, places }: CallFacts,
  verdict: Verdict,
): [configured: string, because: string | undefined] {
  const own = rules.forCall(tool, args);
  const found = (places.length === 0 ? [[]] : places).flatMap(own.deciding);
  const wanted = verdict.decision === "allow" && verdict.review === true ? "review" : verdict.decision;
  const rule = found.find(({ decision }) => decision === wanted);
  if (rule === undefined) return ["rules", wordsOf(verdict)];
  const where = `${rule.list === 0 ? "rules" : "rules of the agent"}[${rule.index}]`;
  return [where, `${where} says ${rule.decision}.`];
}
