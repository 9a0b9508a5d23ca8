/**
 * An approver for unattended programs: call rules answer, and a question without a matching rule is
 * refused. Nothing is allowed by default; allowing everything needs a rule too.
 */
import { isWithin } from "../backends/paths.ts";
import { globInForm } from "../backends/windows-globs.ts";
import { beginsWithDrive, isOnDrive, withInnerDrive } from "../backends/windows-paths.ts";
import {
  assertToolNames,
  callback,
  choice,
  optionChecker,
  list,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import { decide, type DecisionSource, defaultSource, rulesSource } from "../policy/decide.ts";
import { compileRules } from "../policy/rules.ts";
import type { Approver, Confirmation } from "./confirm.ts";

/** One rule of a headless approver. Every given condition must be met. */
export interface HeadlessRule {
  /** A canonical tool name, one of `foreignTools`, or `*`. */
  readonly tool?: string;
  /**
   * A glob for the absolute real paths of the call. A match covers everything below it: `/repo/src`,
   * `C:/repo/src`, or `*.md` in any directory. Each path is decided separately; the strictest decision is the
   * answer. Letter case does not count for paths of a Windows disk.
   */
  readonly path?: string;
  /** Tests the whole question. If it throws, the rule permits nothing. */
  readonly when?: (details: Confirmation) => boolean;
  /** The answer to a question that matches. */
  readonly decision: "allow" | "deny";
}

/** The options of {@link headlessApprover}. */
export interface HeadlessOptions {
  /** The rules, of which the first that matches a question answers it. */
  readonly rules?: readonly HeadlessRule[] | undefined;
  /** Absolute paths of directories, such as `/repo` or `C:\repo`, that are granted with everything below when a call needs them. */
  readonly grant?: readonly string[] | undefined;
  /** Names of tools that are not ours, which rules may name: those that go through `withHooks`. */
  readonly foreignTools?: readonly string[] | undefined;
}

/** A backslash that was written as a separator: before a character that needs no escape, or after `**`. */
const MISTAKEN_SEPARATOR = /\*\*\\|\\[^*?[\]{}\\!]/u;

const HEADLESS_RULE: Options<HeadlessRule> = options("HeadlessRule", {
  tool: text(),
  path: text({
    test: (path) => {
      if (beginsWithDrive(path)) return undefined;
      if (path.includes("/") && !/^(?:\/|\*\*\/)/u.test(path))
        return `must begin with /, **/ or a drive, got ${JSON.stringify(path)}`;
      return MISTAKEN_SEPARATOR.test(path)
        ? `has a backslash that separates no names; separate them with /, got ${JSON.stringify(path)}`
        : undefined;
    },
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
        dir.startsWith("/") || beginsWithDrive(dir)
          ? undefined
          : `must be an absolute path, got ${JSON.stringify(dir)}`,
    }),
  ),
  foreignTools: list(text()),
});

const checkOptions = optionChecker("headlessApprover", HEADLESS_OPTIONS);

/**
 * Creates an approver that answers by rules alone.
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
  const { rules = [], grant = [], foreignTools = [] } = checkOptions(given);
  const granted = grant.map((one) => withInnerDrive(one).replace(/(?<=.)\/+$/u, ""));
  const known = new Set([...TOOL_NAMES, ...foreignTools]);
  assertToolNames("headlessApprover", "rules", rules, known);
  const listed = rules.map(({ when, path, ...rule }) => ({
    ...rule,
    ...withoutUndefined({
      path: path !== undefined && beginsWithDrive(path) ? globInForm(path, "windows") : path,
      // A test of the arguments gets the whole question.
      args: when && ((question: unknown) => when(question as Confirmation)),
    }),
  }));
  const sourcesFor = (foldsCase: boolean): readonly DecisionSource[] => [
    rulesSource(compileRules(listed, { cwd: "/", read: [], write: [], foldsCase }, known)),
    defaultSource("deny"),
  ];
  const sources = sourcesFor(false);
  const windowsSources = sourcesFor(true);
  return Object.freeze({
    confirm(details: Confirmation) {
      const { tool, path, paths } = details;
      // A tool of another package has no path.
      const places = (paths.length > 0 ? paths : [path]).filter((one) => one !== "").map((one) => [one]);
      const isWindows = places.length > 0 && places.every(([place]) => isOnDrive(place as string));
      const { decision, source } = decide(isWindows ? windowsSources : sources, {
        tool,
        args: details,
        places,
        effects: [],
      });
      if (decision === "allow") return { outcome: "proceed_once" as const };
      const reason = source === "default" ? "no rule allows it" : "a rule forbids it";
      return { outcome: "cancel" as const, payload: { reason } };
    },
    ask: (_question: string, _options: readonly string[], { dir }: { readonly dir: string }) =>
      granted.some((one) =>
        isOnDrive(dir) ? isWithin(dir.toLowerCase(), one.toLowerCase()) : isWithin(dir, one),
      )
        ? "yes"
        : "no",
  });
}
