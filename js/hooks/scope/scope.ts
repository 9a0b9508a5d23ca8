/**
 * The scope of an approval as data: which later calls it covers. A scope is a rule that allows, compiled by the compiler
 * of the rules, and limited to an agent and a time. Each outcome `proceed_always…` stands for one such scope.
 */
import { escapeControls } from "../../engine/escape.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { isWithin, literalGlob } from "../../backends/paths.ts";
import { type GlobBases, ruleGlobs } from "../../policy/rule-globs.ts";
import type { Effect } from "../../policy/decide.ts";
import { compileRules, type PathForms } from "../../policy/rules.ts";
import { type Options, options, optionReader, required, text } from "../../schema/option.ts";
import { TOOL_NAMES } from "../../schema/tool-names.ts";
import { effectsInWords } from "./effects.ts";
import { commandInWords, EXACT_COMMAND, type ExactCommand, isSameCommand } from "./command.ts";
import { hasTrait, toolsWith } from "../../schema/tool-facts.ts";

/** Which later calls an approval covers. */
export interface ApprovalScope {
  /** The canonical name of a tool; `*` for every tool that runs no commands. */
  readonly tool: string;
  /**
   * A glob as in the path of a rule: relative to the working directory, or absolute. A call is covered if the glob
   * covers each of its paths, as named and in its real form. `**` covers every path of the workspace. What a call does
   * besides its own work, such as a patch that deletes a file, needs a scope of that tool, too.
   */
  readonly path: string;
  /** The command that is covered. A scope covers a call of `run_command` only if it names exactly its command. */
  readonly command?: ExactCommand;
  /** The agent whose calls are covered. Default: every caller that shares these approvals. */
  readonly agent?: string;
  /**
   * When it ends: `turn` with the turn of the call, `session` when the workspace is closed, `kept` when it is revoked;
   * otherwise a time in ISO 8601.
   */
  readonly until: string;
}

/** A kind of end of a scope, from the earliest to the latest; `time` for one that names a time. */
export type ScopeEnd = "turn" | "time" | "session" | "kept";

/** A time in ISO 8601 with its zone, such as `2030-01-31T18:00:00Z`. */
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/u;

/** The valid scopes of an answer. */
export const APPROVAL_SCOPE: Options<ApprovalScope> = options("ApprovalScope", {
  tool: required(text()),
  path: required(text()),
  command: EXACT_COMMAND,
  agent: text(),
  until: required(
    text({
      test: (until) =>
        endOfScope({ until }) === undefined ? "must be turn, session, kept or a time in ISO 8601" : undefined,
    }),
  ),
});

const readScope = optionReader(APPROVAL_SCOPE);

/** Returns the kind of end of a scope; undefined for text that names none. */
export function endOfScope({ until }: Pick<ApprovalScope, "until">): ScopeEnd | undefined {
  if (until === "turn" || until === "session" || until === "kept") return until;
  return ISO_TIME.test(until) && Number.isFinite(Date.parse(until)) ? "time" : undefined;
}

/** The work of one tool: the part of a call by which a scope covers it. */
export interface ScopedWork {
  readonly tool: string;
  /** Each path of the call, as named and in its real form. */
  readonly places: readonly PathForms[];
  /** The command that the call runs; absent for a tool that runs none. */
  readonly command?: ExactCommand | undefined;
  readonly agent?: string | undefined;
}

/** The facts of a call by which scopes cover it. */
export interface ScopedCall extends ScopedWork {
  /** What the call does besides, each as the work of another tool on one path. */
  readonly effects?: readonly Pick<Effect, "tool" | "place">[] | undefined;
}

/** Returns the work of a call: its own, and that of each of its effects. */
export function workOf({ effects = [], ...own }: ScopedCall): readonly ScopedWork[] {
  const { agent } = own;
  return [own, ...effects.map(({ tool, place }) => ({ tool, places: [place], agent }))];
}

/** Returns true for work that a scope covers. The end of the scope is not checked. */
export type ScopeMatcher = (work: ScopedWork) => boolean;

/** The path that stands for every path. */
const EVERY_PATH = "**";

/**
 * Compiles a scope. `bases` are the working directory and the roots to which its path is relative, `tools` the names of
 * tools of other packages. @throws FilewrightError INVALID_ARGUMENT, INVALID_GLOB for an unknown tool and an invalid glob
 */
export function compileScope(
  { tool, path, command, agent }: ApprovalScope,
  bases: GlobBases | undefined,
  tools: readonly string[] = [],
): ScopeMatcher {
  const where = path === EVERY_PATH ? {} : { path };
  const rules = compileRules(
    [{ tool, ...where, decision: "allow" }],
    bases,
    new Set([...TOOL_NAMES, ...tools]),
  );
  return (call) => {
    if (agent !== undefined && agent !== call.agent) return false;
    const isCommand = command !== undefined || hasTrait(call.tool, "runsCommands");
    if (isCommand && !isSameCommand(command, call.command)) return false;
    const own = rules.forCall(call.tool);
    return call.places.length === 0
      ? own.decide([]) === "allow"
      : call.places.every((place) => own.decide(place) === "allow");
  };
}

/**
 * Compiles a scope that was stored; undefined for an invalid one, which covers nothing. Its tool may be of another
 * package, so every name is accepted; one that no tool has covers nothing, either.
 */
export function compileStoredScope(given: unknown, bases: GlobBases | undefined): ScopeMatcher | undefined {
  const scope = readScope(given);
  if (scope === undefined) return undefined;
  try {
    return compileScope(scope, bases, scope.tool === "*" ? [] : [scope.tool]);
  } catch (error) {
    if (error instanceof FilewrightError) return undefined;
    throw error;
  }
}

/** Returns the glob that covers these roots and everything below them. */
export function globBelow(roots: readonly string[]): string {
  const globs = roots.map((root) => `${literalGlob(root)}/**`);
  return globs.length === 1
    ? String(globs[0])
    : `{${globs.map((glob) => glob.replaceAll(",", "\\,")).join(",")}}`;
}

/** The widest scope that an outcome offers. */
export interface OfferedScope {
  readonly scope: ApprovalScope;
  /** The directories to which it is limited; undefined for every path of the workspace. */
  readonly roots: readonly string[] | undefined;
  /** The ends that a narrower scope may name. */
  readonly ends: readonly ScopeEnd[];
}

/**
 * Returns why a scope is wider than the offered one; undefined for one within it. A glob is within the offered
 * directories if nothing outside them can match it.
 */
export function wideningOf(
  { tool, path, command, until }: ApprovalScope,
  { scope: offered, roots, ends }: OfferedScope,
  bases: GlobBases | undefined,
): string | undefined {
  if (offered.tool !== "*" && tool !== offered.tool) return "another tool";
  const end = endOfScope({ until });
  if (end === undefined || !ends.includes(end)) return "an end that was not offered";
  if (offered.command !== undefined && !isSameCommand(command, offered.command)) return "another command";
  if (offered.command === undefined && (command !== undefined || hasTrait(tool, "runsCommands")))
    return "a command that was not shown, which is more";
  if (roots === undefined) return undefined;
  if (path === EVERY_PATH) return "more paths";
  const { prefixes } = ruleGlobs(path, bases ?? { cwd: "/", read: [], write: [] });
  return prefixes.every((prefix) => roots.some((root) => isWithin(prefix, root))) ? undefined : "more paths";
}

/** The tools that a scope of every tool covers, in words. */
export const EVERY_TOOL_WORDS: string = `every tool but ${toolsWith("runsCommands").join(" and ")}`;

/** Describes which calls a scope covers, without its end. */
export function describeCovered({ tool, path, command, agent }: Omit<ApprovalScope, "until">): string {
  const what = tool === "*" ? EVERY_TOOL_WORDS : escapeControls(tool);
  const where = path === EVERY_PATH ? "every path of this workspace" : escapeControls(path);
  const who = agent === undefined ? "" : ` by ${escapeControls(agent)}`;
  if (command !== undefined) return `exactly ${commandInWords(command)}${who}`;
  return `${what} on ${where}${effectsInWords(tool)}${who}`;
}

/** Describes a scope for a person. `session` describes the end of a session. */
export function describeScope(scope: ApprovalScope, session: string): string {
  const { until } = scope;
  const ends = { turn: "until this turn ends", session, kept: "until it is revoked" };
  const end = until === "turn" || until === "session" || until === "kept" ? ends[until] : `until ${until}`;
  return `${describeCovered(scope)}, ${end}`;
}
