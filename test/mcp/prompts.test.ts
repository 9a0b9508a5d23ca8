/** Prompts over standard input and output and over HTTP, in both eras of the protocol. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { COMMAND, connect, ERAS, scratch } from "./harness.ts";
import { bearer, serve } from "./serving.ts";

function textOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }): string {
  return messages.map(({ content }) => (content as { readonly text: string }).text).join("\n");
}

describe.each(ERAS)("in the %s era", (era) => {
  test("prompts/list names the prompts with their arguments, and prompts/get fills them in", async () => {
    await using at = await scratch();
    await mkdir(join(at.dir, "src"));
    await writeFile(join(at.dir, "src/a.txt"), "a line that no prompt may carry\n");
    await using server = await connect([COMMAND, "mcp", at.dir], { era });
    const { client } = server;
    expect(client.getServerCapabilities()?.prompts).toEqual({});
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["access", "review_changes", "undo_last_change"]);
    expect(prompts[1]?.arguments).toMatchObject([{ name: "path", required: false }]);
    expect(textOf(await client.getPrompt({ name: "access" }))).toContain("access_info");
    const review = await client.getPrompt({ name: "review_changes", arguments: { path: "src/a.txt" } });
    expect(textOf(review)).toContain('below "src/a.txt"');
    expect(textOf(review)).not.toContain("a line that");
    expect(textOf(await client.getPrompt({ name: "undo_last_change" }))).toContain("undo");
  });

  test("prompts/get refuses unknown prompts, arguments, missing paths and paths outside", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", at.dir], { era });
    const get = (name: string, args: Record<string, string> = {}): Promise<unknown> =>
      server.client.getPrompt({ name, arguments: args });
    await expect(get("acess")).rejects.toThrow(/Unknown prompt: acess; did you mean access\?/u);
    await expect(get("review_changes", { pth: "." })).rejects.toThrow(/did you mean path\?/u);
    await expect(get("access", { path: "." })).rejects.toThrow(/access takes none/u);
    await expect(get("review_changes", { path: "" })).rejects.toThrow(/must be a path/u);
    await expect(get("review_changes", { path: "gone.txt" })).rejects.toThrow(/'path': .*does not exist/u);
    await expect(get("review_changes", { path: "/etc" })).rejects.toThrow(/outside/u);
    await expect(get("review_changes", { path: "x".repeat(5000) })).rejects.toThrow(/4096/u);
  });

  test("prompts name no tool that is not offered", async () => {
    await using at = await scratch();
    await using server = await connect([COMMAND, "mcp", at.dir, "--preset", "mcp"], { era });
    const { prompts } = await server.client.listPrompts();
    expect(prompts.map(({ name }) => name)).toEqual(["access", "review_changes"]);
    expect(textOf(await server.client.getPrompt({ name: "access" }))).toContain("list_allowed_directories");
    expect(textOf(await server.client.getPrompt({ name: "review_changes" }))).not.toContain("history");
  });

  test("prompts are served over HTTP", async () => {
    await using at = await scratch();
    await using server = await serve([at.dir]);
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
    );
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } }),
    );
    expect((await client.listPrompts()).prompts).toHaveLength(3);
    const review = await client.getPrompt({ name: "review_changes", arguments: { path: "." } });
    expect(textOf(review)).toContain('below "."');
    await client.close();
  });
});
