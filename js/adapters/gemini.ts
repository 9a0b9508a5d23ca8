/**
 * Tools for the Google GenAI SDK: one callable tool, which the SDK's automatic function calling
 * runs. Nothing of the SDK is imported.
 *
 * A success is `{ output }`, a failure `{ error }`, as in the API; images and PDF files are parts
 * of the function response. The SDK passes no signal to a tool and has no approvals: pass one
 * here, and give the workspace `confirm` or hooks.
 *
 * @module filewright/gemini
 */
import { type Options, options as described, signalOption } from "../schema/option.ts";
import type { Workspace } from "../workspace/index.ts";
import {
  adapterChecker,
  type AdapterOptions,
  type AdapterTool,
  selectTools,
  SHARED_OPTION_ROWS,
} from "./offer.ts";
import { mediaOfResult } from "./outcome.ts";

export type { AdapterOptions } from "./offer.ts";

/** A call as the model makes it. */
export interface GeminiFunctionCall {
  readonly id?: string;
  readonly name?: string;
  readonly args?: Record<string, unknown>;
}

/** The part of a message that answers a call. */
export interface GeminiPart {
  functionResponse: {
    id?: string;
    name: string;
    response: Record<string, unknown>;
    parts?: { inlineData: { mimeType: string; data: string } }[];
  };
}

/** One callable tool in the shape of the SDK. */
export interface GeminiTool {
  tool(): Promise<{
    functionDeclarations: { name: string; description: string; parametersJsonSchema: unknown }[];
  }>;
  callTool(calls: GeminiFunctionCall[]): Promise<GeminiPart[]>;
}

/** Options in addition to those of every adapter. */
export interface GeminiOptions extends AdapterOptions {
  /** The signal that cancels running calls; the same as `abortSignal` of the request. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of {@link toGeminiTool}. */
export const GEMINI_OPTIONS: Options<GeminiOptions> = described("GeminiOptions", {
  ...SHARED_OPTION_ROWS,
  signal: signalOption,
});

const checkOptions = adapterChecker("toGeminiTool", GEMINI_OPTIONS);

/**
 * The tools of a workspace for `generateContent`. The presets `gemini-cli` and
 * `gemini` have the names that these models were trained on.
 *
 * @example
 * const ws = await openWorkspace({ root: "/repo", preset: "gemini-cli" });
 * const config = { tools: [toGeminiTool(ws)], automaticFunctionCalling: { maximumRemoteCalls: 50 } };
 * const { text } = await ai.models.generateContent({ model, contents, config });
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toGeminiTool(ws: Workspace, given: GeminiOptions = {}): GeminiTool {
  const options = checkOptions(ws, given);
  const tools = selectTools(ws, options);
  return {
    tool: async () => ({
      functionDeclarations: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        parametersJsonSchema: structuredClone(inputSchema),
      })),
    }),
    async callTool(calls) {
      const parts: GeminiPart[] = [];
      // Calls run one after another, because a later call may depend on an earlier one.
      for (const call of calls) {
        const tool = tools.find(({ name }) => name === call.name);
        if (tool !== undefined) parts.push(await answerCall(tool, call, options.signal));
      }
      return parts;
    },
  };
}

async function answerCall(
  tool: AdapterTool,
  { id, args = {} }: GeminiFunctionCall,
  signal: AbortSignal | undefined,
): Promise<GeminiPart> {
  const result = await tool.call(args, { signal, toolCall: { id } });
  const media = mediaOfResult(result);
  return {
    functionResponse: {
      ...(id === undefined ? {} : { id }),
      name: tool.name,
      response: { [result.ok ? "output" : "error"]: result.text },
      ...(media.length === 0
        ? {}
        : { parts: media.map(({ data, mime }) => ({ inlineData: { mimeType: mime, data } })) }),
    },
  };
}
