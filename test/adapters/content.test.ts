/** A result in the form of each provider: its text, and its images where the provider takes them. */
import { describe, expect, test } from "vitest";
import {
  toAnthropicContent,
  toGeminiContent,
  toMcpContent,
  toOpenAIChatContent,
  toOpenAIContent,
} from "../../js/adapters/content.ts";
import { MemoryBackend, openWorkspace, resolveMentions, type ToolResult } from "../../js/index.node.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const GIF = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

const ws = await openWorkspace({
  backend: new MemoryBackend({
    "/w/a.txt": "hello\n",
    "/w/dot.png": new Uint8Array(Buffer.from(PNG, "base64")),
    "/w/dot.gif": new Uint8Array(Buffer.from(GIF, "base64")),
  }),
  root: "/w",
});
const read = (path: string): Promise<ToolResult> => ws.call("read_file", { path });

describe("an image in the form of each provider", () => {
  test("for MCP, Anthropic, OpenAI and Google, from what one call of ours gave", async () => {
    const result = await read("dot.png");
    const { text } = result;
    expect(toMcpContent(result)).toEqual([
      { type: "text", text },
      { type: "image", data: PNG, mimeType: "image/png" },
    ]);
    expect(toAnthropicContent(result)).toEqual([
      { type: "text", text },
      { type: "image", source: { type: "base64", media_type: "image/png", data: PNG } },
    ]);
    expect(toOpenAIContent(result)).toEqual([
      { type: "input_text", text },
      { type: "input_image", image_url: `data:image/png;base64,${PNG}`, detail: "auto" },
    ]);
    expect(toOpenAIChatContent(result)).toEqual([
      { type: "text", text },
      { type: "image_url", image_url: { url: `data:image/png;base64,${PNG}` } },
    ]);
    expect(toGeminiContent(result)).toEqual([{ text }, { inlineData: { mimeType: "image/png", data: PNG } }]);
  });

  test("of a kind that a provider refuses becomes a line of text that says so", async () => {
    const result = await read("dot.gif");
    expect(toAnthropicContent(result)).toHaveLength(2);
    expect(toAnthropicContent(result)[1]).toMatchObject({ type: "image" });
    const said = { text: "[dot.gif: images of type image/gif cannot be shown here]" };
    expect(toGeminiContent(result)[1]).toEqual(said);
    const block = {
      type: "image",
      source: { type: "base64", media_type: "image/bmp", data: "" },
      file_path: "a\u001b.bmp",
      size_bytes: 0,
    } as const;
    const text = "[a\\x1b.bmp: images of type image/bmp cannot be shown here]";
    expect(toOpenAIContent({ text: "t", content: [block] })[1]).toEqual({ type: "input_text", text });
  });

  test("that a prompt mentions is shown as well as one that a tool read", async () => {
    const mentioned = await resolveMentions(ws, "look at @dot.png");
    expect(toAnthropicContent(mentioned).map(({ type }) => type)).toEqual(["text", "image"]);
  });
});

test("text alone, and a failure, are one part of text", async () => {
  expect(toMcpContent(await read("a.txt"))).toEqual([{ type: "text", text: "1\thello" }]);
  const failed = await read("none");
  for (const [part, ...more] of [toAnthropicContent(failed), toOpenAIChatContent(failed)])
    expect([part, more]).toEqual([{ type: "text", text: failed.text }, []]);
});
