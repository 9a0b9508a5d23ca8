/** Log messages for clients: `logging/setLevel`, `notifications/message` and levels in requests. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  makeClientLog,
  MAX_MESSAGES_PER_PERIOD,
  LOG_LEVELS,
  type LogLevel,
} from "../../js/mcp/protocol/log.ts";
import { COMMAND, type Connected, connect, scratch } from "./harness.ts";
import { startStreamServer } from "../support/in-process.ts";
import { bearer, callOver, INITIALIZE, send, serve } from "./serving.ts";

interface Message {
  readonly level: LogLevel;
  readonly logger?: string | undefined;
  readonly data: Record<string, unknown>;
}

/** Collects the log messages that a client gets. */
function listen(client: Client): Message[] {
  const messages: Message[] = [];
  client.setNotificationHandler("notifications/message", ({ params }) => {
    messages.push(params as Message);
  });
  return messages;
}

const LEVEL_KEY = "io.modelcontextprotocol/logLevel";

describe("over standard input and output, in the legacy era", () => {
  let messages: Message[] = [];
  const start = (...argv: readonly string[]): Promise<Connected> =>
    connect([COMMAND, "mcp", ...argv], {}, (client) => {
      messages = listen(client);
    });

  test("nothing is sent before the client sets a level", async () => {
    await using at = await scratch();
    await using server = await start(at.dir);
    expect(server.client.getServerCapabilities()?.logging).toEqual({});
    await server.call("read_file", { path: "gone.txt" });
    await server.client.ping();
    expect(messages).toEqual([]);
  });

  test("a refused call is a warning with the tool and the code, and without paths or content", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "secret-name.txt"), "a line of content\n");
    await using server = await start(at.dir);
    await server.client.setLoggingLevel("warning");
    await server.call("read_file", { path: "secret-name.txt" });
    await server.call("edit_file", { path: "secret-name.txt", old_text: "absent", new_text: "x" });
    await server.call("read_file", { path: "/etc/passwd" });
    await expect(server.call("read_fil")).rejects.toThrow(/Unknown tool/u);
    expect(messages.map(({ level, data }) => [level, data["tool"], data["code"]])).toEqual([
      ["warning", "edit_file", "MATCH_NOT_FOUND"],
      ["warning", "read_file", "OUTSIDE_ALLOWED"],
      ["warning", undefined, "UNKNOWN_TOOL"],
    ]);
    expect(messages[0]).toMatchObject({
      logger: "filewright",
      data: {
        message: "edit_file was refused: MATCH_NOT_FOUND",
        duration_ms: expect.any(Number),
      },
    });
    const sent = JSON.stringify(messages);
    for (const kept of [at.dir, "secret-name", "a line of", "absent", "passwd", 'read_fil"'])
      expect(sent).not.toContain(kept);
  });

  test("calls are told with their duration from debug on, and the opening from info on", async () => {
    await using at = await scratch();
    await writeFile(join(at.dir, "a.txt"), "a\n");
    await using server = await start(at.dir);
    await server.client.setLoggingLevel("info");
    await server.call("read_file", { path: "a.txt" });
    expect(messages).toMatchObject([
      { level: "info", data: { message: expect.stringMatching(/^opened 1 directory with 13 tools/u) } },
    ]);
    await server.client.setLoggingLevel("debug");
    await server.call("read_file", { path: "a.txt" });
    expect(messages.slice(1)).toMatchObject([
      { level: "debug", data: { tool: "read_file", message: expect.stringMatching(/took \d+ ms$/u) } },
    ]);
  });

  test("an opening before the level is set is told afterwards", async () => {
    await using at = await scratch();
    await using server = await start(at.dir);
    await server.client.listTools();
    await server.client.setLoggingLevel("debug");
    await server.client.ping();
    await expect.poll(() => messages).toMatchObject([{ level: "info", data: { directories: 1 } }]);
  });

  test("a raised level silences what is less urgent", async () => {
    await using at = await scratch();
    await using server = await start(at.dir);
    await server.client.setLoggingLevel("debug");
    await server.client.setLoggingLevel("error");
    await server.call("read_file", { path: "gone.txt" });
    expect(messages).toEqual([]);
  });
});

type Json = Readonly<Record<string, unknown>>;

test("setLevel takes every level of the protocol and refuses others with the nearest name", async () => {
  await using at = await scratch();
  const clientInfo = { name: "test", version: "1" };
  const plain = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
  // The first handshake has the plain form, the second is answered by the SDK.
  for (const more of [{}, { _meta: { "test.example/by": "sdk" } }]) {
    const waiting = new Map<unknown, (answer: Json) => void>();
    const server = startStreamServer([at.dir], (line) => {
      const message = JSON.parse(line) as Json;
      waiting.get(message["id"])?.(message);
    });
    let next = 1;
    const request = (method: string, params: Json): Promise<Json> => {
      const id = next++;
      server.program.input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
      return new Promise((resolve) => waiting.set(id, resolve));
    };
    const { result } = await request("initialize", { ...plain, ...more });
    expect(result).toMatchObject({ capabilities: { logging: {} } });
    for (const level of LOG_LEVELS)
      expect(await request("logging/setLevel", { level })).toMatchObject({ result: {} });
    for (const [params, words] of [
      [{ level: "warn" }, /Unknown log level: warn; did you mean warning\?/u],
      [{ level: "loud" }, /Unknown log level: loud; there are debug, info/u],
      [{ level: 4 }, /No log level; there are/u],
      [{}, /No log level/u],
    ] as const)
      expect(await request("logging/setLevel", params)).toMatchObject({
        error: { code: -32_602, message: expect.stringMatching(words) },
      });
    server.program.input.end();
    expect(await server.ended).toBe(0);
  }
});

describe("in the modern era", () => {
  const levelled = (name: string, level?: LogLevel) => ({
    name,
    arguments: { path: "gone.txt" },
    ...(level === undefined ? {} : { _meta: { [LEVEL_KEY]: level } }),
  });

  test("a request with a level gets its messages over standard output, and another request none", async () => {
    await using at = await scratch();
    let messages: Message[] = [];
    await using server = await connect([COMMAND, "mcp", at.dir], { era: "modern" }, (client) => {
      messages = listen(client);
    });
    expect(server.client.getServerCapabilities()?.logging).toEqual({});
    await server.client.callTool(levelled("read_file", "warning"));
    await server.client.callTool(levelled("read_file", "error"));
    await server.client.callTool(levelled("read_file"));
    expect(messages).toMatchObject([{ level: "warning", data: { tool: "read_file", code: "NOT_FOUND" } }]);
  });

  test("a request with a level gets its messages over HTTP", async () => {
    await using at = await scratch();
    await using server = await serve([at.dir]);
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: { pin: "2026-07-28" } } },
    );
    const messages = listen(client);
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: bearer } }),
    );
    expect(client.getServerCapabilities()?.logging).toEqual({});
    await client.callTool(levelled("read_file", "debug"));
    await client.callTool(levelled("read_file"));
    expect(messages).toMatchObject([{ level: "warning", data: { code: "NOT_FOUND" } }]);
    await client.close();
  });
});

test("a request of the legacy era over HTTP is offered no logging, because nothing keeps its level", async () => {
  await using at = await scratch();
  await using server = await serve([at.dir]);
  const { text } = await send(server.url, bearer, { body: INITIALIZE });
  expect(text).toContain('"capabilities"');
  expect(text).not.toContain('"logging"');
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "logging/setLevel",
    params: { level: "info" },
  });
  expect((await send(server.url, bearer, { body })).text).toContain("-32601");
  expect(await callOver(server.url, "read_file", { path: "gone.txt" })).toMatchObject({
    result: { isError: true },
  });
});

describe("bounds", () => {
  afterEach(() => void vi.useRealTimers());

  test("messages above the bound are left out, and their number is told with the most urgent level", () => {
    vi.useFakeTimers();
    const messages: Message[] = [];
    const log = makeClientLog(async ({ params }) => void messages.push(params as unknown as Message), "info");
    for (let call = 0; call < MAX_MESSAGES_PER_PERIOD + 5; call++) log.log("info", { message: "m" });
    log.log("error", { message: "m" });
    log.log("debug", { message: "m" });
    expect(messages).toHaveLength(MAX_MESSAGES_PER_PERIOD);
    vi.advanceTimersByTime(1000);
    expect(messages).toHaveLength(MAX_MESSAGES_PER_PERIOD + 1);
    expect(messages.at(-1)).toMatchObject({ level: "error", data: { message: "6 log messages left out" } });
    vi.advanceTimersByTime(5000);
    log.log("info", { message: "again" });
    expect(messages.at(-1)).toMatchObject({ level: "info", data: { message: "again" } });
  });
});
