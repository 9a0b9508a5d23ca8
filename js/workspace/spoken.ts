/** The tools of a workspace in the words of a preset. */
import type { Preset, PresetTool } from "../presets/index.ts";
import { runCall } from "./call.ts";
import { allowed, callOptions } from "./call-options.ts";
import type { CallGate } from "./drain.ts";
import type { CallOptions } from "./enter.ts";
import { FIND_IN_ROOTS, findInRoots } from "./first-root.ts";
import { homeOfHost } from "./host.ts";
import { iconOf, outlineOf, previewOf } from "./outline.ts";
import { type ToolResult, unknownTool } from "./result.ts";
import type { Session } from "./session.ts";
import type { ToolDefinition } from "./workspace.ts";

/** What a preset offers over a session. */
export interface SpokenTools {
  readonly tools: readonly ToolDefinition[];
  call(name: string, args: unknown, options?: CallOptions): Promise<ToolResult>;
}

/** Makes the tools of a preset. `calls` refuses those that may not begin, and counts the others. */
export function spokenTools(
  session: Session,
  preset: Preset,
  calls: Pick<CallGate, "refusal" | "run">,
): SpokenTools {
  const byName = new Map(preset.tools.map((tool) => [tool.name, tool]));
  const call = async (name: string, args: unknown, given?: CallOptions): Promise<ToolResult> => {
    const tool = byName.get(name);
    const end = calls.refusal();
    if (end !== undefined) return end;
    if (tool === undefined) return unknownTool(name, byName.keys());
    const checked = callOptions(given);
    if ("ok" in checked) return checked;
    return calls.run(() => callSpoken(session, tool, args, checked.options));
  };
  const offered = preset.tools.filter((tool) => !session.access.readOnly || tool.kind === "read");
  const tools = offered.map((spoken): ToolDefinition => {
    const { name, title, description, inputSchema, outputSchema, annotations, tool } = spoken;
    const meant = (args: unknown) => () => spoken.expand(args, { home: homeOfHost() });
    return Object.freeze({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations,
      icon: iconOf(tool.name),
      outline: (args: unknown) => outlineOf(session, tool, args, meant(args)),
      preview: async (args: unknown, options?: CallOptions) =>
        calls.run(() =>
          previewOf(session, tool, args, allowed(calls.refusal() ?? callOptions(options)), meant(args)),
        ),
      execute: (args: unknown, options?: CallOptions) => call(name, args, options),
      [FIND_IN_ROOTS]: findInRoots(session, tool.name),
    });
  });
  return Object.freeze({ tools: Object.freeze(tools), call });
}

async function callSpoken(
  session: Session,
  tool: PresetTool,
  args: unknown,
  options: CallOptions,
): Promise<ToolResult> {
  const host = { home: homeOfHost() };
  const result = await runCall(session, tool.tool, args, options, {
    tool,
    meaning: () => tool.expand(args, host),
  });
  if (result.ok || tool.instead === undefined || result.error.code === "INVALID_ARGUMENT") return result;
  const other = tool.instead(result.error.code, args, host);
  return other === undefined
    ? result
    : runCall(session, other.tool, args, options, { tool, meaning: () => other });
}
