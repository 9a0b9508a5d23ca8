/**
 * Call rules: an ordered list; the first matching rule decides.
 *
 * A rule's path is compared with the path as the call names it and with its real path: a
 * restriction matches either, a permission must cover both, so that a link cannot circumvent a
 * rule. It covers the named directory and everything below. Each path that a call reaches is
 * decided separately, and the strictest decision wins.
 */
import type { Files } from "../backends/files.ts";
import { entryPath } from "../backends/fallback/fallback.ts";
import { invalidGlobError } from "../backends/glob-braces.ts";
import { isWithin } from "../backends/paths.ts";
import { ignoresCase } from "../backends/policy.ts";
import { engine } from "../engine/current.ts";
import { escapeControls } from "../engine/escape.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  anything,
  assertToolNames,
  callback,
  choice,
  either,
  optionChecker,
  instance,
  list,
  mapOf,
  nullable,
  type Options,
  options,
  required,
  text,
  wrongOptionError,
} from "../schema/option.ts";
import { suggestArgument } from "../schema/argument-hints.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { ARGUMENT_NAMES, TOOL_NAMES } from "../schema/tool-names.ts";
import type { Location } from "./location.ts";
import { globObjection } from "./reach.ts";
import { type GlobBases, ruleGlobs } from "./rule-globs.ts";

/** The decision of a rule. */
export type Decision = "allow" | "review" | "deny" | "ask";

/** Returns true for a decision with which a call goes ahead without a question. */
function permits(decision: Decision | undefined): boolean {
  return decision === "allow" || decision === "review";
}

/** One rule. Every given condition must be met. */
export interface Rule {
  /** A canonical tool name, or `*`. A rule on `delete` or `move` applies to every tool that deletes or moves. */
  readonly tool?: string;
  /**
   * A glob relative to the cwd, or absolute. A match covers everything below it. Without a slash, or
   * beginning with `**`, it matches at any depth below every root.
   */
  readonly path?: string;
  /**
   * Arguments that must have exactly these values, or a test of them. A test that throws counts as a
   * match for `deny` and `ask`, and not for `allow` and `review`.
   */
  readonly args?: Readonly<Record<string, unknown>> | ((args: Readonly<Record<string, unknown>>) => boolean);
  /**
   * The decision about a call that matches: `allow`; `review`, which makes a change at once and leaves it unreviewed
   * until it is kept; `ask` the reviewer first; or `deny`.
   */
  readonly decision: Decision;
}

/** The options of a rule. */
export const RULE_OPTIONS: Options<Rule> = options("Rule", {
  tool: text(),
  path: text(),
  args: either(mapOf(anything()), callback()),
  decision: required(choice("allow", "review", "deny", "ask")),
});

const checkRules = optionChecker("compileRules", list(RULE_OPTIONS));
// A policy is accepted too, because it has these members.
const checkBases = optionChecker(
  "compileRules",
  instance<GlobBases>("GlobBases", "the working directory and the roots", {
    cwd: required(text()),
    read: required(nullable(list(text()))),
    write: required(list(text())),
  }),
);

/** One path that a call reaches, in the absolute forms that rules are compared with. */
export type PathForms = readonly string[];

/** Compiled rules. */
export interface Rules {
  /** True when there are no rules. */
  readonly isEmpty: boolean;
  /** True when a rule has the decision `review`. */
  readonly reviews: boolean;
  /**
   * Returns the rules that apply to one call. Without `args`, a restriction that tests arguments applies and a
   * permission that tests them does not.
   */
  forCall(tool: string, args?: object): CallRules;
  /**
   * Combines these rules with others; the stricter of two decisions wins, and a permission of the
   * others adds nothing.
   */
  with(others: Rules): Rules;
  /** Returns the rules in their order, with the number of calls that each has decided about. */
  summaries(): readonly RuleSummary[];
}

/** One rule of a workspace, as people see it. */
export interface RuleSummary {
  /** 0 for the list of the workspace, 1 and more for those of its agents. */
  readonly list: number;
  /** The position of the rule in its list, from 0. */
  readonly index: number;
  /** A canonical tool name, or `*`. */
  readonly tool: string;
  /** The glob of the rule; absent for a rule about every path. */
  readonly path?: string;
  /** The arguments that a call must have, as JSON of at most 200 characters; `a test` for a function. */
  readonly args?: string;
  /** The decision about a call that matches. */
  readonly decision: Decision;
  /**
   * The number of calls, since the workspace was opened, about which this rule decided: the first of its list that
   * matched. What a search leaves out because of the rule is not counted.
   */
  readonly hits: number;
}

/** A rule with its counter. */
interface CountedRule {
  hits: number;
}

/** Called with each rule that decides about a call. */
export type OnRule = (rule: CountedRule) => void;

/** Returns a function that counts the rules of one call: each once, however many paths the call has. */
export function countRulesOfCall(): OnRule {
  const counted = new Set<CountedRule>();
  return (rule) => {
    if (counted.has(rule)) return;
    counted.add(rule);
    rule.hits += 1;
  };
}

/** A rule that decides about a path. */
interface DecidingRule {
  /** 0 for the list of the workspace, 1 and more for those of its agents. */
  readonly list: number;
  /** The position of the rule in its list, from 0. */
  readonly index: number;
  readonly decision: Decision;
}

/** The rules that apply to one call. */
export interface CallRules {
  /** True when a rule tests paths; otherwise the paths need not be determined. */
  readonly byPath: boolean;
  /** True when a rule can deny the call or require an approval. */
  readonly restricts: boolean;
  /**
   * Decides about one path, or about a call without paths; undefined when no rule matches. `onRule` is called with the
   * rules by which it decides.
   */
  decide(place: PathForms, onRule?: OnRule): Decision | undefined;
  /**
   * Returns true when a rule wants the change of one path, or a call without paths, to be reviewed after it. One form
   * of the path suffices.
   */
  wantsReview(place: PathForms): boolean;
  /** Returns the rules by which {@link CallRules.decide} decides: of each list the first that matches. */
  deciding(place: PathForms): readonly DecidingRule[];
  /** Returns true when a rule with one of these decisions could match the path or anything below it. */
  mayReach(path: string, decisions: readonly Decision[]): boolean;
  /**
   * Returns the paths covered by rules with these decisions, as absolute deny globs: empty without
   * such a rule, undefined when an earlier rule makes an exception, which globs cannot express.
   */
  globs(decisions: readonly Decision[]): readonly string[] | undefined;
}

/** A rule with its globs; `path` is absent for a rule about every path. */
interface CompiledRule extends CountedRule {
  readonly rule: Rule;
  /** The position of the rule in its list, from 0. */
  readonly index: number;
  readonly path?: {
    readonly globs: readonly string[];
    readonly prefixes: readonly string[];
    covers(path: string): boolean;
  };
}

/** The directories to which rules without a workspace are relative. */
const DEFAULT_GLOB_BASES: GlobBases = { cwd: "/", read: [], write: [] };

/**
 * Compiles the rules. `bases` are the resolved cwd and roots, to which paths are relative; `tools`
 * are the valid names in addition to `*`.
 * @throws FilewrightError INVALID_GLOB, INVALID_ARGUMENT
 */
export function compileRules(
  rules: readonly Rule[],
  bases: GlobBases = DEFAULT_GLOB_BASES,
  tools: ReadonlySet<string> = TOOL_NAMES,
): Rules {
  checkBases(bases);
  const checked = checkRules(rules);
  assertRules("compileRules", "", checked, tools);
  return makeRules([checked.map((rule, index) => compileRule(rule, index, bases))]);
}

/**
 * Refuses rules that can never match: for tools that do not exist, or about arguments that their
 * tool does not have. `tools` are the names in addition to `*`; the arguments of other packages'
 * tools are unknown.
 * @throws FilewrightError INVALID_ARGUMENT naming the nearest tool or argument
 */
export function assertRules(
  entry: string,
  where: string,
  rules: readonly Rule[],
  tools: ReadonlySet<string> = TOOL_NAMES,
): void {
  assertToolNames(entry, where, rules, tools);
  const everyTool = [...tools].every((name) => TOOL_NAMES.has(name))
    ? [...new Set([...ARGUMENT_NAMES.values()].flat())]
    : undefined;
  for (const [index, { tool = "*", args }] of rules.entries()) {
    const known = tool === "*" ? everyTool : ARGUMENT_NAMES.get(tool);
    if (known === undefined || typeof args !== "object") continue;
    const unknown = Object.keys(args).find((key) => !known.includes(key));
    if (unknown !== undefined)
      throw wrongOptionError(entry, `${where}[${index}].args`, unknownArgumentText(tool, unknown, known));
  }
}

function unknownArgumentText(tool: string, key: string, known: readonly string[]): string {
  const close = suggestArgument(key, known);
  const remedy = close === undefined ? `known: ${known.join(", ")}` : `did you mean '${close}'?`;
  const subject = tool === "*" ? "no tool has an" : `${tool} has no`;
  return `${subject} argument '${key}'; ${remedy}`;
}

function compileRule(rule: Rule, index: number, bases: GlobBases): CompiledRule {
  if (rule.path === undefined) return { rule, index, hits: 0 };
  try {
    const objection = globObjection(rule.path, { ...bases, roots: [] });
    if (objection !== undefined) throw invalidGlobError(`'${escapeControls(rule.path)}' ${objection}`);
    const { globs, prefixes, coversSlash } = ruleGlobs(rule.path, bases);
    const foldCase = ignoresCase(bases);
    const matcher = engine().compileRules({
      cwd: "/",
      roots: [],
      deny: globs,
      protect: false,
      secrets: false,
      foldCase,
    });
    const covers = (path: string): boolean => (path === "/" ? coversSlash : matcher.check(path).denied);
    // The directories are compared as text, which cannot say where letter case does not count.
    return { rule, index, hits: 0, path: { globs, prefixes: foldCase ? ["/"] : prefixes, covers } };
  } catch (error) {
    if (!(error instanceof FilewrightError)) throw error;
    const message = error.message.replace(/^deny glob/u, "glob");
    throw new FilewrightError(error.code, `rules[${index}].path: ${message}`, { cause: error });
  }
}

/** Creates the rules of several lists. The first list is that of the workspace; later ones can only restrict. */
function makeRules(lists: readonly (readonly CompiledRule[])[]): Rules {
  const isEmpty = lists.every((list) => list.length === 0);
  const made: CompiledRules = {
    lists,
    isEmpty,
    reviews: lists.some((list) => list.some(({ rule }) => rule.decision === "review")),
    forCall: isEmpty
      ? () => NO_RULES_FOR_CALL
      : (tool, args) => makeCallRules(lists.map((list) => rulesForCall(list, tool, args))),
    with: (others) => makeRules([...lists, ...(others as CompiledRules).lists]),
    summaries: () => lists.flatMap((list, at) => list.map((one) => summaryOf(one, at))),
  };
  return Object.freeze(made);
}

/** The maximum length of the arguments of a rule in its summary. */
const MAX_SUMMARY_CHARS = 200;

function summaryOf({ rule, index, hits }: CompiledRule, list: number): RuleSummary {
  const { tool = "*", path, args, decision } = rule;
  const text = typeof args === "function" ? "a test" : JSON.stringify(args);
  const shown = text === undefined ? undefined : shortened(text);
  return Object.freeze(withoutUndefined({ list, index, tool, path, args: shown, decision, hits }));
}

function shortened(text: string): string {
  return text.length > MAX_SUMMARY_CHARS ? `${text.slice(0, MAX_SUMMARY_CHARS - 1)}…` : text;
}

/** Rules with their compiled lists, so that `with` can append to them. */
interface CompiledRules extends Rules {
  readonly lists: readonly (readonly CompiledRule[])[];
}

/**
 * Returns the rules of a list that apply to a call, up to the first that matches every path: later ones cannot
 * take effect.
 */
function rulesForCall(
  list: readonly CompiledRule[],
  tool: string,
  args: object | undefined,
): readonly CompiledRule[] {
  const found: CompiledRule[] = [];
  for (const one of list) {
    const { tool: named, args: wanted, decision } = one.rule;
    if (named !== undefined && named !== "*" && named !== tool) continue;
    const restricts = !permits(decision);
    if (wanted !== undefined && !(args === undefined ? restricts : argumentsMatch(wanted, args, restricts)))
      continue;
    found.push(one);
    if (one.path === undefined) break;
  }
  return found;
}

function makeCallRules(lists: readonly (readonly CompiledRule[])[]): CallRules {
  const all = lists.flat();
  const within = (decisions: readonly Decision[]): readonly CompiledRule[] =>
    all.filter(({ rule, path }) => path !== undefined && decisions.includes(rule.decision));
  return {
    byPath: all.some(({ path }) => path !== undefined),
    restricts: all.some(({ rule }) => !permits(rule.decision)),
    decide(place, onRule) {
      const [first, ...others] = lists.map((list) => {
        const found = decidingRule(list, place);
        if (found !== undefined) onRule?.(found);
        return found?.rule.decision;
      });
      return strictestDecision([
        first,
        ...others.filter((decision) => decision === "deny" || decision === "ask"),
      ]);
    },
    wantsReview: (place) => lists.some((list) => decidingRule(list, place, true)?.rule.decision === "review"),
    deciding: (place) =>
      lists.flatMap((list, at) => {
        const found = decidingRule(list, place);
        return found === undefined ? [] : [{ list: at, index: found.index, decision: found.rule.decision }];
      }),
    mayReach: (path, decisions) =>
      within(decisions).some(({ path: of }) => directoriesOverlap(of?.prefixes ?? [], [path])),
    globs(decisions) {
      if (!lists.every((list) => areGlobsAlone(list, decisions))) return undefined;
      return [...new Set(within(decisions).flatMap(({ path }) => path?.globs ?? []))].sort();
    },
  };
}

/** The rules of every call of a workspace that has none. */
const NO_RULES_FOR_CALL: CallRules = Object.freeze(makeCallRules([]));

/**
 * Returns true where the globs of the rules with these decisions say for which paths one of them decides: none is for
 * every path, and none follows a rule with another decision for the same directories.
 */
function areGlobsAlone(list: readonly CompiledRule[], decisions: readonly Decision[]): boolean {
  return list.every(({ rule, path }, index) => {
    if (!decisions.includes(rule.decision)) return true;
    if (path === undefined) return false;
    const before = list.slice(0, index).filter((one) => !decisions.includes(one.rule.decision));
    return !before.some((one) => directoriesOverlap(one.path?.prefixes ?? [], path.prefixes));
  });
}

/**
 * Returns the first rule of a list that matches; undefined when none does. A permission must match all forms of the
 * path, a restriction one of them. With `looksForReview` one form suffices for `review`, too.
 */
function decidingRule(
  list: readonly CompiledRule[],
  place: PathForms,
  looksForReview = false,
): CompiledRule | undefined {
  return list.find(({ rule: { decision }, path }) => {
    if (path === undefined) return true;
    const needsAll = permits(decision) && !(looksForReview && decision === "review");
    return needsAll ? place.length > 0 && place.every(path.covers) : place.some(path.covers);
  });
}

/** Returns true when a path can lie below a directory of each list. */
function directoriesOverlap(a: readonly string[], b: readonly string[]): boolean {
  return a.some((one) => b.some((other) => isWithin(one, other) || isWithin(other, one)));
}

/**
 * Returns the strictest decision. From strict to mild: deny, ask, undecided, review, allow. Undefined for an empty list.
 */
export function strictestDecision(decisions: readonly (Decision | undefined)[]): Decision | undefined {
  if (decisions.includes("deny")) return "deny";
  if (decisions.includes("ask")) return "ask";
  if (decisions.length === 0 || decisions.includes(undefined)) return undefined;
  return decisions.includes("review") ? "review" : "allow";
}

/**
 * Returns the absolute forms of a path with which rules are compared: as named and, where links change it,
 * resolved.
 */
export async function placeOf(fs: Files, at: Pick<Location, "path">, entry: boolean): Promise<PathForms> {
  try {
    const real = await (entry ? entryPath(fs, at.path) : fs.realpath(at.path));
    return real === at.path ? [at.path] : [at.path, real];
  } catch (error) {
    if (error instanceof FilewrightError) return [at.path]; // It cannot be resolved: the tool will report the error.
    throw error;
  }
}

/**
 * Returns true when the arguments of a call meet the condition of a rule. `whenItThrows` is the result for a test
 * that throws.
 */
function argumentsMatch(wanted: NonNullable<Rule["args"]>, args: object, whenItThrows: boolean): boolean {
  const given = args as Readonly<Record<string, unknown>>;
  if (typeof wanted === "function") {
    try {
      return wanted(given) === true;
    } catch {
      return whenItThrows;
    }
  }
  return Object.entries(wanted).every(
    ([key, value]) => given[key] === value || JSON.stringify(given[key]) === JSON.stringify(value),
  );
}
