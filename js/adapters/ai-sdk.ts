/**
 * Tools for the Vercel AI SDK, versions 5, 6 and 7. Nothing of the SDK is imported: a tool there is a plain object,
 * and these have its shape in each of these versions.
 *
 * A failed call throws, so that the SDK shows the model an error result with the tool's text and
 * the host a `tool-error` part whose error has the code. Images become files in the model's
 * output.
 *
 * @module filewright/ai-sdk
 */
import { flag, type Options, options as described } from "../schema/option.ts";
import type { Success, Workspace } from "../workspace/index.ts";
import {
  adapterChecker,
  type AdapterOptions,
  type Approve,
  approvalPredicate,
  selectTools,
  SHARED_OPTION_ROWS,
  PRESET_CHOICE_OPTIONS,
} from "./offer.ts";
import { mediaOfResult, dataOrThrow, type OutcomeMedia } from "./outcome.ts";
import { standardSchema, chooseStrict } from "./schemas.ts";

export type { AdapterOptions, ApprovalQuestion, Approve, ApprovingOptions } from "./offer.ts";
export { ToolFailure } from "./outcome.ts";

/** Arguments as the model writes them. */
export type AiSdkInput = Record<string, unknown>;

/**
 * A value for which each major version of the SDK declares a type of its own, partly with unique symbols. No type
 * beside `any` fits all of them.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AiSdkValue = any;

/** The context that the SDK passes to a running tool. */
export interface AiSdkCallOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal | undefined;
}

/** One tool in the shape of the SDK. */
export interface AiSdkTool {
  title: string;
  description: string;
  /** The schema of the arguments, as a `Schema` of the SDK and as a Standard Schema. */
  inputSchema: AiSdkValue;
  strict?: boolean;
  execute(input: AiSdkInput, options: AiSdkCallOptions): Promise<Success<unknown>>;
  /** Returns what the model sees of a result. Version 5 passes the result, later ones `{ output }`. */
  toModelOutput(given: AiSdkValue): AiSdkValue;
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

const checkOptions = adapterChecker("toAiSdk", AI_SDK_OPTIONS);
const checkApprovalOptions = adapterChecker("toAiSdkApproval", PRESET_CHOICE_OPTIONS);

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
  const options = checkOptions(ws, given);
  const tools: Record<string, AiSdkTool> = {};
  let filePart: FilePart = fileDataPart;
  for (const tool of selectTools(ws, options)) {
    const { schema, strict } = chooseStrict(tool.inputSchema, options.strict ?? false);
    tools[tool.name] = {
      title: tool.title,
      description: tool.description,
      inputSchema: sdkSchema(schema),
      ...(strict ? { strict } : {}),
      execute: async (input, given) => {
        filePart = "experimental_context" in given ? fileDataPart : taggedFilePart;
        const { abortSignal, toolCallId } = given;
        return dataOrThrow(await tool.call(input, { signal: abortSignal, toolCall: { id: toolCallId } }));
      },
      toModelOutput: (given: Success<unknown> | { readonly output: Success<unknown> }) =>
        "output" in given ? modelOutput(given.output, filePart) : modelOutput(given, mediaPart),
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
  const options = checkApprovalOptions(ws, given);
  const asking = new Map(
    selectTools(ws, options).map((tool) => [tool.name, approvalPredicate(tool, approve)]),
  );
  return async ({ toolCall: { toolName, input } }) => {
    const asks = asking.get(toolName);
    return asks === true || (typeof asks === "function" && (await asks(input))) ? "user-approval" : undefined;
  };
}

/** The marks of a `Schema` of the SDK, in every version. Without them version 5 takes a schema for one of zod. */
const SCHEMA_MARKS = {
  [Symbol.for("vercel.ai.schema")]: true,
  [Symbol.for("vercel.ai.validator")]: true,
};

function sdkSchema(schema: object): object {
  const standard = standardSchema<AiSdkInput>(schema);
  const { jsonSchema, validate } = standard["~standard"];
  return {
    ...SCHEMA_MARKS,
    ...standard,
    jsonSchema: jsonSchema.input({ target: "draft-07" }),
    validate(value: unknown) {
      const { issues, ...valid } = validate(value);
      return issues === undefined
        ? { success: true, ...valid }
        : { success: false, error: new TypeError(issues.map(({ message }) => message).join("; ")) };
    },
  };
}

/** Returns an image or a document as the part of a model's output. */
type FilePart = (media: OutcomeMedia) => object;

/** The part of version 5. */
const mediaPart: FilePart = ({ data, mime }) => ({ type: "media", data, mediaType: mime });

/**
 * The part of version 6, which passes an `experimental_context` to running tools. Version 7 takes it with a warning, so
 * that it serves results of an earlier process, which the SDK converts before the first call.
 */
const fileDataPart: FilePart = ({ data, mime }) => ({ type: "file-data", data, mediaType: mime });

/** The part of version 7. */
const taggedFilePart: FilePart = ({ data, mime }) => ({
  type: "file",
  mediaType: mime,
  data: { type: "data", data },
});

function modelOutput(output: Success<unknown>, filePart: FilePart): object {
  const media = mediaOfResult(output);
  if (media.length === 0) return { type: "text", value: output.text };
  return { type: "content", value: [{ type: "text", text: output.text }, ...media.map(filePart)] };
}
