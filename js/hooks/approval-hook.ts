/**
 * Creates a `before` hook from two functions: one selects the calls to ask about, the other
 * decides. It works for every tool, of this package or not, because it uses only the name and the
 * arguments.
 */
import { decide, selectionSource } from "../policy/decide.ts";
import {
  anyText,
  anything,
  callback,
  flag,
  optionChecker,
  mapOf,
  nullable,
  type Options,
  options,
  required,
  text,
} from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { BeforeReply, Hook, HookContext } from "./hook.ts";

/** The decision about a call. */
export interface HookDecision {
  readonly approved: boolean;
  /** The text for the model when the call is stopped. */
  readonly message?: string | undefined;
  /** Arguments that replace those of the call, by key; null removes a key. */
  readonly modified_args?: Readonly<Record<string, unknown>> | null | undefined;
}

const HOOK_DECISION_OPTIONS: Options<HookDecision> = options("HookDecision", {
  approved: required(flag()),
  message: anyText(),
  modified_args: nullable(mapOf(anything())),
});

/** The options of {@link approvalHook}. */
export interface ApprovalHookOptions {
  /** Selects the calls to ask about. Default: every call. */
  readonly when?: ((context: HookContext) => boolean | Promise<boolean>) | undefined;
  /** Asks a reviewer and returns the decision. */
  readonly ask: (context: HookContext) => HookDecision | Promise<HookDecision>;
  /** The name of the tool whose calls the hook concerns. Default `*`: every tool. */
  readonly tool?: string | undefined;
}

/** The options of {@link approvalHook}. */
export const APPROVAL_HOOK_OPTIONS: Options<ApprovalHookOptions> = options("ApprovalHookOptions", {
  when: callback(),
  ask: required(callback()),
  tool: text(),
});

const checkOptions = optionChecker("approvalHook", APPROVAL_HOOK_OPTIONS);
const checkHookDecision = optionChecker("approvalHook.ask", HOOK_DECISION_OPTIONS);
const HOOK_DECISION_SOURCES = [selectionSource("hooks")];

/**
 * Creates the hook. If a function throws, the call is refused, as with any hook.
 *
 * @example
 * const hook = approvalHook({
 *   when: ({ tool_name, args }) => tool_name === "bash" && String(args.command).includes("rm"),
 *   ask: async ({ args }) => ({ approved: await ui.confirm(`Run ${args.command}?`) }),
 * });
 */
export function approvalHook(given: ApprovalHookOptions): Hook {
  const { when, ask, tool = "*" } = checkOptions(given);
  return Object.freeze({
    stage: "before" as const,
    tool,
    async run(context: HookContext): Promise<BeforeReply | undefined> {
      const { tool_name: name, args } = context;
      const selected: unknown = when === undefined ? true : await when(context);
      const { decision } = decide(HOOK_DECISION_SOURCES, {
        tool: name,
        args,
        places: [],
        effects: [],
        selected,
      });
      if (decision === "allow") return undefined;
      const { approved, message, modified_args } = checkHookDecision(await ask(context));
      if (approved !== true) return withoutUndefined({ proceed: false, alternative_response: message });
      return modified_args === undefined ? undefined : { modified_args };
    },
  });
}
