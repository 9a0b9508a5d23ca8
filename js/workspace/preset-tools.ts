/** Offers the tools of a workspace under the names and arguments of a preset. */
import type { HookPreview } from "../hooks/hook.ts";
import type { Preset, PresetTool } from "../presets/index.ts";
import type { PresetHost } from "../presets/preset.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import { iconOfTool, type ToolIcon } from "../tools/icons.ts";
import type { Annotations } from "../tools/lib/tool.ts";
import type { RunCall } from "../call/call.ts";
import { callsOf } from "../call/stages.ts";
import { optionsOrThrow, checkCallOptions } from "../pipeline/call-options.ts";
import type { CallOptions } from "../pipeline/enter.ts";
import { ROOT_LOOKUP, makeRootLookup } from "../pipeline/paths/first-root.ts";
import type { CallByName, Entrance } from "./entrance.ts";
import { homeOfHost } from "./host.ts";
import { type CallOutline, outlineOfCall, previewOfCall } from "../call/outline.ts";
import type { ToolResult } from "../pipeline/result.ts";
import type { Session } from "../pipeline/session.ts";

/** A tool for hosts and adapters. */
export interface ToolDefinition {
  /** The name by which models call the tool. */
  readonly name: string;
  /** The name of the tool for people. */
  readonly title: string;
  /** The description of the tool for models: its purpose, when to use it, its limits. */
  readonly description: string;
  /** The JSON Schema of the tool's arguments. */
  readonly inputSchema: ObjectSchema;
  /** The JSON Schema of the data of the tool's result. */
  readonly outputSchema: ObjectSchema;
  /** Hints about the effect of the tool for hosts, as in the Model Context Protocol. */
  readonly annotations: Annotations;
  /** The icon of the tool for people. */
  readonly icon: ToolIcon;
  /**
   * Returns a title for people and the paths that a call names, or the reason why its arguments are refused.
   * Runs nothing.
   */
  outline(args: unknown): CallOutline;
  /**
   * Returns the effect of a change; undefined for a call that changes nothing, and for a batch. Changes
   * nothing and runs no hook.
   * @throws FilewrightError as the call itself would
   */
  preview(args: unknown, options?: CallOptions): Promise<HookPreview | undefined>;
  /** Runs the tool, as `ws.call` does. */
  execute(args: unknown, options?: CallOptions): Promise<ToolResult>;
}

/** The tools of a preset on one workspace. */
export interface PresetTools {
  readonly tools: readonly ToolDefinition[];
  readonly call: CallByName;
}

/** Creates the tools of a preset. */
export function presetTools(
  session: Session,
  preset: Preset,
  { gate, refusal, callsBy }: Entrance,
): PresetTools {
  const byName = new Map(preset.tools.map((tool) => [tool.name, tool]));
  const run = callsOf(session);
  const host = hostOf(session);
  const call = callsBy(byName, (tool, args, options) => callPresetTool(run, host(), tool, { args, options }));
  const offered = preset.tools.filter((tool) => !session.files.access.readOnly || tool.kind === "read");
  const tools = offered.map((presetTool): ToolDefinition => {
    const { name, title, description, inputSchema, outputSchema, annotations, tool } = presetTool;
    const canonical = (args: unknown) => () => presetTool.expand(args, host());
    return Object.freeze({
      name,
      title,
      description,
      inputSchema,
      outputSchema,
      annotations,
      icon: iconOfTool(tool.name),
      outline: (args: unknown) => outlineOfCall(session, tool, args, canonical(args)),
      preview: async (args: unknown, options?: CallOptions) =>
        gate.run(() =>
          previewOfCall(
            session,
            { known: tool, given: args, presetCall: { tool: presetTool, meaning: canonical(args) } },
            optionsOrThrow(refusal() ?? checkCallOptions(options)),
          ),
        ),
      execute: (args: unknown, options?: CallOptions) => call(name, args, options),
      [ROOT_LOOKUP]: makeRootLookup(session, tool.name),
    });
  });
  return Object.freeze({ tools: Object.freeze(tools), call });
}

/** Returns the function that gives the facts by which a preset understands paths. */
function hostOf({ files: { resolver } }: Session): () => PresetHost {
  return () => ({ home: homeOfHost(), paths: resolver.policy.paths });
}

/** A call of a preset's tool as it was sent. */
interface SentCall {
  readonly args: unknown;
  readonly options: CallOptions;
}

async function callPresetTool(
  run: RunCall,
  host: PresetHost,
  tool: PresetTool,
  asked: SentCall,
): Promise<ToolResult> {
  const { args, options } = asked;
  const result = await run(tool.tool, args, options, { tool, meaning: () => tool.expand(args, host) });
  if (result.ok || tool.instead === undefined || result.error.code === "INVALID_ARGUMENT") return result;
  const other = tool.instead(result.error.code, args, host);
  return other === undefined ? result : run(other.tool, args, options, { tool, meaning: () => other });
}
