/** The first step of a call, of three: the tool and the arguments that it means, as the hooks before it leave them. */
import type { AnyTool } from "../tools/lib/tool.ts";
import { beginCall } from "../pipeline/enter.ts";
import { historyForCaller } from "../pipeline/past/history.ts";
import type { ReplacedPath } from "../pipeline/paths/look-alikes.ts";
import { type Arguments, withCanonicalKeys } from "../tools/lib/schema.ts";
import { argumentsAfterHooks } from "./before-hooks.ts";
import type { CallRequest, MeantCall } from "./call.ts";

/** Returns what a call means. @throws FilewrightError INVALID_ARGUMENT, HOOK_BLOCKED and others; HookException */
export async function mean(request: CallRequest): Promise<MeantCall> {
  const { session, given, options, presetCall, facts, replaced } = request;
  const meant = presetCall?.meaning();
  // The cast is safe: a tool only receives its own arguments, plans and data.
  const tool = (meant?.tool ?? request.known) as unknown as AnyTool;
  const begun = beginCall(session, tool, options, request.callId);
  const sent = withCanonicalKeys(tool.name, meant === undefined ? given : meant.args, tool.aliases);
  const raw = replaced === undefined ? sent : withReplacedArguments(tool, sent, replaced);
  facts.tell({ what: "meant", tool, meant, raw, callId: begun.callId });
  let parsed = await tool.parse(raw, options);
  let modified: readonly string[] = [];
  if (session.hooks.bound.length > 0) {
    const hooked = await argumentsAfterHooks({ request, tool, canonical: meant, begun }, raw);
    // A hook may have changed what its preview has read.
    if (hooked !== undefined) session.staging.stage?.refresh();
    if (hooked !== undefined && hooked.modified.length > 0) {
      facts.tell({ what: "meant", tool, meant, raw: hooked.raw, callId: begun.callId });
      parsed = await tool.parse(hooked.raw, options);
      ({ modified } = hooked);
    }
  }
  let args = replaced === undefined ? parsed : withReplacedNames(tool, parsed, replaced);
  if (tool.kind === "change" && tool.prepare !== undefined)
    args = await tool.prepare(args, historyForCaller(session, options.agent));
  return { request, tool, canonical: meant, args, modified, begun };
}

/** Returns the arguments with the paths that replace missing ones. The paths in a text are replaced once it is parsed. */
function withReplacedArguments(tool: AnyTool, raw: Arguments, replaced: readonly ReplacedPath[]): Arguments {
  if (tool.kind === "change" && tool.withPaths !== undefined) return raw;
  return { ...raw, ...Object.fromEntries(replaced.map(({ argument, path }) => [argument, path])) };
}

function withReplacedNames(tool: AnyTool, parsed: object, replaced: readonly ReplacedPath[]): object {
  if (tool.kind !== "change" || tool.withPaths === undefined) return parsed;
  return tool.withPaths(parsed, new Map(replaced.map(({ typed, path }) => [typed, path])));
}
