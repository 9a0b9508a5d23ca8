/**
 * Tools for Google's Agent Development Kit. Its tools are a class, which the host passes in;
 * nothing of the SDK is imported.
 *
 * A success is `{ output }`, a failure `{ error }`. A function response of the kit cannot contain
 * images and documents: each becomes an artifact when there is an artifact service, for the kit's
 * `load_artifacts` tool.
 *
 * @module filewright/adk
 */
import { callback, optionChecker } from "../schema/option.ts";
import type { ToolResult, Workspace } from "../workspace/index.ts";
import { type GeminiSchema, geminiSchema } from "./schemas.ts";
import {
  adapterChecker,
  type ApprovingOptions,
  approvalPredicate,
  selectTools,
  APPROVING_OPTIONS,
} from "./offer.ts";
import { mediaOfResult } from "./outcome.ts";

export type { ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";

/** The context that the kit passes to a running tool. */
export interface AdkContext {
  readonly functionCallId?: string;
  readonly abortSignal?: AbortSignal;
  saveArtifact(
    filename: string,
    artifact: { inlineData: { mimeType: string; data: string } },
  ): Promise<number>;
}

/** The options of the kit's `FunctionTool`. */
export interface AdkToolInit {
  name: string;
  description: string;
  /** A `GeminiSchema`; the kit types its words as an enum. */
  parameters: never;
  requireConfirmation: boolean | ((input: unknown) => boolean | Promise<boolean>);
  execute(input: unknown, context?: AdkContext): Promise<Record<string, unknown>>;
}

/** The kit's class `FunctionTool`. */
export type AdkFunctionTool<Tool> = new (init: AdkToolInit) => Tool;

const checkOptions = adapterChecker("toAdkTools", APPROVING_OPTIONS);
const checkFunctionToolClass = optionChecker("toAdkTools", callback());

/**
 * The tools of a workspace for `new LlmAgent({ tools })`.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const tools = toAdkTools(ws, FunctionTool, { approve: "destructive" });
 * const agent = new LlmAgent({ name: "coder", model: "gemini-2.5-pro", tools });
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toAdkTools<Tool>(
  ws: Workspace,
  functionTool: AdkFunctionTool<Tool>,
  given: ApprovingOptions = {},
): Tool[] {
  const options = checkOptions(ws, given);
  checkFunctionToolClass(functionTool);
  return selectTools(ws, options).map((tool) => {
    const parameters: GeminiSchema = geminiSchema(tool.inputSchema);
    return new functionTool({
      name: tool.name,
      description: tool.description,
      parameters: parameters as never,
      requireConfirmation: approvalPredicate(tool, options.approve) ?? false,
      async execute(input, context) {
        const toolCall = { id: context?.functionCallId };
        const result = await tool.call(input, { signal: context?.abortSignal, toolCall });
        if (!result.ok) return { error: result.text };
        return { output: [result.text, ...(await saveArtifacts(result, context))].join("\n") };
      },
    });
  });
}

/** Saves the images and documents of a result as artifacts. Returns a note with the name of each. */
async function saveArtifacts(result: ToolResult, context: AdkContext | undefined): Promise<string[]> {
  const notes: string[] = [];
  for (const { kind, data, mime, name } of mediaOfResult(result)) {
    try {
      await context?.saveArtifact(name, { inlineData: { mimeType: mime, data } });
      notes.push(`[${kind} kept as the artifact ${name}]`);
    } catch {
      notes.push(`[${kind} ${name} cannot be shown: there is no artifact service]`);
    }
  }
  return notes;
}
