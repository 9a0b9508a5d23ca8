/**
 * Running hooks: in order, each within its time, the first stop winning.
 *
 * A `before` hook that throws or stays silent blocks the call (fail closed); an
 * `after` hook that throws is passed over.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { AfterReply, BeforeReply, Hook, HookContext, HookResult } from "../hooks/hook.ts";
import { DEFAULT_LIMITS } from "../tools/limits.ts";

/** Carries what a hook raised out of the pipeline, to reject the call with it. */
export class Raised {
  readonly what: unknown;

  constructor(what: unknown) {
    this.what = what;
  }
}

/** Which hooks concern a tool, by its own name or by that of a preset. */
export function hooksFor(
  hooks: readonly Hook[],
  stage: Hook["stage"],
  tool: string,
  calledAs: string = tool,
): readonly Hook[] {
  return hooks.filter(
    (hook) => hook.stage === stage && (hook.tool === "*" || hook.tool === tool || hook.tool === calledAs),
  );
}

/** Arguments after the hooks, and which keys they changed. */
export interface BeforeOutcome {
  readonly args: Record<string, unknown>;
  readonly modified: readonly string[];
}

/** What a call is known by. */
export type Subject = Omit<HookContext, "args">;

/** Runs the `before` hooks. @throws FilewrightError HOOK_BLOCKED; {@link Raised} */
export async function runBefore(
  hooks: readonly Hook[],
  subject: Subject,
  given: Readonly<Record<string, unknown>>,
  timeoutMs: number,
): Promise<BeforeOutcome> {
  let args: Record<string, unknown> = { ...given };
  const modified = new Set<string>();
  for (const hook of hooks) {
    const reply = (await answer(hook, { ...subject, args: structuredClone(args) }, timeoutMs)) as
      | BeforeReply
      | undefined
      | null;
    if (reply === undefined || reply === null) continue;
    if (typeof reply !== "object") throw blocked("gave an answer that is not understood");
    if (reply.raise_exception !== undefined) throw new Raised(reply.raise_exception);
    if (reply.proceed === false) {
      throw new FilewrightError("HOOK_BLOCKED", reply.alternative_response ?? "blocked by hook", {
        complete: true,
        details: { reason: "hook", ...(reply.alternative_response === undefined ? {} : { verbatim: true }) },
      });
    }
    for (const [key, value] of Object.entries(reply.modified_args ?? {})) {
      args = { ...args };
      if (value === null) delete args[key];
      else args[key] = value;
      modified.add(key);
    }
  }
  return { args, modified: [...modified] };
}

async function answer(hook: Hook, context: HookContext, timeoutMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(blocked(`gave no answer within ${timeoutMs} ms`, "timeout")),
        timeoutMs,
      );
    });
    return await Promise.race([Promise.resolve(hook.run(context)), late]);
  } catch (error) {
    if (error instanceof FilewrightError && error.code === "HOOK_BLOCKED") throw error;
    throw blocked("failed", "failed", error);
  } finally {
    clearTimeout(timer);
  }
}

function blocked(why: string, reason = "invalid", cause?: unknown): FilewrightError {
  return new FilewrightError("HOOK_BLOCKED", `blocked by hook: it ${why}`, {
    complete: true,
    details: { reason },
    cause,
  });
}

/** Runs the `after` hooks; each may replace the text or the data. */
export async function runAfter<Result extends HookResult>(
  hooks: readonly Hook[],
  subject: Subject,
  args: Readonly<Record<string, unknown>>,
  result: Result,
  onError: ((error: unknown) => void) | undefined,
  durationMs?: number,
): Promise<Result> {
  let current = result;
  for (const hook of hooks) {
    try {
      const context: HookContext = {
        ...subject,
        args,
        result: current,
        ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
      };
      const reply = (await hook.run(context)) as AfterReply | undefined | null;
      if (reply === undefined || reply === null || typeof reply !== "object") continue;
      if (typeof reply.text === "string") current = { ...current, text: reply.text };
      if (reply.data !== undefined && current.ok) current = { ...current, data: reply.data };
    } catch (error) {
      onError?.(error); // The change has happened: a failing observer cannot undo it.
    }
  }
  return current;
}

/** Any tool at all: a name and a function. */
export interface AnyTool {
  readonly name: string;
  execute(args: Readonly<Record<string, unknown>>): unknown;
}

/**
 * Runs a tool that is not ours (a shell, another server's) through the same hooks:
 * it is stopped, or called with the arguments they leave, and its result is theirs
 * to replace.
 *
 * @example
 * const guarded = withHooks(bash, hooks);
 * const { ok, text } = await guarded.execute({ command: "ls" });
 */
export function withHooks(
  tool: AnyTool,
  hooks: readonly Hook[],
  options: { readonly timeoutMs?: number; readonly onHookError?: (error: unknown) => void } = {},
): { readonly name: string; execute(args: Readonly<Record<string, unknown>>): Promise<HookResult> } {
  const { name } = tool;
  const subject: Subject = { tool_name: name };
  return {
    name,
    async execute(given) {
      let args: Readonly<Record<string, unknown>> = given;
      let result: HookResult;
      try {
        ({ args } = await runBefore(
          hooksFor(hooks, "before", name),
          subject,
          given,
          options.timeoutMs ?? DEFAULT_LIMITS.hookTimeoutMs,
        ));
        result = resultOf(await tool.execute(args));
      } catch (thrown) {
        if (thrown instanceof Raised) throw thrown.what;
        if (!(thrown instanceof FilewrightError) || thrown.code !== "HOOK_BLOCKED") throw thrown;
        const { code, message, details } = thrown;
        const text = details?.["verbatim"] === true ? message : `Error: ${message}`;
        result = { ok: false, text, error: { code, message } };
      }
      return runAfter(hooksFor(hooks, "after", name), subject, args, result, options.onHookError);
    },
  };
}

/** What a foreign tool gave, as hooks see results. */
function resultOf(given: unknown): HookResult {
  if (typeof given === "object" && given !== null && "ok" in given && "text" in given)
    return given as HookResult;
  return { ok: true, text: typeof given === "string" ? given : (JSON.stringify(given) ?? ""), data: given };
}
