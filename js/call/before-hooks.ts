/** The hooks before a call, which may refuse it or change its arguments. A call and an operation of a batch run them. */
import type { HookPreview } from "../hooks/hook.ts";
import { hooksFor, type HookCallFacts, type PreviewOfCall, runBeforeHooks } from "../hooks/run.ts";
import type { CanonicalCall } from "../presets/preset.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { type Arguments, withCanonicalKeys } from "../tools/lib/schema.ts";
import type { BegunCallOptions } from "../pipeline/enter.ts";
import { decideStep } from "../pipeline/sources.ts";
import type { AnyChangingTool } from "../tools/lib/tool.ts";
import type { SentCall } from "./call.ts";

/** The arguments as the hooks left them. */
interface HookedArguments {
  readonly raw: Arguments;
  /** The names of the arguments that they changed. */
  readonly modified: readonly string[];
}

/**
 * Runs the hooks before a call with these arguments; undefined without any. A hook may ask for the preview of a change.
 * @throws FilewrightError HOOK_BLOCKED when one refuses the call; HookException
 */
export async function argumentsAfterHooks(
  sent: SentCall,
  raw: Arguments,
  previewOf: (sent: SentCall, tool: AnyChangingTool, args: Arguments) => Promise<HookPreview>,
): Promise<HookedArguments | undefined> {
  const { request, tool, canonical, begun } = sent;
  const { session, presetCall } = request;
  const calledAs = presetCall?.tool.name;
  const hooks = hooksFor(session.hooks.bound, "before", tool.name, calledAs);
  if (hooks.length === 0) return undefined;
  const canonicalOf = (args: Arguments, modified: readonly string[]): Arguments =>
    withCanonicalKeys(tool.name, withCanonicalNames(args, modified, canonical), tool.aliases);
  const previewer: PreviewOfCall | undefined =
    tool.kind === "change" ? (current, keys) => previewOf(sent, tool, canonicalOf(current, keys)) : undefined;
  const { args, modified, stopped } = await runBeforeHooks(
    hooks,
    hookCallFactsOf(tool.name, calledAs, begun),
    raw,
    { timeoutMs: session.settings.limits.hookTimeoutMs, previewer },
  );
  decideStep(session.gates.sources(tool.name), { tool: tool.name, args, stopped }, { step: "arguments" });
  return { raw: modified.length === 0 ? raw : canonicalOf(args, modified), modified };
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
