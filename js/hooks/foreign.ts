/**
 * Applies hooks, rules and approvals to tools of other packages: a shell, another server's tools,
 * any object with a name and a function.
 */
import { type CallFacts, decide, defaultSource, hooksSource, rulesSource } from "../policy/decide.ts";
import { assertRules, compileRules, type Rule, RULE_OPTIONS } from "../policy/rules.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  assertToolNames,
  callback,
  optionChecker,
  instance,
  integer,
  list,
  type Options,
  options,
  required,
  text,
  wrongOptionError,
} from "../schema/option.ts";
import { DEFAULT_LIMITS } from "../tools/lib/limits.ts";
import { TOOL_NAMES } from "../schema/tool-names.ts";
import { type Approvals, approvalsSource, approverSource, makeApprovals, mustAsk } from "./approvals.ts";
import { oneOf } from "./approvers.ts";
import { approvesCall, askConfirm, type Confirm, refusedBy } from "./confirm.ts";
import { type Notify, notifySafely } from "./events.ts";
import { type AnyHook, HOOK_OPTIONS, type HookResult } from "./hook.ts";
import { digestOfParts } from "./question.ts";
import {
  approversFor,
  bindHooks,
  hooksFor,
  HookException,
  runAfterHooksOnResult,
  runBeforeHooks,
  type HookCallFacts,
} from "./run.ts";

/** Any tool: a name and a function of its arguments. */
export interface AnyTool {
  readonly name: string;
  // Hosts pass further arguments to their tools; they are forwarded unchanged.
  execute(args: Readonly<Record<string, unknown>>, ...more: readonly never[]): unknown;
}

/** The options of {@link withHooks}. */
export interface WithHooksOptions {
  /** How long a `before` hook may take, in milliseconds; then the call is refused. Default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Receives the error of an `after` hook that threw. */
  readonly onHookError?: ((error: unknown) => void) | undefined;
  /** Decide by the tool's name and arguments before a question is asked; the first that matches wins. */
  readonly rules?: readonly Rule[] | undefined;
  /** Asked before every call that no rule allows. */
  readonly confirm?: Confirm | undefined;
  /** The approvals that cover later calls. Tools that belong together can share one object. */
  readonly approvals?: Approvals | undefined;
  /** Receives the events of questions, answers and refusals. It is not awaited. */
  readonly notify?: Notify | undefined;
  /** Names of further tools that the hooks and rules may name, for lists that several tools share. */
  readonly foreignTools?: readonly string[] | undefined;
}

const APPROVALS_OPTIONS: Options<Approvals> = instance<Approvals>("Approvals", "a memory of approvals", {
  turn: required(callback()),
  covering: required(callback()),
  note: required(callback()),
  offer: required(callback()),
  remember: required(callback()),
});

/** The options of {@link withHooks}. */
export const WITH_HOOKS_OPTIONS: Options<WithHooksOptions> = options("WithHooksOptions", {
  timeoutMs: integer(1),
  onHookError: callback(),
  rules: list(RULE_OPTIONS),
  confirm: callback(),
  approvals: APPROVALS_OPTIONS,
  notify: callback(),
  foreignTools: list(text()),
});

const checkOptions = optionChecker("withHooks", WITH_HOOKS_OPTIONS);
const checkHooks = optionChecker("withHooks", list(HOOK_OPTIONS));
const checkTool = optionChecker(
  "withHooks",
  instance<AnyTool>("AnyTool", "a tool", { name: required(text()), execute: required(callback()) }),
);

/** A tool with its properties, whose calls return a {@link HookResult}. */
export type Hooked<T extends AnyTool> = Omit<T, "execute"> & {
  execute(args: Readonly<Record<string, unknown>>, ...more: unknown[]): Promise<HookResult>;
};

/**
 * Wraps a tool of another package with hooks: they may stop a call, change its arguments, and
 * replace its result.
 *
 * @example
 * const guarded = withHooks(bash, hooks, { confirm: terminalApprover().confirm });
 * const { ok, text } = await guarded.execute({ command: "ls" });
 */
export function withHooks<T extends AnyTool>(
  tool: T,
  hooks: readonly AnyHook[],
  given: WithHooksOptions = {},
): Hooked<T> {
  const { name } = checkTool(tool);
  const bound = bindHooks(checkHooks(hooks));
  const options = checkOptions(given);
  const known = new Set([name, ...TOOL_NAMES, ...(options.foreignTools ?? [])]);
  assertToolNames("withHooks", "hooks", hooks, known);
  assertRules("withHooks", "rules", options.rules ?? [], known);
  const unrecorded = options.rules?.findIndex(({ decision }) => decision === "review") ?? -1;
  if (unrecorded >= 0) {
    const problem = "'review' needs a history of what the tool changes; use allow or ask";
    throw wrongOptionError("withHooks", `rules[${unrecorded}].decision`, problem);
  }
  const subject: HookCallFacts = { tool_name: name };
  const before = hooksFor(bound, "before", name);
  const after = hooksFor(bound, "after", name);
  const confirm = oneOf(approversFor(bound, name, options.confirm));
  const rules = compileRules(options.rules ?? [], undefined, known);
  const approvals = options.approvals ?? makeApprovals();

  const sources = [
    hooksSource(),
    rulesSource(rules),
    defaultSource(confirm === undefined ? undefined : "ask"),
    approvalsSource(approvals),
    approverSource(confirm),
  ];

  const permit = async (
    args: Readonly<Record<string, unknown>>,
    stopped: CallFacts["stopped"],
  ): Promise<void> => {
    await approvals.refresh?.();
    const turn = approvals.turn(undefined, undefined);
    const asked = { tool: name, roots: [], turn };
    const facts = { tool: name, args, places: [], effects: [], caller: { turn }, stopped };
    const verdict = decide(sources, facts);
    if (verdict.decision === "ask" || verdict.source === "approvals")
      approvals.note({ tool: name, places: [] });
    if (!mustAsk(verdict) || confirm === undefined) return;
    notifySafely(options.notify, { type: "approval_asked", tool: name, path: "", title: name });
    const reply = await askConfirm(
      confirm,
      {
        type: "exec",
        title: `Run ${name}`,
        tool: name,
        fileName: "",
        fileDiff: "",
        originalContent: null,
        newContent: null,
        path: "",
        paths: [],
        risk: "high",
        args,
        scopes: approvals.offer(asked, []).filter(({ outcome }) => outcome !== "proceed_always"),
        changes: [],
        digest: digestOfParts(["filewright tool 1", name, args]),
        complete: true,
      },
      undefined,
    );
    const approval = await approvals.remember(reply, asked);
    notifySafely(options.notify, {
      type: "approval_answered",
      tool: name,
      path: "",
      outcome: reply.outcome,
      ...(approval === undefined ? {} : { approval }),
    });
    if (!approvesCall(reply)) throw refusedBy(reply);
  };

  const execute = async (
    given: Readonly<Record<string, unknown>>,
    ...more: unknown[]
  ): Promise<HookResult> => {
    let args = given;
    let result: HookResult;
    try {
      const timeoutMs = options.timeoutMs ?? DEFAULT_LIMITS.hookTimeoutMs;
      const { args: left, stopped } = await runBeforeHooks(before, subject, given, timeoutMs);
      if (stopped === undefined) args = left;
      await permit(args, stopped);
    } catch (thrown) {
      if (thrown instanceof HookException) throw thrown.what;
      if (!(thrown instanceof FilewrightError)) throw thrown;
      result = refusalResult(thrown);
      notifySafely(options.notify, {
        type: "call_denied",
        tool: name,
        code: thrown.code,
        message: thrown.message,
      });
      return runAfterHooksOnResult(after, subject, args, result, options.onHookError);
    }
    const started = performance.now();
    try {
      result = toHookResult(await tool.execute(args, ...(more as never[])));
    } catch (thrown) {
      // The tool's own error is thrown to its caller; the `after` hooks see it too.
      const text = `Error: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
      await runAfterHooksOnResult(after, subject, args, { ok: false, text }, options.onHookError);
      throw thrown;
    }
    return runAfterHooksOnResult(
      after,
      subject,
      args,
      result,
      options.onHookError,
      performance.now() - started,
    );
  };
  return { ...tool, execute };
}

/** Returns a refusal as the result of a call. */
function refusalResult({ code, message, details }: FilewrightError): HookResult {
  const text = details?.["verbatim"] === true ? message : `Error: ${message}`;
  return { ok: false, text, error: { code, message } };
}

/** Returns what the tool of another package returned as a {@link HookResult}. */
function toHookResult(given: unknown): HookResult {
  if (typeof given === "object" && given !== null && "ok" in given && "text" in given)
    return given as HookResult;
  return { ok: true, text: typeof given === "string" ? given : (JSON.stringify(given) ?? ""), data: given };
}
