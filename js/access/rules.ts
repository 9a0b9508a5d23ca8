/**
 * Rules: who is asked before a call happens. An ordered list; the first rule
 * that matches decides.
 *
 * A path glob is held against the path as the call names it and against the
 * place it really leads to: a restriction is met by either, a permission must
 * cover both, so that no link goes around a rule.
 */
import type { FsBackend } from "../backends/backend.ts";
import { entryPathVia, realpathVia } from "../backends/fallback.ts";
import { compileGlobs } from "../backends/globs.ts";
import { FilewrightError } from "../engine/errors.ts";
import type { Location } from "./location.ts";

/** What a rule decides. */
export type Decision = "allow" | "deny" | "ask";

/** One rule. Every condition given must hold. */
export interface Rule {
  /** A canonical tool name, or `*`. */
  readonly tool?: string;
  /** A glob relative to the cwd. */
  readonly path?: string;
  /**
   * Arguments that must have exactly these values, or a test of them. A test that
   * throws holds for a restriction and not for a permission.
   */
  readonly args?: Readonly<Record<string, unknown>> | ((args: Readonly<Record<string, unknown>>) => boolean);
  readonly decision: Decision;
}

/** One path of a call, in the forms a glob is held against. */
export type Place = readonly string[];

/** Compiled rules. */
export interface Rules {
  /** Whether a rule looks at paths; without one places need not be found out. */
  readonly byPath: boolean;
  /** Decides for a call; undefined where no rule matches. */
  decide(tool: string, places: readonly Place[], args: object): Decision | undefined;
}

const DECISIONS: ReadonlySet<unknown> = new Set<Decision>(["allow", "deny", "ask"]);

/** Compiles the rules once. @throws FilewrightError INVALID_GLOB, INVALID_ARGUMENT */
export function compileRules(rules: readonly Rule[]): Rules {
  const compiled = rules.map((rule, index) => {
    if (!DECISIONS.has(rule.decision)) {
      throw new FilewrightError("INVALID_ARGUMENT", `rules[${index}].decision must be allow, deny or ask`);
    }
    return { rule, globs: rule.path === undefined ? undefined : compileGlobs([rule.path]) };
  });
  return Object.freeze({
    byPath: compiled.some(({ globs }) => globs !== undefined),
    decide(tool: string, places: readonly Place[], args: object): Decision | undefined {
      for (const { rule, globs } of compiled) {
        const permits = rule.decision === "allow";
        if (rule.tool !== undefined && rule.tool !== "*" && rule.tool !== tool) continue;
        if (rule.args !== undefined && !holds(rule.args, args, !permits)) continue;
        if (globs !== undefined) {
          const hit = (path: string): boolean => globs.matches(path);
          const met = permits
            ? places.length > 0 && places.every((place) => place.every(hit))
            : places.some((place) => place.some(hit));
          if (!met) continue;
        }
        return rule.decision;
      }
      return undefined;
    },
  });
}

/** The forms of a path: as it is named, and where it leads, relative to the cwd. */
export async function placeOf(
  fs: FsBackend,
  at: Location,
  entry: boolean,
  display: (path: string) => string,
): Promise<Place> {
  const named = display(at.path);
  try {
    const real = await (entry ? entryPathVia : realpathVia)(fs, at.path);
    return real === at.path ? [named] : [named, display(real)];
  } catch (error) {
    if (error instanceof FilewrightError) return [named]; // It leads nowhere: the tool will say why.
    throw error;
  }
}

function holds(wanted: NonNullable<Rule["args"]>, args: object, whenItThrows: boolean): boolean {
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
