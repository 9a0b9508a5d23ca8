/**
 * Tools for the Anthropic SDK's tool runner: the workspace's, or the text editor and memory tools
 * that the API defines. Nothing of the SDK is imported.
 *
 * A failed call throws, so that the runner marks its result with `is_error`. The runner has no
 * approvals: give the workspace `confirm` or hooks.
 *
 * @module filewright/anthropic
 */
import { flag, type Options, options as described } from "../schema/option.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import type { StrictSchema } from "../presets/index.ts";
import type { Workspace } from "../workspace/index.ts";
import {
  adapterChecker,
  type AdapterOptions,
  type AdapterTool,
  selectTools,
  SHARED_OPTION_ROWS,
  CALLER_OPTIONS,
  type CallerOptions,
} from "./offer.ts";
import { type AnthropicBlock, toAnthropicContent } from "./content.ts";
import { textWithoutErrorPrefix, ToolFailure } from "./outcome.ts";
import { strictWithinLimits } from "./schemas.ts";

export type { AnthropicBlock, AnthropicMediaType, TextPart } from "./content.ts";
export type { CallerOptions } from "./offer.ts";

export { ToolFailure };

/** The context that the runner passes to a tool. */
export interface AnthropicRunContext {
  readonly toolUse?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

/** The common properties of the runner's tools. */
export interface AnthropicRunnable {
  run(args: unknown, context?: AnthropicRunContext): Promise<string | AnthropicBlock[]>;
  parse(content: unknown): unknown;
}

/** One tool of the workspace. */
export interface AnthropicTool extends AnthropicRunnable {
  type: "custom";
  name: string;
  description: string;
  input_schema: AnthropicInputSchema;
  strict?: boolean;
}

/** A JSON Schema, as the SDK types it. */
export interface AnthropicInputSchema {
  type: "object";
  properties?: unknown;
  required?: string[];
  [key: string]: unknown;
}

/** The text editor that the API defines. */
export interface AnthropicTextEditor extends AnthropicRunnable {
  type: "text_editor_20250728";
  name: "str_replace_based_edit_tool";
}

/** The memory that the API defines. */
export interface AnthropicMemory extends AnthropicRunnable {
  type: "memory_20250818";
  name: "memory";
}

/** Options in addition to those of every adapter. */
export interface AnthropicOptions extends AdapterOptions {
  /**
   * With true, tools get schemas that the API enforces while the model writes, for as many tools as its limits
   * for one request allow: 20 tools, 24 optional arguments, 16 of several types. Tools with few optional
   * arguments come first; `include` leaves room for the others. Default false.
   */
  readonly strict?: boolean | undefined;
}

/** The options of {@link toAnthropicRunnable}. */
export const ANTHROPIC_OPTIONS: Options<AnthropicOptions> = described("AnthropicOptions", {
  ...SHARED_OPTION_ROWS,
  strict: flag(),
});

const checkOptions = adapterChecker("toAnthropicRunnable", ANTHROPIC_OPTIONS);
const checkEditorOptions = adapterChecker("toAnthropicTextEditor", CALLER_OPTIONS);
const checkMemoryOptions = adapterChecker("toAnthropicMemory", CALLER_OPTIONS);

/**
 * The tools of a workspace for `client.beta.messages.toolRunner`.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const tools = toAnthropicRunnable(ws);
 * const answer = await client.beta.messages.toolRunner({ model, max_tokens: 4096, messages, tools });
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toAnthropicRunnable(ws: Workspace, given: AnthropicOptions = {}): AnthropicTool[] {
  const options = checkOptions(ws, given);
  const tools = selectTools(ws, options);
  const strictForms: ReadonlyMap<ObjectSchema, StrictSchema> =
    options.strict === true ? strictWithinLimits(tools.map((tool) => tool.inputSchema)) : new Map();
  return tools.map((tool): AnthropicTool => {
    const strictForm = strictForms.get(tool.inputSchema);
    return {
      type: "custom",
      name: tool.name,
      description: tool.description,
      input_schema: toInputSchema(strictForm ?? tool.inputSchema),
      ...(strictForm === undefined ? {} : { strict: true }),
      ...toRunnable(tool),
    };
  });
}

/**
 * The text editor tool that the API defines, over a workspace.
 *
 * @example
 * const tools = [toAnthropicTextEditor(ws)];
 */
export function toAnthropicTextEditor(ws: Workspace, given: CallerOptions = {}): AnthropicTextEditor {
  const options = checkEditorOptions(ws, given);
  const name = "str_replace_based_edit_tool";
  return { type: "text_editor_20250728", name, ...toRunnable(definedTool(ws, name, options.agent)) };
}

/**
 * The memory tool that the API defines: notes below `/memories`, stored in the directory
 * `memories` of the workspace.
 *
 * @example
 * const tools = [toAnthropicMemory(await openWorkspace("/var/lib/agent"))];
 */
export function toAnthropicMemory(ws: Workspace, given: CallerOptions = {}): AnthropicMemory {
  const options = checkMemoryOptions(ws, given);
  return { type: "memory_20250818", name: "memory", ...toRunnable(definedTool(ws, "memory", options.agent)) };
}

function definedTool(ws: Workspace, name: string, agent: string | undefined): AdapterTool {
  const [tool] = selectTools(ws, { preset: "anthropic", include: [name], agent });
  return tool as AdapterTool;
}

function toRunnable(tool: AdapterTool): AnthropicRunnable {
  return {
    // The arguments are checked when the tool is called, which words the error.
    parse: (content) => content,
    run: async (args, context = {}) => {
      const { toolUse, signal } = context;
      const result = await tool.call(args, { signal, toolCall: toolUse });
      if (!result.ok) throw new ToolFailure({ ...result, text: textWithoutErrorPrefix(result.text) });
      return result.content === undefined ? result.text : toAnthropicContent(result);
    },
  };
}

function toInputSchema(schema: ObjectSchema | StrictSchema): AnthropicInputSchema {
  return structuredClone(schema) as unknown as AnthropicInputSchema;
}
