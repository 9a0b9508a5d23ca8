/**
 * Rules: who is asked before a call happens. An ordered list; the first rule
 * that matches decides.
 */
import { compileGlobs } from "../backends/globs.ts";
import type { Location } from "../access/index.ts";

/** What a rule decides. */
export type Decision = "allow" | "deny" | "ask";

/** One rule. Every condition given must hold. */
export interface Rule {
  /** A canonical tool name, or `*`. */
  readonly tool?: string;
  /** A glob relative to the cwd. */
  readonly path?: string;
  /** Arguments that must have exactly these values. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly decision: Decision;
}

/** Decides for a call; undefined where no rule matches. */
export type Decide = (
  tool: string,
  locations: readonly Location[],
  args: object,
  show: (path: string) => string,
) => Decision | undefined;

/** Compiles the rules once. @throws FilewrightError INVALID_GLOB */
export function compileRules(rules: readonly Rule[]): Decide {
  const compiled = rules.map((rule) => ({
    rule,
    matches: rule.path === undefined ? undefined : compileGlobs([rule.path]),
  }));
  return (tool, locations, args, show) => {
    for (const { rule, matches } of compiled) {
      if (rule.tool !== undefined && rule.tool !== "*" && rule.tool !== tool) continue;
      if (rule.args !== undefined && !holds(rule.args, args)) continue;
      if (matches !== undefined) {
        const hit = (at: Location): boolean => matches.matches(show(at.path));
        // A permission must cover every path of the call; a restriction is met by one.
        if (!(rule.decision === "allow" ? locations.length > 0 && locations.every(hit) : locations.some(hit)))
          continue;
      }
      return rule.decision;
    }
    return undefined;
  };
}

function holds(wanted: Readonly<Record<string, unknown>>, args: object): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const given = (args as Record<string, unknown>)[key];
    return given === value || JSON.stringify(given) === JSON.stringify(value);
  });
}
