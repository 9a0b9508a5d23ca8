/**
 * An approver for unattended programs: rules answer, and questions without a matching rule are
 * refused. Nothing is allowed by default; allowing everything needs a rule too.
 */
import { compileGlobs } from "../backends/search/globs.ts";
import { isWithin } from "../backends/paths.ts";
import {
  assertToolNames,
  callback,
  choice,
  gateOf,
  list,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import type { Approver } from "./approver.ts";
import type { Confirmation } from "./confirm.ts";

/** One rule of a headless approver. Every given condition must be met. */
export interface HeadlessRule {
  /** A canonical tool name, one of `foreignTools`, or `*`. */
  readonly tool?: string;
  /** A glob held against the absolute real paths of the call: `/repo/src/**`, or `*.md` for any directory. */
  readonly path?: string;
  /** Looks at the whole question. One that throws permits nothing. */
  readonly when?: (details: Confirmation) => boolean;
  /** The answer to a question that matches. */
  readonly decision: "allow" | "deny";
}

/** The options of {@link headlessApprover}. */
export interface HeadlessOptions {
  /** The first rule that matches answers. */
  readonly rules?: readonly HeadlessRule[] | undefined;
  /** Directories that are granted when asked for, with everything below them. Absolute. */
  readonly grant?: readonly string[] | undefined;
  /** Names of tools that are not ours, which rules may name: those that go through `withHooks`. */
  readonly foreignTools?: readonly string[] | undefined;
}

const HEADLESS_RULE: Options<HeadlessRule> = options("HeadlessRule", {
  tool: text(),
  path: text({
    test: (path) =>
      path.includes("/") && !/^(\/|\*\*\/)/u.test(path)
        ? `must begin with / or **/, got ${JSON.stringify(path)}`
        : undefined,
  }),
  when: callback(),
  decision: required(choice("allow", "deny")),
});

/** The options of {@link headlessApprover}. */
export const HEADLESS_OPTIONS: Options<HeadlessOptions> = options("HeadlessOptions", {
  rules: list(HEADLESS_RULE),
  grant: list(
    text({
      test: (dir) =>
        dir.startsWith("/") ? undefined : `must be an absolute path, got ${JSON.stringify(dir)}`,
    }),
  ),
  foreignTools: list(text()),
});

const gate = gateOf("headlessApprover", HEADLESS_OPTIONS);

/**
 * Answers by rules alone.
 *
 * @example
 * const { confirm, ask } = headlessApprover({
 *   rules: [{ tool: "delete", decision: "deny" }, { path: "/repo/src/**", decision: "allow" }],
 *   grant: ["/repo"],
 * });
 *
 * @throws FilewrightError INVALID_GLOB, INVALID_ARGUMENT
 */
export function headlessApprover(given: HeadlessOptions): Approver {
  const { rules = [], grant = [], foreignTools = [] } = gate(given);
  assertToolNames("headlessApprover", "rules", rules, new Set([...TOOL_NAMES, ...foreignTools]));
  const compiled = rules.map((rule) => ({
    rule,
    globs: rule.path === undefined ? undefined : compileGlobs([rule.path.replace(/^\/+/u, "/")]),
  }));
  return Object.freeze({
    confirm(details: Confirmation) {
      const paths = details.paths.length > 0 ? details.paths : [details.path];
      for (const { rule, globs } of compiled) {
        const permits = rule.decision === "allow";
        if (rule.tool !== undefined && rule.tool !== "*" && rule.tool !== details.tool) continue;
        if (globs !== undefined) {
          const hit = (path: string): boolean => globs.matches(path.slice(1));
          if (!(permits ? paths.every(hit) : paths.some(hit))) continue;
        }
        if (rule.when !== undefined && !holds(rule.when, details, !permits)) continue;
        return permits
          ? { outcome: "proceed_once" as const }
          : { outcome: "cancel" as const, payload: { reason: "a rule forbids it" } };
      }
      return { outcome: "cancel" as const, payload: { reason: "no rule allows it" } };
    },
    ask: (_question: string, _options: readonly string[], { dir }: { readonly dir: string }) =>
      grant.some((one) => isWithin(dir, one.replace(/(?<=.)\/+$/u, ""))) ? "yes" : "no",
  });
}

function holds(
  when: (details: Confirmation) => boolean,
  details: Confirmation,
  whenItThrows: boolean,
): boolean {
  try {
    return when(details) === true;
  } catch {
    return whenItThrows;
  }
}
