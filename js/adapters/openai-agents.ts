/**
 * Tools for the OpenAI Agents SDK: its function tools, and its `Editor`, which the SDK's own
 * `apply_patch` tool uses. Nothing of the SDK is imported.
 *
 * The SDK has no flag for a failed call: the text tells the model. Schemas are strict for tools
 * with a strict form.
 *
 * @module filewright/openai-agents
 */
import { flag, type Options, options as described } from "../schema/option.ts";
import type { Workspace } from "../workspace/index.ts";
import {
  adapterChecker,
  type ApprovingOptions,
  approvalPredicate,
  type AdapterTool,
  selectTools,
  canonicalTool,
  SHARED_OPTION_ROWS,
  APPROVE_OPTION,
  CALLER_OPTIONS,
  type CallerOptions,
} from "./offer.ts";
import { argumentsOf, mediaOfResult } from "./outcome.ts";
import { chooseStrict } from "./schemas.ts";
import { parsePatch } from "../engine/functions.ts";

export type { ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";

/** The part of a result that the model sees: text, or text with images and files. */
export type OpenAIAgentsOutput =
  | string
  | (
      | { type: "text"; text: string }
      | { type: "image"; image: { data: string; mediaType: string } }
      | { type: "file"; file: { data: string; mediaType: string; filename: string } }
    )[];

/** The context that the SDK passes to a running tool. */
export interface OpenAIAgentsCallDetails {
  readonly toolCall?: unknown;
  readonly signal?: AbortSignal;
}

/** One function tool in the shape of the SDK. */
export interface OpenAIAgentsTool {
  type: "function";
  name: string;
  description: string;
  parameters: OpenAIAgentsParameters;
  strict: boolean;
  invoke(runContext: unknown, input: string, details?: OpenAIAgentsCallDetails): Promise<OpenAIAgentsOutput>;
  needsApproval(runContext: unknown, input: unknown): Promise<boolean>;
  isEnabled(): Promise<boolean>;
}

/** The JSON Schema of a function tool, as the SDK types it. */
export interface OpenAIAgentsParameters {
  type: "object";
  properties: Record<string, never>;
  required: never[];
  additionalProperties: false;
}

/** Options in addition to those of every adapter. */
export interface OpenAIAgentsOptions extends ApprovingOptions {
  /** With true, tools get strict schemas, which the provider enforces while the model writes. Default true. */
  readonly strict?: boolean | undefined;
}

/** The options of {@link toOpenAIAgents}. */
export const OPENAI_AGENTS_OPTIONS: Options<OpenAIAgentsOptions> = described("OpenAIAgentsOptions", {
  ...SHARED_OPTION_ROWS,
  approve: APPROVE_OPTION,
  strict: flag(),
});

const checkOptions = adapterChecker("toOpenAIAgents", OPENAI_AGENTS_OPTIONS);
const checkEditorOptions = adapterChecker("toOpenAIEditor", CALLER_OPTIONS);

/**
 * The tools of a workspace for `new Agent({ tools })`.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const agent = new Agent({ name: "coder", tools: toOpenAIAgents(ws, { approve: "changes" }) });
 * const result = await run(agent, "Raise the number of retries to five.");
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toOpenAIAgents(ws: Workspace, given: OpenAIAgentsOptions = {}): OpenAIAgentsTool[] {
  const options = checkOptions(ws, given);
  return selectTools(ws, options).map((tool): OpenAIAgentsTool => {
    const asks = approvalPredicate(tool, options.approve);
    const { schema, strict } = chooseStrict(tool.inputSchema, options.strict ?? true);
    return {
      type: "function",
      name: tool.name,
      description: tool.description,
      parameters: schema as unknown as OpenAIAgentsParameters,
      strict,
      invoke: (_, input, details = {}) => runForAgents(tool, argumentsOf(input), details),
      needsApproval: async (_, input) => (typeof asks === "function" ? asks(input) : asks === true),
      isEnabled: async () => true,
    };
  });
}

async function runForAgents(
  tool: AdapterTool,
  args: unknown,
  { toolCall, signal }: OpenAIAgentsCallDetails,
): Promise<OpenAIAgentsOutput> {
  const result = await tool.call(args, { signal, toolCall });
  const media = mediaOfResult(result);
  if (media.length === 0) return result.text;
  return [
    { type: "text", text: result.text },
    ...media.map(({ kind, data, mime: mediaType, name: filename }) =>
      kind === "image"
        ? { type: kind, image: { data, mediaType } }
        : { type: "file" as const, file: { data, mediaType, filename } },
    ),
  ];
}

/** The result of an operation of the editor. */
export interface OpenAIEditorResult {
  status: "completed" | "failed";
  output: string;
}

/** The host's side of the SDK's `apply_patch` tool. */
export interface OpenAIEditor {
  createFile(operation: { readonly path: string; readonly diff: string }): Promise<OpenAIEditorResult>;
  updateFile(operation: {
    readonly path: string;
    readonly diff: string;
    readonly moveTo?: string | undefined;
  }): Promise<OpenAIEditorResult>;
  deleteFile(operation: { readonly path: string }): Promise<OpenAIEditorResult>;
}

/**
 * The editor for the SDK's own tool: each operation is one call of the workspace, with its locks,
 * rules, hooks and history.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const patching = applyPatchTool({ editor: toOpenAIEditor(ws), needsApproval: true });
 * const agent = new Agent({ name: "coder", tools: [patching] });
 */
export function toOpenAIEditor(ws: Workspace, given: CallerOptions = {}): OpenAIEditor {
  const options = checkEditorOptions(ws, given);
  const run = async (name: string, args: object): Promise<OpenAIEditorResult> => {
    const { ok, text } = await canonicalTool(ws, name, options.agent).call(args);
    return { status: ok ? "completed" : "failed", output: text };
  };
  const patched = (patch: string | undefined): Promise<OpenAIEditorResult> =>
    patch === undefined
      ? Promise.resolve({
          status: "failed",
          output:
            "Error: The diff holds a section of another file. Send one operation for each file, and only its hunks.",
        })
      : run("apply_patch", { patch });
  return {
    createFile: ({ path, diff }) => patched(addPatch(path, diff)),
    updateFile: ({ path, diff, moveTo }) => patched(updatePatch(path, diff, moveTo)),
    deleteFile: ({ path }) => run("delete", { path }),
  };
}

/**
 * Returns the `*** Begin Patch` form of a diff that creates one file. Undefined if the hunks do more, such as
 * change another file, because only one path was approved.
 */
function addPatch(path: string, diff: string): string | undefined {
  return inPatchEnvelope([`*** Add File: ${path}`], "create", diff);
}

/** Returns the patch form of a diff that changes one file and may move it; undefined if the hunks do more. */
function updatePatch(path: string, diff: string, moveTo?: string): string | undefined {
  const head = [`*** Update File: ${path}`, ...(moveTo === undefined ? [] : [`*** Move to: ${moveTo}`])];
  return inPatchEnvelope(head, moveTo === undefined ? "update" : "rename", diff);
}

function inPatchEnvelope(head: readonly string[], operation: string, diff: string): string | undefined {
  if (head.some((line) => /[\r\n]/u.test(line))) return undefined;
  const patch = ["*** Begin Patch", ...head, diff.replace(/\n$/u, ""), "*** End Patch", ""].join("\n");
  return doesMoreThan(patch, operation) ? undefined : patch;
}

/**
 * Returns true when a patch does more than one operation on one file. False for a patch that cannot be parsed,
 * because applying it reports the error.
 */
function doesMoreThan(patch: string, operation: string): boolean {
  try {
    const { files } = parsePatch(patch);
    return files.length !== 1 || files[0]?.operation !== operation;
  } catch {
    return false;
  }
}
