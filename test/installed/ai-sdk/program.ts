/** An agent of one major version of the AI SDK, which this file is compiled and run against: its types, and one loop. */
import { generateText, type LanguageModel, stepCountIs, streamText, type ToolSet } from "ai";
import { MemoryBackend, openWorkspace } from "filewright";
import { toAiSdk } from "filewright/ai-sdk";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const backend = new MemoryBackend({ "/w/a.txt": "hello\n", "/w/dot.png": Buffer.from(PNG, "base64") });
const ws = await openWorkspace({ backend, root: "/w" });
const tools = toAiSdk(ws);
// What programs do with tools: name their type, add others, choose some.
export const named: ToolSet = tools;
export const mixed = { ...tools, mine: Object.values(toAiSdk(ws, { include: ["grep"], strict: true }))[0]! };
export const streaming = (model: LanguageModel): unknown => streamText({ model, tools: mixed, prompt: "x" });

const [major = ""] = process.argv.slice(2);
const CALLS = [
  { tool: "read_file", args: { path: "a.txt" } },
  { tool: "read_file", args: { path: "dot.png" } },
  { tool: "read_file", args: { path: "missing.txt" } },
];
const isOld = major === "5";
const total = (count: number) => ({ total: count, noCache: undefined, cacheRead: undefined, text: count });
const prompts: { readonly role: string; readonly content: unknown }[][] = [];
const offered: unknown[] = [];

/** A model in the interface of the version, which makes the calls and then ends. */
const model = {
  specificationVersion: { 5: "v2", 6: "v3", 7: "v4" }[major],
  provider: "test",
  modelId: "test",
  supportedUrls: {},
  async doGenerate({ prompt, tools: own }: { prompt: (typeof prompts)[0]; tools: unknown }) {
    prompts.push(prompt);
    offered.push(own);
    const call = CALLS[prompts.length - 1];
    const finish = call === undefined ? "stop" : "tool-calls";
    return {
      content:
        call === undefined
          ? [{ type: "text", text: "Done." }]
          : [
              {
                type: "tool-call",
                toolCallId: `call-${prompts.length}`,
                toolName: call.tool,
                input: JSON.stringify(call.args),
              },
            ],
      finishReason: isOld ? finish : { unified: finish, raw: undefined },
      usage: isOld
        ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
        : { inputTokens: total(1), outputTokens: total(1) },
      warnings: [],
    };
  },
} as unknown as LanguageModel;

const { text, steps } = await generateText({ model, tools, prompt: "Read.", stopWhen: stepCountIs(5) });
const shown = prompts.slice(1).map((prompt) => prompt.at(-1)?.content);
console.log(JSON.stringify({ text, steps: steps.length, offered: offered[0], shown }));
