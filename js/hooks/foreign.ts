/**
 * Applies hooks, rules and approvals to tools of other packages: a shell, another server's tools,
 * any object with a name and a function.
 */
import {
  type CallFacts,
  decide,
  type DecisionSource,
  defaultSource,
  hooksSource,
  rulesSource,
} from "../policy/decide.ts";
import { assertRules, compileRules, type Rule, RULE_OPTIONS } from "../policy/rules.ts";
import { messageOf } from "../engine/thrown.ts";
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
import {
  type Approvals,
  approvalsSource,
  approverSource,
  type AskedQuestion,
  makeApprovals,
  mustAsk,
} from "./approvals.ts";
import { oneOf } from "./approvers.ts";
import { askReviewer, type CallQuestion } from "./asking.ts";
import { approvesCall, type Confirm, refusedBy, type Scope } from "./confirm.ts";
import { type Notify, notifySafely } from "./events.ts";
import { type AnyHook, type Hook, HOOK_OPTIONS, type HookResult } from "./hook.ts";
import { digestOfParts } from "./question.ts";
import {
  approversFor,
  bindHooks,
  type BoundHook,
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
  assertNoReview(options.rules ?? []);
  const wrapped = new HookedTool(tool, bound, options, known);
  return { ...tool, execute: (args, ...more) => wrapped.execute(args, more) };
}

function assertNoReview(rules: readonly Rule[]): void {
  const unrecorded = rules.findIndex(({ decision }) => decision === "review");
  if (unrecorded < 0) return;
  const problem = "'review' needs a history of what the tool changes; use allow or ask";
  throw wrongOptionError("withHooks", `rules[${unrecorded}].decision`, problem);
}

/** The calls of a tool with hooks. */
class HookedTool {
  readonly #tool: AnyTool;
  readonly #options: WithHooksOptions;
  readonly #subject: HookCallFacts;
  readonly #before: readonly Hook[];
  readonly #after: readonly Hook[];
  readonly #confirm: Confirm | undefined;
  readonly #approvals: Approvals;
  readonly #sources: readonly DecisionSource[];

  constructor(
    tool: AnyTool,
    bound: readonly BoundHook[],
    options: WithHooksOptions,
    known: ReadonlySet<string>,
  ) {
    const { name } = tool;
    this.#tool = tool;
    this.#options = options;
    this.#subject = { tool_name: name };
    this.#before = hooksFor(bound, "before", name);
    this.#after = hooksFor(bound, "after", name);
    this.#confirm = oneOf(approversFor(bound, name, options.confirm));
    this.#approvals = options.approvals ?? makeApprovals();
    this.#sources = [
      hooksSource(),
      rulesSource(compileRules(options.rules ?? [], undefined, known)),
      defaultSource(this.#confirm === undefined ? undefined : "ask"),
      approvalsSource(this.#approvals),
      approverSource(this.#confirm),
    ];
  }

  async execute(given: Readonly<Record<string, unknown>>, more: readonly unknown[]): Promise<HookResult> {
    const permitted = await this.#permitted(given);
    if ("refused" in permitted) return this.#afterHooks(permitted.refused, permitted.result);
    const { args } = permitted;
    const started = performance.now();
    let result: HookResult;
    try {
      result = toHookResult(await this.#tool.execute(args, ...(more as never[])));
    } catch (thrown) {
      // The tool's own error is thrown to its caller; the `after` hooks see it too.
      const text = `Error: ${messageOf(thrown)}`;
      await this.#afterHooks(args, { ok: false, text });
      throw thrown;
    }
    return this.#afterHooks(args, result, performance.now() - started);
  }

  #afterHooks(
    args: Readonly<Record<string, unknown>>,
    result: HookResult,
    durationMs?: number,
  ): Promise<HookResult> {
    const { onHookError: onError } = this.#options;
    const ended = { subject: this.#subject, args, durationMs, onError };
    return runAfterHooksOnResult(this.#after, ended, result);
  }

  /** Returns the arguments of a call after its hooks, or the result of one that was refused. @throws what a hook throws */
  async #permitted(
    given: Readonly<Record<string, unknown>>,
  ): Promise<{ readonly args: Readonly<Record<string, unknown>> } | RefusedCall> {
    let args = given;
    try {
      const timeoutMs = this.#options.timeoutMs ?? DEFAULT_LIMITS.hookTimeoutMs;
      const terms = { timeoutMs, previewer: undefined };
      const { args: left, stopped } = await runBeforeHooks(this.#before, this.#subject, given, terms);
      if (stopped === undefined) args = left;
      await this.#permit(args, stopped);
      return { args };
    } catch (thrown) {
      if (thrown instanceof HookException) throw thrown.what;
      if (!(thrown instanceof FilewrightError)) throw thrown;
      const { code, message } = thrown;
      notifySafely(this.#options.notify, { type: "call_denied", tool: this.#tool.name, code, message });
      return { refused: args, result: refusalResult(thrown) };
    }
  }

  async #permit(args: Readonly<Record<string, unknown>>, stopped: CallFacts["stopped"]): Promise<void> {
    const [tool, approvals, confirm] = [this.#tool.name, this.#approvals, this.#confirm];
    await approvals.refresh?.();
    const turn = approvals.turn(undefined, undefined);
    const facts = { tool, args, places: [], effects: [], caller: { turn }, stopped };
    const verdict = decide(this.#sources, facts);
    if (verdict.decision === "ask" || verdict.source === "approvals") approvals.note({ tool, places: [] });
    if (mustAsk(verdict) && confirm !== undefined) await this.#ask(confirm, { tool, roots: [], turn }, args);
  }

  async #ask(confirm: Confirm, asked: AskedQuestion, args: Readonly<Record<string, unknown>>): Promise<void> {
    const [{ tool }, approvals, { notify }] = [asked, this.#approvals, this.#options];
    const scopes = approvals.offer(asked, []).filter(({ outcome }) => outcome !== "proceed_always");
    const question = questionAbout(tool, args, scopes);
    const reply = await askReviewer(
      { confirm, approvals, notify },
      { asked, title: tool, question },
      undefined,
    );
    if (!approvesCall(reply)) throw refusedBy(reply);
  }
}

/** A call that was refused, with its arguments as the hooks left them. */
interface RefusedCall {
  readonly refused: Readonly<Record<string, unknown>>;
  readonly result: HookResult;
}

/** Returns the question about a call of a tool of another package, of which only the arguments are known. */
function questionAbout(
  tool: string,
  args: Readonly<Record<string, unknown>>,
  scopes: readonly Scope[],
): CallQuestion["question"] {
  return {
    type: "exec",
    title: `Run ${tool}`,
    tool,
    fileName: "",
    fileDiff: "",
    originalContent: null,
    newContent: null,
    path: "",
    paths: [],
    risk: "high",
    args,
    scopes,
    changes: [],
    digest: digestOfParts(["filewright tool 1", tool, args]),
    complete: true,
  };
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
