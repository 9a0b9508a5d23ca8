/** A PDF file that a tool gave as it is: the form of each framework, never that of an image. */
import { describe, expect, test } from "vitest";
import { toAdkTools, type AdkToolInit } from "../../js/adapters/adk.ts";
import { toAiSdk } from "../../js/adapters/ai-sdk.ts";
import { toAnthropicRunnable } from "../../js/adapters/anthropic.ts";
import { toGeminiTool } from "../../js/adapters/gemini.ts";
import { type InProcessTransport, inProcessServer } from "../../js/adapters/in-process-mcp.ts";
import { toLangChain } from "../../js/adapters/langchain.ts";
import { selectTools } from "../../js/adapters/offer.ts";
import { toOpenAIAgents } from "../../js/adapters/openai-agents.ts";
import { MemoryBackend, openWorkspace, type Workspace } from "../../js/index.node.ts";
import { answerOfResult } from "../../js/mcp/protocol/content.ts";
import { pdf } from "../readers/make.ts";

const PDF = pdf(["Page"]);
const DATA = Buffer.from(PDF).toString("base64");
const MIME = "application/pdf";
const ARGS = { path: "dir/a b.pdf", non_text: "media" };
const include = ["read_file"];

const open = (): Promise<Workspace> =>
  openWorkspace({ backend: new MemoryBackend({ "/w/dir/a b.pdf": PDF }), root: "/w" });

describe("a document", () => {
  test("is a document block of the Anthropic API", async () => {
    const [tool] = toAnthropicRunnable(await open(), { include });
    expect(await tool?.run(ARGS)).toEqual([
      { type: "text", text: expect.stringContaining("[PDF: dir/a b.pdf") },
      { type: "document", source: { type: "base64", media_type: MIME, data: DATA } },
    ]);
  });

  test("is inline data of a Gemini function response", async () => {
    const [part] = await toGeminiTool(await open(), { include }).callTool([
      { name: "read_file", args: ARGS },
    ]);
    expect(part?.functionResponse.parts).toEqual([{ inlineData: { mimeType: MIME, data: DATA } }]);
  });

  test("is a file of the AI SDK", async () => {
    const tool = toAiSdk(await open(), { include })["read_file"];
    const output = await tool?.execute(ARGS, {});
    const file = { type: "file", mediaType: MIME, data: { type: "data", data: DATA } };
    expect(tool?.toModelOutput({ output: output as never })).toMatchObject({ value: [{}, file] });
  });

  test("is a file of the OpenAI Agents SDK", async () => {
    const [tool] = toOpenAIAgents(await open(), { include, strict: false });
    expect(await tool?.invoke(undefined, JSON.stringify(ARGS))).toEqual([
      { type: "text", text: expect.any(String) },
      { type: "file", file: { data: DATA, mediaType: MIME, filename: "a b.pdf" } },
    ]);
  });

  test("is a file of LangChain", async () => {
    const run = async (call: (input: never, config: object) => Promise<unknown>) => call(ARGS as never, {});
    const [made] = toLangChain(
      await open(),
      { tool: run as never, ToolMessage: class {} as never },
      { include },
    ) as unknown as [Promise<unknown>];
    expect(await made).toEqual([
      { type: "text", text: expect.any(String) },
      { type: "file", mimeType: MIME, data: DATA },
    ]);
  });

  test("is an artifact of the Agent Development Kit", async () => {
    class FunctionTool {
      readonly init: AdkToolInit;
      constructor(init: AdkToolInit) {
        this.init = init;
      }
    }
    const [tool] = toAdkTools(await open(), FunctionTool, { include });
    const kept: unknown[] = [];
    const saveArtifact = async (...artifact: readonly unknown[]): Promise<number> => kept.push(artifact);
    const output = (await tool?.init.execute(ARGS, { saveArtifact }))?.["output"];
    expect(output).toContain("[document kept as the artifact a b.pdf]");
    expect(kept).toEqual([["a b.pdf", { inlineData: { mimeType: MIME, data: DATA } }]]);
  });

  test("is an embedded resource of the protocol, in the process and from the server", async () => {
    const ws = await open();
    const answers: unknown[] = [];
    const transport: InProcessTransport = {
      start: async () => undefined,
      send: async (message: Record<string, unknown>) => void answers.push(message["result"]),
      close: async () => undefined,
    };
    const server = inProcessServer({ name: "files", version: "1" }, selectTools(ws, { include }));
    await server.connect(transport);
    const params = { name: "read_file", arguments: ARGS };
    transport.onmessage?.({ jsonrpc: "2.0", id: 1, method: "tools/call", params } as never);
    await expect.poll(() => answers.length).toBe(1);
    const resource = (uri: string) => ({ type: "resource", resource: { uri, mimeType: MIME, blob: DATA } });
    expect(answers).toMatchObject([{ content: [{ type: "text" }, resource("workspace:dir/a%20b.pdf")] }]);
    const options = { preset: "canonical", structured: "none", cwd: "/w" } as const;
    expect(answerOfResult(await ws.call("read_file", ARGS), undefined, options).content).toMatchObject([
      { type: "text" },
      resource("file:///w/dir/a%20b.pdf"),
    ]);
  });
});
