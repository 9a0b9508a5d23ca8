/** The hooks before a call, which may refuse it or change its arguments. A call and an operation of a batch run them. */
import type { AnyChangingTool, AnyTool } from "../tools/lib/tool.ts";
import type { FsBackend } from "../backends/backend.ts";
import { hooksFor, type HookCallFacts, type PreviewOfCall, runBeforeHooks } from "../hooks/run.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { type Arguments, withCanonicalKeys } from "../tools/lib/schema.ts";
import { type BegunCallOptions, previewChange } from "./enter.ts";
import type { Session } from "./session.ts";
import { decideStep } from "./sources.ts";

/** A call as its hooks see it. */
export interface HookableCall {
  readonly tool: AnyTool;
  readonly raw: Arguments;
  /** The name that a preset gives the tool; undefined for a canonical call. */
  readonly calledAs: string | undefined;
  readonly meant: CanonicalCall | undefined;
  readonly began: number;
  readonly options: BegunCallOptions;
  /** Storage in place of the workspace's, for example the overlay of a batch. */
  readonly storage: FsBackend | undefined;
}

/** The arguments as the hooks left them. */
interface HookedArguments {
  readonly raw: Arguments;
  /** The names of the arguments that they changed. */
  readonly modified: readonly string[];
}

/**
 * Runs the hooks before a call; undefined without any.
 * @throws FilewrightError HOOK_BLOCKED when one refuses the call; HookException
 */
export async function argumentsAfterHooks(
  session: Session,
  call: HookableCall,
): Promise<HookedArguments | undefined> {
  const { tool, raw, calledAs, meant, options } = call;
  const hooks =
    session.hooks.bound.length === 0 ? [] : hooksFor(session.hooks.bound, "before", tool.name, calledAs);
  if (hooks.length === 0) return undefined;
  const previewer: PreviewOfCall | undefined =
    tool.kind === "change"
      ? (current, keys) =>
          previewChange(session, {
            ...call,
            tool: tool as AnyChangingTool,
            raw: withCanonicalNames(current, keys, meant),
          })
      : undefined;
  const subject = hookCallFactsOf(tool.name, calledAs, options);
  const outcome = await runBeforeHooks(hooks, subject, raw, {
    timeoutMs: session.settings.limits.hookTimeoutMs,
    previewer,
  });
  const { args, modified, stopped } = outcome;
  decideStep(session.gates.sources(tool.name), { tool: tool.name, args, stopped }, { step: "arguments" });
  if (modified.length === 0) return { raw, modified };
  const named = withCanonicalNames(args, modified, meant);
  return { raw: withCanonicalKeys(tool.name, named, tool.aliases), modified };
}

/** Returns the facts about a call that are the same for all its hooks. */
export function hookCallFactsOf(
  tool: string,
  calledAs: string | undefined,
  { toolCall, signal }: Pick<BegunCallOptions, "toolCall" | "signal">,
): HookCallFacts {
  return {
    tool_name: tool,
    tool_call: toolCall,
    ...withoutUndefined({ called_as: calledAs, signal }),
  };
}

/** Returns the arguments with canonical names, after a hook changed some under the names of a preset. */
function withCanonicalNames(
  args: Arguments,
  modified: readonly string[],
  meant: CanonicalCall | undefined,
): Arguments {
  const ours = meant?.ours ?? {};
  const result: Record<string, unknown> = { ...args };
  for (const key of modified) {
    const name = ours[key];
    if (name === undefined || !Object.hasOwn(result, key)) continue;
    result[name] = result[key];
    delete result[key];
  }
  return result;
}
