/**
 * Converts the callbacks of an agent's loop to hooks of a workspace: all run before and after each
 * call, in order, each with its time limit, and with the replies of a hook. Callbacks added later
 * run too.
 */
import { FilewrightError } from "../engine/errors.ts";
import type { Hook, HookContext, HookPreview } from "../hooks/hook.ts";
import type { Preset } from "../presets/index.ts";
import { HookException, runAfterHooksOnResult, runBeforeHooks } from "../hooks/run.ts";
import { DEFAULT_LIMITS } from "../tools/lib/limits.ts";

/** One callback with its two functions. */
export interface LoopCallback {
  /** Runs before a call, and may stop it or change its arguments. */
  before(context: HookContext): unknown;
  /** Runs after a call, and may replace its result. */
  after(context: HookContext): unknown;
}

/** Creates the hooks for `openWorkspace`. `callbacks` returns the current ones at each call. */
export function loopHooks(
  callbacks: () => readonly LoopCallback[],
  onError: ((error: unknown) => void) | undefined,
): Hook[] {
  const at = (stage: "before" | "after"): Hook[] =>
    callbacks().map((callback) => ({ stage, tool: "*", run: (context) => callback[stage](context) }));
  return [
    {
      stage: "before",
      tool: "*",
      async run({ args, ...subject }) {
        try {
          const { preview } = subject;
          const asked = await runBeforeHooks(at("before"), subject, args, {
            timeoutMs: DEFAULT_LIMITS.hookTimeoutMs,
            previewer: preview && ((_, modified) => previewIfUnchanged(preview, modified)),
          });
          // The workspace decides by the refusal.
          if (asked.stopped !== undefined) throw asked.stopped;
          if (asked.modified.length === 0) return undefined;
          const changed = asked.modified.map((key) => [key, asked.args[key] ?? null] as const);
          return { modified_args: Object.fromEntries(changed) };
        } catch (thrown) {
          if (thrown instanceof HookException) return { raise_exception: thrown.what };
          throw thrown;
        }
      },
    },
    {
      stage: "after",
      tool: "*",
      async run({ args, result, duration_ms, ...subject }) {
        if (result === undefined) return undefined;
        const ended = { subject, args, durationMs: duration_ms, onError };
        const left = await runAfterHooksOnResult(at("after"), ended, result);
        const { text, display, data } = left;
        return left === result ? undefined : { text, display, data };
      },
    },
  ];
}

/** Returns the arguments of a call under the preset's names, when the call used one of its tools. */
export function argsUnderPresetNames(
  { tools }: Preset,
  { called_as, args }: Pick<HookContext, "called_as" | "args">,
): Record<string, unknown> {
  const names = tools.find(({ name }) => name === called_as)?.names;
  if (names === undefined) return { ...args };
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => [
      names.argument(key) ?? key,
      typeof value === "number" ? names.value(key, value) : value,
    ]),
  );
}

/**
 * Returns the preview of the call while no callback has changed its arguments, which the workspace
 * learns only afterwards.
 */
function previewIfUnchanged(
  preview: () => Promise<HookPreview>,
  modified: readonly string[],
): Promise<HookPreview> {
  if (modified.length === 0) return preview();
  const why = `there is no preview after a callback changed ${modified.join(", ")}`;
  return Promise.reject(new FilewrightError("UNSUPPORTED_OPERATION", why, { complete: true }));
}
