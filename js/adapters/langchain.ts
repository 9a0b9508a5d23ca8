/**
 * Tools for LangChain. The host passes in the framework's `tool` and `ToolMessage`; nothing of it
 * is imported.
 *
 * A failed call is a tool message with the status `error` and the tool's text. The artifact of a
 * message is the whole result. {@link toInterruptOn} serves the framework's human-in-the-loop
 * middleware.
 *
 * @module filewright/langchain
 */
import { callback, optionChecker, instance, required } from "../schema/option.ts";
import type { ObjectSchema } from "../tools/lib/schema.ts";
import type { ToolResult, Workspace } from "../workspace/index.ts";
import {
  adapterChecker,
  type AdapterOptions,
  type Approve,
  approvalPredicate,
  selectTools,
  ADAPTER_OPTIONS,
  PRESET_CHOICE_OPTIONS,
} from "./offer.ts";
import { mediaOfResult } from "./outcome.ts";

export type { Approve, ApprovingOptions } from "./offer.ts";

/** The part of a message that the model sees. */
export type LangChainContent =
  | string
  | ({ type: "text"; text: string } | { type: "image" | "file"; mimeType: string; data: string })[];

/** The context that the framework passes to a running tool. */
export interface LangChainConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

/** The options of the framework's `tool`. */
export interface LangChainFields {
  name: string;
  description: string;
  schema: ObjectSchema;
}

/** The exports of the framework that the host passes in, from `langchain` or `@langchain/core`. */
export interface LangChain<Tool, Message> {
  /** The framework's function `tool`. */
  readonly tool: (
    run: (input: never, config: LangChainConfig) => Promise<Message | LangChainContent>,
    fields: LangChainFields & { schema: never },
  ) => Tool;
  /** The framework's class `ToolMessage`. */
  readonly ToolMessage: new (fields: {
    content: never;
    tool_call_id: string;
    name: string;
    status: "success" | "error";
    artifact: unknown;
  }) => Message;
}

const checkOptions = adapterChecker("toLangChain", ADAPTER_OPTIONS);
const checkFramework = optionChecker(
  "toLangChain",
  instance<Pick<LangChain<unknown, unknown>, "tool">>("LangChain", "an object with tool and ToolMessage", {
    tool: required(callback()),
  }),
);
const checkMessage = optionChecker("toLangChain", callback());
const checkInterruptOptions = adapterChecker("toInterruptOn", PRESET_CHOICE_OPTIONS);

/**
 * The tools of a workspace for `createAgent({ tools })`.
 *
 * @example
 * import { createAgent, tool, ToolMessage } from "langchain";
 * const ws = await openWorkspace("/repo");
 * const agent = createAgent({ model, tools: toLangChain(ws, { tool, ToolMessage }) });
 *
 * @throws FilewrightError INVALID_ARGUMENT for a name that no tool has
 */
export function toLangChain<Tool, Message>(
  ws: Workspace,
  framework: LangChain<Tool, Message>,
  given: AdapterOptions = {},
): Tool[] {
  const options = checkOptions(ws, given);
  checkFramework(framework);
  const { tool: make, ToolMessage } = framework;
  checkMessage(ToolMessage);
  return selectTools(ws, options).map((tool) =>
    make(
      async (input: unknown, { signal, toolCall } = {}) => {
        const result = await tool.call(input, { signal, toolCall });
        const content = messageContentOf(result);
        // A tool that is called outside an agent has no message to answer.
        if (toolCall?.id === undefined) return content;
        return new ToolMessage({
          content: content as never,
          tool_call_id: toolCall.id,
          name: tool.name,
          status: result.ok ? "success" : "error",
          artifact: result,
        });
      },
      {
        name: tool.name,
        description: tool.description,
        schema: structuredClone(tool.inputSchema) as never,
      },
    ),
  );
}

function messageContentOf(result: ToolResult): LangChainContent {
  const media = mediaOfResult(result);
  if (media.length === 0) return result.text;
  return [
    { type: "text", text: result.text },
    ...media.map(({ kind, data, mime }) => ({
      type: kind === "image" ? kind : ("file" as const),
      mimeType: mime,
      data,
    })),
  ];
}

/**
 * Selects the calls that the framework's `humanInTheLoopMiddleware` interrupts: its `interruptOn`.
 *
 * @example
 * humanInTheLoopMiddleware({ interruptOn: toInterruptOn(ws, "changes") });
 */
export function toInterruptOn(
  ws: Workspace,
  approve: Exclude<Approve, (...args: never) => unknown>,
  given: Pick<AdapterOptions, "preset"> = {},
): Record<string, boolean> {
  const options = checkInterruptOptions(ws, given);
  return Object.fromEntries(
    selectTools(ws, options).map((tool) => [tool.name, approvalPredicate(tool, approve) !== undefined]),
  );
}
