/**
 * Runs hooks: in order, each with its time limit; the first stop wins.
 *
 * A `before` hook that throws or does not answer blocks the call (fail closed); an `after` hook
 * that throws is ignored.
 */
import { FilewrightError } from "../engine/errors.ts";
import { answerFault, ANSWERERS } from "../schema/answer-fault.ts";
import { optionChecker, optionReader } from "../schema/option.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { headlineOf } from "../tools/lib/text.ts";
import type { Confirm } from "./confirm.ts";
import {
  AFTER_REPLY,
  type AfterReply,
  BEFORE_REPLY,
  type BeforeReply,
  type AnyHook,
  type ConfirmHook,
  type Hook,
  type HookContext,
  type HookPreview,
  type HookResult,
} from "./hook.ts";

const readKnownReply = optionReader(BEFORE_REPLY);

/** Returns an answer that is understood; otherwise tells the developer. */
function readBeforeReply(given: unknown): BeforeReply | undefined {
  const reply = readKnownReply(given);
  if (reply === undefined) answerFault(ANSWERERS.before, given);
  return reply;
}
const checkAfterReply = optionChecker("after hook", AFTER_REPLY);

/**
 * An exception of a hook, with which the promise of the call must reject. It passes through the pipeline
 * unchanged.
 */
export class HookException {
  readonly what: unknown;

  constructor(what: unknown) {
    this.what = what;
  }
}

/** The meaning of a name that is no canonical one: what presets call by it. */
export interface ToolMeaning {
  /** The canonical tools of its calls. */
  readonly tools: ReadonlySet<string>;
  /** All names of the presets that have it. Whoever calls by one of them chooses among all of them. */
  readonly siblings: ReadonlySet<string>;
}

/** A hook with the calls that it concerns. */
export interface BoundHook {
  readonly hook: AnyHook;
  /** Returns true for a call of a canonical tool. `calledAs` is the name that a preset gives it, if it was called so. */
  isFor(tool: string, calledAs: string | undefined): boolean;
}

/**
 * Binds hooks to the calls that they concern. A hook under the name of a preset's tool also concerns the canonical tools
 * behind it, so that it is not passed by where the call is made under another name.
 */
export function bindHooks(
  hooks: readonly AnyHook[],
  meaningOf: (name: string) => ToolMeaning | undefined = () => undefined,
): readonly BoundHook[] {
  return hooks.map((hook): BoundHook => {
    const { tool: named } = hook;
    const meaning = meaningOf(named);
    return Object.freeze({
      hook,
      isFor(tool: string, calledAs: string | undefined): boolean {
        if (named === "*" || named === tool || named === calledAs) return true;
        if (calledAs !== undefined && meaning?.siblings.has(calledAs) === true) return false;
        return meaning?.tools.has(tool) === true;
      },
    });
  });
}

/** Returns the hooks of a stage that concern a call. */
export function hooksFor(
  hooks: readonly BoundHook[],
  stage: Hook["stage"],
  tool: string,
  calledAs?: string,
): readonly Hook[] {
  return hooks
    .filter((bound) => bound.isFor(tool, calledAs))
    .map(({ hook }) => hook)
    .filter((hook): hook is Hook => hook.stage === stage);
}

/** Returns every approver of a call: `confirm` hooks in their order, then `last`. */
export function approversFor(
  hooks: readonly BoundHook[],
  tool: string,
  last: Confirm | undefined,
  calledAs?: string,
): readonly Confirm[] {
  const asked = hooks
    .filter((bound) => bound.isFor(tool, calledAs))
    .map(({ hook }) => hook)
    .filter((hook): hook is ConfirmHook => hook.stage === "confirm");
  return [...asked.map(({ run }) => run), ...(last === undefined ? [] : [last])];
}

/** The result of the hooks before a call. */
export interface BeforeOutcome {
  /** The arguments after the hooks. */
  readonly args: Record<string, unknown>;
  /** The keys of the arguments that the hooks changed. */
  readonly modified: readonly string[];
  /** The error of the hook that refused the call; absent when none did. */
  readonly stopped?: FilewrightError;
}

/** The facts about a call that are the same for all its hooks. */
export type HookCallFacts = Omit<HookContext, "args" | "preview">;

/** Returns the preview of a call with these arguments. */
export type PreviewOfCall = (
  args: Readonly<Record<string, unknown>>,
  modified: readonly string[],
) => Promise<HookPreview>;

/** What the `before` hooks of a call are given besides its facts. */
export interface BeforeHookTerms {
  /** The time in which each has to answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Makes the previews of the call; undefined for a call without one. */
  readonly previewer: PreviewOfCall | undefined;
}

/** Runs the `before` hooks in order, until one refuses the call. @throws {@link HookException} */
export async function runBeforeHooks(
  hooks: readonly Hook[],
  subject: HookCallFacts,
  original: Readonly<Record<string, unknown>>,
  { timeoutMs, previewer }: BeforeHookTerms,
): Promise<BeforeOutcome> {
  let args: Record<string, unknown> = { ...original };
  const modified = new Set<string>();
  for (const hook of hooks) {
    const [current, keys] = [args, [...modified]];
    const preview = previewer && (() => previewer(current, keys));
    const context = { ...subject, args: structuredClone(args), ...withoutUndefined({ preview }) };
    const reply = await beforeReplyOf(hook, context, timeoutMs);
    if (reply instanceof FilewrightError) return { args, modified: [...modified], stopped: reply };
    for (const [key, value] of Object.entries(reply?.modified_args ?? {})) {
      args = { ...args };
      if (value === null) delete args[key];
      else args[key] = value;
      modified.add(key);
    }
  }
  return { args, modified: [...modified] };
}

/**
 * Returns the reply of a hook; an error if the hook refuses the call, fails or is too late. @throws {@link
 * HookException}
 */
async function beforeReplyOf(
  hook: Hook,
  context: HookContext,
  timeoutMs: number,
): Promise<BeforeReply | FilewrightError | undefined> {
  let given: unknown;
  try {
    given = await runWithTimeout(hook, context, timeoutMs);
  } catch (error) {
    // A hook may make calls itself; the refusal of such a call refuses this one, with the same text.
    if (error instanceof FilewrightError && error.code === "HOOK_BLOCKED") return error;
    return hookFailureError("failed", "failed", error);
  }
  if (given === undefined || given === null) return undefined;
  const reply = readBeforeReply(given);
  if (reply === undefined) return hookFailureError("gave an answer that is not understood");
  if (reply.raise_exception !== undefined) throw new HookException(reply.raise_exception);
  return reply.proceed === false ? hookStopError(reply.alternative_response) : reply;
}

/** Returns the error of a call that a hook refused, with the text of the hook if it gave one. */
function hookStopError(response: unknown): FilewrightError {
  const own = response !== undefined && response !== null && response !== "";
  const text = typeof response === "string" ? response : JSON.stringify(response);
  return new FilewrightError("HOOK_BLOCKED", own ? text : "blocked by hook", {
    complete: true,
    details: withoutUndefined({ reason: "hook", verbatim: own ? true : undefined }),
  });
}

/** Runs a hook and returns its answer. Rejects when there is none after `timeoutMs` milliseconds. */
async function runWithTimeout(hook: Hook, context: HookContext, timeoutMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const given: unknown = hook.run(context);
    // A synchronous answer needs no timer.
    if (!(given instanceof Promise) && typeof (given as { then?: unknown } | null)?.then !== "function")
      return given;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(hookFailureError(`gave no answer within ${timeoutMs} ms`, "timeout")),
        timeoutMs,
      );
    });
    return await Promise.race([Promise.resolve(given), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the error of a call whose hook failed. */
function hookFailureError(why: string, reason = "invalid", cause?: unknown): FilewrightError {
  return new FilewrightError("HOOK_BLOCKED", `blocked by hook: it ${why}`, {
    complete: true,
    details: { reason },
    cause,
  });
}

/** A call after which hooks run. */
interface EndedCall {
  readonly subject: HookCallFacts;
  readonly args: Readonly<Record<string, unknown>>;
  /** Undefined where it was not measured. */
  readonly durationMs: number | undefined;
  /** Called with the error of a hook. */
  readonly onError: ((error: unknown) => void) | undefined;
}

/** Runs the `after` hooks in order. Each may replace the text or the data of the result. */
export async function runAfterHooksOnResult<Result extends HookResult>(
  hooks: readonly Hook[],
  { subject, args, durationMs, onError }: EndedCall,
  result: Result,
): Promise<Result> {
  let current = result;
  for (const hook of hooks) {
    try {
      const timed = withoutUndefined({ duration_ms: durationMs });
      const given = await hook.run({ ...subject, args, result: current, ...timed });
      if (given === undefined || given === null) continue;
      const reply = checkAfterReply(given);
      current = withReplacedParts(current, reply);
    } catch (error) {
      onError?.(error); // The change has happened: a failing observer cannot undo it.
    }
  }
  return current;
}

/** Returns a result with the parts that a hook replaced. */
function withReplacedParts<Result extends HookResult>(
  result: Result,
  { text, display, data }: AfterReply,
): Result {
  const isOtherText = text !== undefined && text !== result.text;
  const isOtherData = data !== undefined && data !== result.data && result.ok;
  const changed = { ...result, ...withoutUndefined({ text, data: result.ok ? data : undefined }) };
  const shown = result.display;
  if (display !== undefined && display !== shown) return { ...changed, display };
  if (shown === undefined) return changed;
  if (isOtherText) return { ...changed, display: text };
  return isOtherData ? { ...changed, display: headlineOf(shown) } : changed;
}
