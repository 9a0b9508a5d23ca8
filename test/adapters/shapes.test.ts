/**
 * The tools that each framework receives, and the results that it gets for a success, a failure
 * and an image. The frameworks themselves are tried in test/sdks.
 */
import { describe, expect, test } from "vitest";
import { toAdkTools, type AdkToolInit } from "../../js/adapters/adk.ts";
import { toAiSdk, toAiSdkApproval } from "../../js/adapters/ai-sdk.ts";
import {
  toAnthropicMemory,
  toAnthropicRunnable,
  toAnthropicTextEditor,
} from "../../js/adapters/anthropic.ts";
import { toAllowedTools, toClaudeAgentServer } from "../../js/adapters/claude-agent.ts";
import { geminiSchema } from "../../js/adapters/schemas.ts";
import { toGeminiTool } from "../../js/adapters/gemini.ts";
import type { InProcessServer, InProcessTransport } from "../../js/adapters/in-process-mcp.ts";
import { type LangChainFields, toInterruptOn, toLangChain } from "../../js/adapters/langchain.ts";
import { type Approve, selectTools } from "../../js/adapters/offer.ts";
import { toOpenAIAgents, toOpenAIEditor } from "../../js/adapters/openai-agents.ts";
import { MemoryBackend, openWorkspace, type Workspace, type WorkspaceOptions } from "../../js/index.node.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MISSING = "File not found";

function open(options: Partial<WorkspaceOptions> = {}): Promise<Workspace> {
  const backend = new MemoryBackend({
    "/w/a.txt": "hello\n",
    "/w/dot.png": new Uint8Array(Buffer.from(PNG, "base64")),
  });
  return openWorkspace({ backend, root: "/w", ...options } as WorkspaceOptions);
}

/** Returns the tool with a name. */
function toolNamed<Tool extends { readonly name: string }>(tools: readonly Tool[], name: string): Tool {
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`no ${name} among ${tools.map((tool) => tool.name).join(" ")}`);
  return found;
}

const stopped = (): AbortSignal => AbortSignal.abort();

describe("the tools that are offered", () => {
  test("are those that the options leave, under the names of a preset", async () => {
    const ws = await open();
    const names = (options: Parameters<typeof selectTools>[1]): string[] =>
      selectTools(ws, options).map(({ name }) => name);
    expect(names({ include: ["grep", "read_file"] })).toEqual(["read_file", "grep"]);
    expect(names({ exclude: ["batch"] })).toEqual(names({}).filter((name) => name !== "batch"));
    expect(names({ preset: "claude", include: ["Read"] })).toEqual(["Read"]);
    expect(() => names({ include: ["read_fil"] })).toThrow(/did you mean 'read_file'/);
    expect(() => names({ exclude: ["zzzzzzzzzzzz"] })).toThrow(/there are read_file, /);
  });

  test("are called in the name of an agent", async () => {
    const ws = await open();
    await toolNamed(selectTools(ws, { agent: "ada" }), "write_file").call({ path: "n", content: "" });
    expect((await ws.history())[0]).toMatchObject({ tool: "write_file", agent: "ada" });
  });

  const expected: Record<Exclude<Approve, (...args: never) => unknown>, readonly string[]> = {
    never: [],
    changes: ["write_file", "delete"],
    destructive: ["write_file", "delete"],
    always: ["read_file", "write_file", "delete"],
  };
  test.each(Object.entries(expected))("approve: %s", async (approve, asked) => {
    const ws = await open();
    const include = ["read_file", "write_file", "delete"];
    const interrupts = toInterruptOn(ws, approve as keyof typeof expected);
    expect(include.filter((name) => interrupts[name])).toEqual(asked);
    const allowed = toAllowedTools(ws, approve as keyof typeof expected, { include });
    expect(allowed).toEqual(
      include.filter((name) => !asked.includes(name)).map((n) => `mcp__filewright__${n}`),
    );
  });
});

describe("Vercel's SDK", () => {
  test("a success is shown as text, an image as a file, a failure is thrown with its code", async () => {
    const tools = toAiSdk(await open(), { strict: true });
    const read = tools["read_file"];
    if (read === undefined) throw new Error("no read_file");
    const output = await read.execute({ path: "a.txt" }, { toolCallId: "1" });
    expect(read.toModelOutput({ output })).toEqual({ type: "text", value: "1\thello" });
    const image = await read.execute({ path: "dot.png" }, {});
    const file = { type: "file", mediaType: "image/png", data: { type: "data", data: PNG } };
    expect(read.toModelOutput({ output: image })).toMatchObject({ type: "content", value: [{}, file] });
    const failing = read.execute({ path: "none" }, {});
    await expect(failing).rejects.toMatchObject({ name: "ToolFailure", error: { code: "NOT_FOUND" } });
    const cancelled = read.execute({ path: "a.txt" }, { abortSignal: stopped() });
    await expect(cancelled).rejects.toMatchObject({ error: { code: "CANCELLED" } });
  });

  test("schemas are strict where they can be", async () => {
    const tools = toAiSdk(await open(), { strict: true });
    expect([tools["read_file"]?.strict, tools["batch"]?.strict]).toEqual([true, undefined]);
    const standard = tools["read_file"]?.inputSchema["~standard"];
    expect(standard?.validate({ any: 1 })).toEqual({ value: { any: 1 } });
    expect(standard?.validate([])).toHaveProperty("issues");
    const schema = standard?.jsonSchema.input({ target: "draft-07" });
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    expect(schema?.["required"]).toEqual(Object.keys(schema?.["properties"] as object));
  });

  test("asks the user as it is told", async () => {
    const ws = await open();
    const approve = toAiSdkApproval(ws, ({ tool, args }) => tool === "delete" && args["path"] === "a.txt");
    const asks = (toolName: string, input: unknown): Promise<unknown> =>
      approve({ toolCall: { toolName, input } });
    expect(await asks("delete", { path: "a.txt" })).toBe("user-approval");
    expect(await asks("delete", { path: "b.txt" })).toBeUndefined();
    expect(await asks("somebody_elses", {})).toBeUndefined();
    const changes = toAiSdkApproval(ws, "changes");
    expect(await changes({ toolCall: { toolName: "mkdir", input: {} } })).toBe("user-approval");
  });
});

describe("OpenAI's agents", () => {
  test("arguments come as JSON, and what is none is told to the model", async () => {
    const tools = toOpenAIAgents(await open());
    const read = toolNamed(tools, "read_file");
    expect(await read.invoke({}, '{"path":"a.txt"}')).toBe("1\thello");
    expect(await read.invoke({}, "")).toMatch(/Error: .*path/);
    expect(await read.invoke({}, "{path")).toMatch(/^Error: /);
    expect(await read.invoke({}, '{"path":"dot.png"}')).toMatchObject([
      { type: "text" },
      { type: "image", image: { data: PNG, mediaType: "image/png" } },
    ]);
    expect(await read.invoke({}, '{"path":"a.txt"}', { signal: stopped() })).toMatch(/^Error: /);
    expect([read.strict, toolNamed(tools, "batch").strict, await read.isEnabled()]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test("approvals", async () => {
    const ws = await open();
    const asks = async (approve: Approve, name: string, input: unknown): Promise<boolean> =>
      toolNamed(toOpenAIAgents(ws, { approve }), name).needsApproval({}, input);
    expect(await asks("changes", "write_file", {})).toBe(true);
    expect(await asks("changes", "read_file", {})).toBe(false);
    expect(await asks(({ args }) => args["path"] === "x", "read_file", { path: "x" })).toBe(true);
    expect(await asks(({ args }) => args["path"] === "x", "read_file", undefined)).toBe(false);
  });

  test("the editor does what one operation says, and no more", async () => {
    const ws = await open();
    const editor = toOpenAIEditor(ws, { agent: "ada" });
    expect(await editor.createFile({ path: "n.txt", diff: "+one\n+two\n" })).toMatchObject({
      status: "completed",
    });
    expect(await editor.updateFile({ path: "n.txt", diff: "@@\n one\n-two\n+2\n" })).toMatchObject({
      status: "completed",
    });
    expect(await ws.fs.readText("/w/n.txt")).toBe("one\n2\n");
    expect(await editor.updateFile({ path: "n.txt", diff: "@@\n-one\n+1\n", moveTo: "m.txt" })).toMatchObject(
      {
        status: "completed",
      },
    );
    expect(await ws.fs.readText("/w/m.txt")).toBe("1\n2\n");
    expect(await editor.deleteFile({ path: "m.txt" })).toMatchObject({ status: "completed" });
    expect(await ws.fs.exists("/w/m.txt")).toBe(false);
    expect(await editor.deleteFile({ path: "m.txt" })).toMatchObject({ status: "failed" });
    // A section for another file, in the hunks or in the name, is not what was approved.
    const smuggled = "@@\n-hello\n+bye\n*** Delete File: a.txt\n";
    for (const path of ["a.txt", "b.txt", "a.txt\n*** Delete File: b.txt"]) {
      const { status, output } = await editor.updateFile({ path, diff: smuggled });
      expect([status, output]).toEqual(["failed", expect.stringContaining("section of another file")]);
    }
    expect(await editor.updateFile({ path: "a.txt", diff: "no hunk" })).toMatchObject({ status: "failed" });
    expect(await ws.fs.readText("/w/a.txt")).toBe("hello\n");
    expect(new Set((await ws.history()).map(({ agent }) => agent))).toEqual(new Set(["ada"]));
  });
});

describe("Anthropic's runner", () => {
  test("a failure is thrown with the bare text, an image is a block", async () => {
    const tools = toAnthropicRunnable(await open(), { strict: true, include: ["read_file", "batch"] });
    const read = toolNamed(tools, "read_file");
    expect(await read.run(read.parse({ path: "a.txt" }))).toBe("1\thello");
    expect(await read.run({ path: "dot.png" })).toMatchObject([
      { type: "text" },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    ]);
    await expect(read.run({ path: "none" })).rejects.toThrow(new RegExp(`^${MISSING}|^(?!Error: ).*none`));
    await expect(read.run({ path: "a.txt" }, { signal: stopped() })).rejects.toThrow();
    expect([read.strict, toolNamed(tools, "batch").strict]).toEqual([true, undefined]);
  });

  test("the tools that the API defines", async () => {
    const ws = await open();
    const editor = toAnthropicTextEditor(ws);
    expect(editor).toMatchObject({ type: "text_editor_20250728", name: "str_replace_based_edit_tool" });
    expect(await editor.run({ command: "view", path: "a.txt" })).toContain("hello");
    const memory = toAnthropicMemory(ws, { agent: "ada" });
    await memory.run({ command: "create", path: "/memories/n.md", file_text: "note\n" });
    expect(await ws.fs.readText("/w/memories/n.md")).toBe("note\n");
  });
});

describe("Google's SDKs", () => {
  test("calls are answered in order, under their ids", async () => {
    const tool = toGeminiTool(await open({ preset: "gemini-cli" }));
    const { functionDeclarations } = await tool.tool();
    expect(functionDeclarations.map(({ name }) => name)).toContain("write_file");
    const parts = await tool.callTool([
      { id: "1", name: "write_file", args: { file_path: "/w/n.txt", content: "new\n" } },
      { id: "2", name: "read_file", args: { file_path: "/w/n.txt" } },
      { name: "read_file", args: { file_path: "/w/none" } },
      { id: "4", name: "somebody_elses" },
      { id: "5", name: "read_file", args: { file_path: "/w/dot.png" } },
    ]);
    const [written, read, missing, image] = parts.map(({ functionResponse }) => functionResponse);
    expect(parts).toHaveLength(4);
    expect(written).toMatchObject({ id: "1", name: "write_file", response: { output: expect.any(String) } });
    expect(read?.response["output"]).toContain("new");
    expect(missing).toEqual({ name: "read_file", response: { error: expect.any(String) } });
    expect(image?.parts).toEqual([{ inlineData: { mimeType: "image/png", data: PNG } }]);
  });

  test("schemas in Gemini's own form", () => {
    const schema = geminiSchema({
      type: "object",
      properties: {
        words: { type: "array", items: { type: "string", enum: ["a", "b"] } },
        anything: { type: "array" },
        either: { type: ["string", "integer", "null"], description: "one of them" },
        limit: { type: ["integer", "null"] },
      },
      required: ["words"],
    });
    expect(schema).toEqual({
      type: "OBJECT",
      properties: {
        words: { type: "ARRAY", items: { type: "STRING", enum: ["a", "b"] } },
        anything: { type: "ARRAY", items: { type: "STRING" } },
        either: {
          description: "one of them",
          nullable: true,
          anyOf: [{ type: "STRING" }, { type: "INTEGER" }],
        },
        limit: { type: "INTEGER", nullable: true },
      },
      required: ["words"],
    });
  });

  test("the development kit keeps images as artifacts", async () => {
    class FunctionTool {
      readonly init: AdkToolInit;
      constructor(init: AdkToolInit) {
        this.init = init;
      }
    }
    const tools = toAdkTools(await open(), FunctionTool, { approve: "destructive" }).map(({ init }) => init);
    const read = toolNamed(tools, "read_file");
    expect([read.requireConfirmation, toolNamed(tools, "delete").requireConfirmation]).toEqual([false, true]);
    expect(await read.execute({ path: "a.txt" })).toEqual({ output: "1\thello" });
    expect(await read.execute({ path: "none" })).toEqual({ error: expect.stringContaining("none") });
    const kept: unknown[] = [];
    const saveArtifact = async (name: string, artifact: unknown): Promise<number> =>
      kept.push([name, artifact]);
    const shown = await read.execute({ path: "dot.png" }, { functionCallId: "1", saveArtifact });
    expect(shown["output"]).toContain("[image kept as the artifact dot.png]");
    expect(kept).toEqual([["dot.png", { inlineData: { mimeType: "image/png", data: PNG } }]]);
    const without = (): Promise<number> => Promise.reject(new Error("no service"));
    const told = await read.execute({ path: "dot.png" }, { saveArtifact: without });
    expect(told["output"]).toContain("there is no artifact service");
  });
});

describe("LangChain", () => {
  class ToolMessage {
    readonly fields: { readonly status: string; readonly content: unknown; readonly tool_call_id: string };
    constructor(fields: ToolMessage["fields"]) {
      this.fields = fields;
    }
  }
  type Run = (input: unknown, config?: object) => Promise<ToolMessage | string>;

  test("a call is a message, with our text and how it went", async () => {
    const make = (run: unknown, fields: LangChainFields): LangChainFields & { run: Run } => ({
      ...fields,
      run: run as Run,
    });
    const tools = toLangChain(await open(), { tool: make as never, ToolMessage: ToolMessage as never });
    const read = toolNamed(tools as unknown as readonly (LangChainFields & { run: Run })[], "read_file");
    expect(read.schema).toMatchObject({ type: "object" });
    expect(await read.run({ path: "a.txt" })).toBe("1\thello");
    const toolCall = { id: "1" };
    const message = async (path: string): Promise<unknown> =>
      ((await read.run({ path }, { toolCall })) as ToolMessage).fields;
    expect(await message("a.txt")).toMatchObject({ status: "success", tool_call_id: "1", name: "read_file" });
    expect(await message("none")).toMatchObject({
      status: "error",
      artifact: { error: { code: "NOT_FOUND" } },
    });
    expect(await message("dot.png")).toMatchObject({
      content: [{ type: "text" }, { type: "image", mimeType: "image/png", data: PNG }],
    });
  });
});

describe("the Claude Agent SDK", () => {
  /** Connects a host and asks it things; an answer is what came for the id. */
  async function connected(ws: Workspace): Promise<{
    readonly server: InProcessServer;
    readonly transport: InProcessTransport;
    ask(method: string, params?: object): Promise<Record<string, unknown>>;
    tell(message: object): void;
  }> {
    const server = toClaudeAgentServer(ws, { name: "files" }).instance as unknown as InProcessServer;
    const waiting = new Map<unknown, (message: Record<string, unknown>) => void>();
    const transport: InProcessTransport = {
      start: async () => undefined,
      send: async (message: Record<string, unknown>) => waiting.get(message["id"])?.(message),
      close: async () => transport.onclose?.(),
    };
    await server.connect(transport);
    let id = 0;
    const tell = (message: object): void => transport.onmessage?.({ jsonrpc: "2.0", ...message } as never);
    return {
      server,
      transport,
      tell,
      ask: (method, params) =>
        new Promise((resolve) => {
          id += 1;
          waiting.set(id, resolve);
          tell({ id, method, ...(params === undefined ? {} : { params }) });
        }),
    };
  }

  const handshake = (protocolVersion: string): object => ({
    protocolVersion,
    capabilities: {},
    clientInfo: { name: "host", version: "1" },
  });

  test("speaks as much of the protocol as a host needs", async () => {
    const { ask, tell, server } = await connected(await open());
    expect((await ask("initialize", handshake("2025-06-18")))["result"]).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "files" },
    });
    expect((await ask("ping"))["result"]).toEqual({});
    const listed = (await ask("tools/list"))["result"] as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toContain("edit_file");
    const call = async (path: string): Promise<unknown> =>
      (await ask("tools/call", { name: "read_file", arguments: { path } }))["result"];
    expect(await call("a.txt")).toEqual({ content: [{ type: "text", text: "1\thello" }] });
    expect(await call("none")).toMatchObject({ isError: true });
    expect(await call("dot.png")).toMatchObject({ content: [{}, { type: "image", mimeType: "image/png" }] });
    expect((await ask("tools/call", { name: "other" }))["error"]).toMatchObject({ code: -32_602 });
    expect((await ask("resources/list"))["error"]).toMatchObject({ code: -32_601 });
    tell({ method: "notifications/initialized" });
    await server.close();
  });

  test.each([
    ["2024-11-05", "2024-11-05"],
    ["1999-01-01", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
  ])("answers a handshake of revision %j with revision %j", async (protocolVersion, revision) => {
    const { ask, server } = await connected(await open());
    expect((await ask("initialize", handshake(protocolVersion)))["result"]).toMatchObject({
      protocolVersion: revision,
    });
    await server.close();
  });

  test("a cancelled call, and a host that goes, end what runs without an answer", async () => {
    let began: () => void = () => undefined;
    let stopped = Promise.resolve();
    const started = (): Promise<void> => new Promise((resolve) => (began = resolve));
    const hooks = [
      {
        stage: "before" as const,
        tool: "*",
        run: ({ signal }: { readonly signal?: AbortSignal }) =>
          new Promise<undefined>((_, reject) => {
            stopped = new Promise((resolve) => {
              signal?.addEventListener("abort", () => {
                reject(new Error("stopped"));
                resolve();
              });
            });
            began();
          }),
      },
    ];
    const { ask, tell, transport } = await connected(await open({ hooks }));
    const params = { name: "read_file", arguments: { path: "a.txt" } };
    let answered = 0;
    const call = (): void => void ask("tools/call", params).then(() => (answered += 1));
    let running = started();
    call();
    await running;
    const first = stopped;
    tell({ method: "notifications/cancelled", params: { requestId: 1 } });
    await first;
    running = started();
    call();
    await running;
    const second = stopped;
    await transport.close();
    await second;
    await new Promise((resolve) => setTimeout(resolve, 20));
    // The protocol wants no answer to a cancelled request.
    expect(answered).toBe(0);
  });
});
