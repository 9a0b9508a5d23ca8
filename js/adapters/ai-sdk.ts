/**
 * Tools for the Vercel AI SDK. Nothing of the SDK is imported: a tool there is a plain object, and
 * these have its shape.
 *
 * A failed call throws, so that the SDK shows the model an error result with the tool's text and
 * the host a `tool-error` part whose error has the code. Images become files in the model's
 * output.
 *
 * @module filewright/ai-sdk
 */
import { flag, optionChecker, type Options, options as described } from "../schema/option.ts";
import type { Success, Workspace } from "../workspace/index.ts";
import {
  type AdapterOptions,
  type Approve,
  approvalPredicate,
  selectTools,
  SHARED_OPTION_ROWS,
  PRESET_CHOICE_OPTIONS,
} from "./offer.ts";
import { mediaOfResult, dataOrThrow } from "./outcome.ts";
import { type StandardSchema, standardSchema, chooseStrict } from "./schemas.ts";

export type { StandardIssue, StandardSchema } from "./schemas.ts";
export type { AdapterOptions, ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";
export { ToolFailure } from "./outcome.ts";

/** Arguments as the model writes them. */
export type AiSdkInput = Record<string, unknown>;

/** The part of a result that the model sees. */
export type AiSdkModelOutput =
  | { type: "text"; value: string }
  | {
      type: "content";
      value: (
        | { type: "text"; text: string }
        | { type: "file"; mediaType: string; data: { type: "data"; data: string } }
      )[];
    };

/** The context that the SDK passes to a running tool. */
export interface AiSdkCallOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** One tool in the shape of the SDK. */
export interface AiSdkTool {
  title: string;
  description: string;
  inputSchema: StandardSchema<AiSdkInput>;
  strict?: boolean;
  execute(input: AiSdkInput, options: AiSdkCallOptions): Promise<Success<unknown>>;
  toModelOutput(options: { output: Success<unknown> }): AiSdkModelOutput;
}

/** Options in addition to those of every adapter. */
export interface AiSdkOptions extends AdapterOptions {
  /** With true, tools get schemas that the provider enforces while the model writes. Default false. */
  readonly strict?: boolean | undefined;
}

/** The options of {@link toAiSdk}. */
export const AI_SDK_OPTIONS: Options<AiSdkOptions> = described("AiSdkOptions", {
  ...SHARED_OPTION_ROWS,
  strict: flag(),
});

const checkOptions = optionChecker("toAiSdk", AI_SDK_OPTIONS);
const checkApprovalOptions = optionChecker("toAiSdkApproval", PRESET_CHOICE_OPTIONS);

/**
 * The tools of a workspace for `generateText`, `streamText` and agents.
 *
 * @example
 * const ws = await openWorkspace("/repo");
 * const agent = new ToolLoopAgent({ model, tools: toAiSdk(ws), toolApproval: toAiSdkApproval(ws, "changes") });
 * const { text } = await agent.generate({ prompt });
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toAiSdk(ws: Workspace, given: AiSdkOptions = {}): Record<string, AiSdkTool> {
  const options = checkOptions(given);
  const tools: Record<string, AiSdkTool> = {};
  for (const tool of selectTools(ws, options)) {
    const { schema, strict } = chooseStrict(tool.inputSchema, options.strict ?? false);
    tools[tool.name] = {
      title: tool.title,
      description: tool.description,
      inputSchema: standardSchema(schema),
      ...(strict ? { strict } : {}),
      execute: async (input, { abortSignal, toolCallId }) =>
        dataOrThrow(await tool.call(input, { signal: abortSignal, toolCall: { id: toolCallId } })),
      toModelOutput,
    };
  }
  return tools;
}

/** Returns the approval status of a call before the SDK makes it. */
export type AiSdkApproval = (question: {
  readonly toolCall: { readonly toolName: string; readonly input: unknown };
}) => Promise<"user-approval" | undefined>;

/**
 * Selects the calls that the SDK asks the user about: its `toolApproval`. Tools of other packages
 * are left to the SDK.
 *
 * @example
 * generateText({ model, prompt, tools: toAiSdk(ws), toolApproval: toAiSdkApproval(ws, "changes") });
 */
export function toAiSdkApproval(
  ws: Workspace,
  approve: Approve,
  given: Pick<AdapterOptions, "preset"> = {},
): AiSdkApproval {
  const options = checkApprovalOptions(given);
  const asking = new Map(
    selectTools(ws, options).map((tool) => [tool.name, approvalPredicate(tool, approve)]),
  );
  return async ({ toolCall: { toolName, input } }) => {
    const asks = asking.get(toolName);
    return asks === true || (typeof asks === "function" && (await asks(input))) ? "user-approval" : undefined;
  };
}

function toModelOutput({ output }: { output: Success<unknown> }): AiSdkModelOutput {
  const media = mediaOfResult(output);
  if (media.length === 0) return { type: "text", value: output.text };
  return {
    type: "content",
    value: [
      { type: "text", text: output.text },
      ...media.map(({ data, mime }) => ({
        type: "file" as const,
        mediaType: mime,
        data: { type: "data" as const, data },
      })),
    ],
  };
}
