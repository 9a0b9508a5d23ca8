/**
 * Tools for TinyAgent: functions with the metadata that its `add_tool` takes, and its callbacks as
 * hooks. Nothing of it is imported.
 *
 * Its loop itself reports `agent_start`, `llm_start`, `llm_end`, `message_add` and `agent_end` to
 * callbacks. The hooks made here report `tool_start` and `tool_end`, and a callback may reply like
 * any hook: stop the call, change its arguments, replace its result.
 *
 * @module filewright/tinyagent
 */
import type { Hook, HookContext } from "../hooks/hook.ts";
import { type Preset, type PresetName, PRESET_OPTION, presetOf } from "../presets/index.ts";
import { callback, optionChecker, instance, type Options, options as described } from "../schema/option.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import type { Workspace } from "../workspace/index.ts";
import { argsUnderPresetNames, loopHooks } from "./loop-hooks.ts";
import { adapterChecker, ADAPTER_OPTIONS, type AdapterOptions, selectTools } from "./offer.ts";

export type { AdapterOptions } from "./offer.ts";

/** A function that the agent calls with the arguments of a call. */
export interface TinyAgentTool {
  (args?: unknown): Promise<string>;
  /** The metadata that the framework's `@tool` attaches. */
  readonly _tool_metadata: {
    readonly name: string;
    readonly description: string;
    readonly schema: ObjectSchema;
    readonly is_class: false;
  };
}

/** The event of a call, at `tool_start` and `tool_end`. */
export interface TinyAgentCall {
  /** The name of the tool that the agent called. */
  readonly tool_name: string;
  /** The current arguments, under the names that the agent uses. */
  readonly tool_args: Readonly<Record<string, unknown>>;
  /** The loop's own record of the call, if any. */
  readonly tool_call?: unknown;
  /** The result of the call as text for the model; only at `tool_end`. */
  readonly result?: string;
  /** True when the call succeeded; only at `tool_end`. */
  readonly ok?: boolean;
  /** The preview of the call; only at `tool_start` of a change. */
  preview?: HookContext["preview"];
}

/** A function that was given to `add_callback`. */
export type TinyAgentCallback<Agent> = (event: string, agent: Agent, facts: TinyAgentCall) => unknown;

/** The required part of an agent: the list to which `add_callback` adds. */
export interface TinyAgent {
  // Callbacks take the agent itself, of any class.
  readonly callbacks: readonly TinyAgentCallback<never>[];
}

/** The options of {@link toTinyAgentHooks}. */
export interface TinyAgentHookOptions {
  /** The preset whose names of tools and arguments callbacks get. Default `tinyagent`. */
  readonly preset?: PresetName | Preset | undefined;
  /** Receives the error that a callback threw at `tool_end`, which is otherwise ignored. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The options of {@link toTinyAgentHooks}. */
export const TINY_AGENT_HOOK_OPTIONS: Options<TinyAgentHookOptions> = described("TinyAgentHookOptions", {
  preset: PRESET_OPTION,
  onError: callback<(error: unknown) => void>(),
});

const checkOptions = adapterChecker("toTinyAgentTools", ADAPTER_OPTIONS);
const checkHookOptions = optionChecker("toTinyAgentHooks", TINY_AGENT_HOOK_OPTIONS);
const checkAgent = optionChecker(
  "toTinyAgentHooks",
  instance<TinyAgent>(
    "TinyAgent",
    "an agent with callbacks",
    {},
    {
      test: ({ callbacks }) => (Array.isArray(callbacks) ? undefined : "must have a list callbacks"),
    },
  ),
);

/**
 * The tools of a workspace for `agent.add_tools`. The preset `tinyagent` has the names of its own file tools.
 *
 * @example
 * const hooks = toTinyAgentHooks(agent);
 * const ws = await openWorkspace({ root: "/repo", preset: "tinyagent", hooks });
 * agent.add_tools(toTinyAgentTools(ws));
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toTinyAgentTools(ws: Workspace, given: AdapterOptions = {}): TinyAgentTool[] {
  const options = checkOptions(ws, given);
  return selectTools(ws, options).map((tool) => {
    // The loop recognises a failure by its text, as for its own tools.
    const run = async (args: unknown = {}): Promise<string> => (await tool.call(args)).text;
    const { name, description, inputSchema } = tool;
    const schema = structuredClone(inputSchema);
    return Object.assign(run, { _tool_metadata: { name, description, schema, is_class: false as const } });
  });
}

/**
 * The callbacks of an agent as hooks, for `openWorkspace`: `tool_start` before each call,
 * `tool_end` after it. Callbacks added later run too. A callback that throws at `tool_start`
 * blocks the call, as any hook does.
 *
 * @example
 * agent.add_callback((event, agent, { tool_name }) => {
 *   if (event === "tool_start" && tool_name === "write_file") return { proceed: false };
 * });
 * const ws = await
 * openWorkspace({ root: "/repo", preset: "tinyagent", hooks: toTinyAgentHooks(agent) });
 */
export function toTinyAgentHooks(agent: TinyAgent, given: TinyAgentHookOptions = {}): Hook[] {
  checkAgent(agent);
  const { onError, preset: named = "tinyagent" } = checkHookOptions(given);
  const preset = presetOf(named) as Preset;
  return loopHooks(
    () =>
      agent.callbacks.map((told) => {
        const tell = told as TinyAgentCallback<TinyAgent>;
        return {
          before: (context) => tell("tool_start", agent, callFactsOf(preset, context)),
          after: (context) => tell("tool_end", agent, callFactsOf(preset, context)),
        };
      }),
    onError,
  );
}

function callFactsOf(preset: Preset, context: HookContext): TinyAgentCall {
  const { tool_name, called_as = tool_name, tool_call, result, preview } = context;
  return {
    tool_name: called_as,
    tool_args: argsUnderPresetNames(preset, context),
    ...(tool_call === undefined ? {} : { tool_call }),
    ...(result === undefined ? {} : { result: result.text, ok: result.ok }),
    ...(preview === undefined ? {} : { preview }),
  };
}
