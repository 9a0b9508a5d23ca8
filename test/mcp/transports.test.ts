/** The protocol's own client over each transport: handshake, list, calls, refusals, a cancelled call. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, test } from "vitest";
import { toClaudeAgentServer } from "../../js/adapters/claude-agent.ts";
import type { InProcessServer, InProcessTransport } from "../../js/adapters/in-process-mcp.ts";
import { openWorkspace } from "../../js/index.node.ts";
import { answerOf, COMMAND, scratch } from "./harness.ts";
import { bearer, serve } from "./serving.ts";

/** A client's transport and the end of its server. */
interface Opened {
  readonly transport: Transport;
  readonly end: () => PromiseLike<void>;
}

const argv = (dir: string): string[] => ["--preset", "canonical", dir];

async function stdio(dir: string): Promise<Opened> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [COMMAND, "mcp", ...argv(dir)],
    stderr: "ignore",
  });
  return { transport, end: async () => {} };
}

async function http(dir: string): Promise<Opened> {
  const server = await serve(argv(dir));
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: bearer },
  });
  return { transport, end: () => server[Symbol.asyncDispose]() };
}

async function inProcess(dir: string): Promise<Opened> {
  const ws = await openWorkspace(dir);
  const server = toClaudeAgentServer(ws).instance as unknown as InProcessServer;
  const client: Transport = {
    start: async () => {},
    send: async (message) => host.onmessage?.(structuredClone(message) as never),
    close: async () => {
      host.onclose?.();
      client.onclose?.();
    },
  };
  const host: InProcessTransport = {
    start: async () => {},
    send: async (message: object) => client.onmessage?.(structuredClone(message) as never),
    close: async () => {},
  };
  await server.connect(host);
  return { transport: client, end: () => ws.close() };
}

describe.for([
  ["stdio", stdio],
  ["http", http],
  ["in the process", inProcess],
] as const)("over %s", ([, open]) => {
  test("a client of the protocol's SDK is served", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "a.txt"), "one");
    const { transport, end } = await open(at.dir);
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
    await client.connect(transport);
    await client.ping();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("edit_file");
    const call = async (name: string, args: Record<string, unknown>) =>
      answerOf(await client.callTool({ name, arguments: args }));
    expect(await call("read_file", { path: "a.txt", line_numbers: "none" })).toMatchObject({
      isError: false,
      text: "one",
    });
    expect((await call("read_file", { path: "none" })).isError).toBe(true);
    expect((await call("read_file", { path: "/etc/passwd" })).isError).toBe(true);
    expect((await call("read_file", { pth: "a.txt" })).isError).toBe(true);
    await expect(client.callTool({ name: "read_fil", arguments: {} })).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining("did you mean read_file?"),
    });
    const stop = new AbortController();
    const stopped = client.callTool({ name: "glob", arguments: { pattern: "**" } }, { signal: stop.signal });
    stop.abort();
    await expect(stopped).rejects.toThrow();
    expect((await call("read_file", { path: "a.txt", line_numbers: "none" })).text).toBe("one");
    await client.close();
    await end();
  });
});
