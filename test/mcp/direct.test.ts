/** Answers of our fast path compared with those of the protocol's SDK. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import type { ServerDescription } from "../../js/mcp/protocol/direct.ts";
import { makeMessageHandler, PROTOCOL_REVISIONS } from "../../js/rpc/handler.ts";
import { type StreamServer, startStreamServer } from "../support/in-process.ts";
import { scratch } from "./harness.ts";

const clientInfo = { name: "test", version: "1" };

type Json = Readonly<Record<string, unknown>>;

/** A server whose messages are lines. */
class Raw implements AsyncDisposable {
  readonly #server: StreamServer;
  readonly #waiting = new Map<unknown, (answer: Json) => void>();
  #next = 1;

  constructor(...argv: readonly string[]) {
    this.#server = startStreamServer(["--preset", "mcp", ...argv], (line) => {
      const message = JSON.parse(line) as Json;
      this.#waiting.get(message["id"])?.(message);
    });
  }

  get errors(): string {
    return this.#server.program.err;
  }
  write(text: string | Uint8Array): void {
    this.#server.program.input.write(text);
  }
  send(message: Json): void {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
  answerTo(id: unknown): Promise<Json> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
  async request(method: string, params?: Json): Promise<Json> {
    const id = this.#next++;
    const answer = this.answerTo(id);
    this.send({ id, method, ...(params === undefined ? {} : { params }) });
    const { id: _, ...rest } = await answer;
    return rest;
  }
  initialize(protocolVersion: string, more: Json = {}): Promise<Json> {
    return this.request("initialize", { protocolVersion, capabilities: {}, clientInfo, ...more });
  }
  /** Ends the input and waits for the server. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.program.input.end();
    await this.#server.ended;
  }
}

/** Returns the answer to a handshake before an SDK; undefined when it is left to the SDK. */
function answerHandshake(
  message: object,
  { serverInfo, capabilities, instructions }: ServerDescription,
): unknown {
  const initialize = (): object => ({ serverInfo, capabilities, instructions });
  return makeMessageHandler({ initialize }, "leave").handle(message);
}

/** An unknown key: the fast path takes only messages without one, so the SDK answers. */
const BY_SDK = { _meta: { "test.example/by": "sdk" } };

test("the revisions are those of the SDK", () => {
  expect(PROTOCOL_REVISIONS).toEqual(SUPPORTED_PROTOCOL_VERSIONS);
});

test("the fast path answers a handshake as the SDK does, in every revision", async () => {
  await using at = await scratch();
  await using server = new Raw(at.dir);
  const { result } = await server.initialize("2025-06-18");
  expect(result).toMatchObject({ protocolVersion: "2025-06-18", serverInfo: { name: "filewright" } });
  for (const revision of [...PROTOCOL_REVISIONS, "1999-01-01", "2026-07-28", ""]) {
    // The fast path answers only the first handshake; the SDK answers this one.
    const theirs = await server.initialize(revision);
    const params = { protocolVersion: revision, capabilities: {}, clientInfo };
    const message = { jsonrpc: "2.0", id: 1, method: "initialize", params };
    expect(await answerHandshake(message, result as ServerDescription)).toEqual({ id: 1, ...theirs });
  }
});

test("a handshake with something more is left to the SDK", () => {
  const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo, ...BY_SDK };
  const about = {
    serverInfo: { name: "", title: "", version: "" },
    instructions: "",
  } as unknown as ServerDescription;
  expect(answerHandshake({ jsonrpc: "2.0", id: 1, method: "initialize", params }, about)).toBeUndefined();
});

test("a handshake that makes no sense is refused, and a better one is accepted after it", async () => {
  await using at = await scratch();
  await using server = new Raw(at.dir);
  expect(await server.initialize("2025-06-18", { capabilities: 1 })).toMatchObject({
    error: { code: -32_602 },
  });
  expect(await server.initialize("2025-06-18")).toHaveProperty("result.protocolVersion", "2025-06-18");
});

test("answers are those of the SDK: lists, results, refusals, errors", async () => {
  await using at = await scratch();
  await mkdir(join(at.dir, "sub"));
  await writeFile(join(at.dir, "a.txt"), "one\ntwo \u2028 é\n");
  for (const structured of ["none", "full"]) {
    await using server = new Raw(at.dir, "--structured", structured);
    await server.initialize("2025-06-18");
    server.send({ method: "notifications/initialized" });
    const both = async (method: string, params: Json = {}): Promise<Json> => {
      const ours = await server.request(method, params);
      expect(ours).toEqual(await server.request(method, { ...params, ...BY_SDK }));
      return ours;
    };
    const call = (name: string, args?: Json): Promise<Json> =>
      both("tools/call", args === undefined ? { name } : { name, arguments: args });

    expect(await both("ping")).toEqual({ jsonrpc: "2.0", result: {} });
    expect(await both("tools/list")).toHaveProperty("result.tools.length", 14);
    expect(await call("read_text_file", { path: "a.txt" })).toHaveProperty(
      "result.content.0.text",
      "one\ntwo \u2028 é\n",
    );
    await call("list_allowed_directories");
    await call("list_directory", { path: "." });
    await call("get_file_info", { path: "sub" });
    expect(await call("read_text_file", { path: "/etc/passwd" })).toHaveProperty("result.isError", true);
    expect(await call("read_text_file", { pth: "a.txt" })).toHaveProperty("result.isError", true);
    expect(await call("read_txt_file", {})).toMatchObject({
      error: { code: -32_602, message: expect.stringContaining("did you mean read_text_file") },
    });
  }
});

test("a call is cancelled, and its number may be used again", async () => {
  await using at = await scratch();
  await writeFile(join(at.dir, "a.txt"), "a");
  await using server = new Raw(at.dir);
  await server.initialize("2025-06-18");
  const lines = (...messages: readonly Json[]): void =>
    server.write(messages.map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`).join(""));
  const call = (id: string, name: string): Json => {
    return { id, method: "tools/call", params: { name, arguments: { path: at.dir } } };
  };
  const cancel = (requestId: string): Json => ({ method: "notifications/cancelled", params: { requestId } });

  let answered = false;
  void server.answerTo("one").then(() => {
    answered = true;
  });
  const again = server.answerTo("two");
  // In one piece: it is cancelled before it can have ended.
  lines(call("one", "directory_tree"), cancel("one"), cancel("unknown"), call("two", "get_file_info"));
  expect(await again).toHaveProperty("result.content.0.text", expect.stringContaining("isDirectory: true"));
  expect(answered).toBe(false);
  const reused = server.answerTo("one");
  lines(call("one", "list_directory"));
  expect(await reused).toHaveProperty("result.content.0.text", "[FILE] a.txt");
});

test("messages in pieces and in one piece are read as lines; what is none is told and answered", async () => {
  await using at = await scratch();
  await using server = new Raw(at.dir);
  await server.initialize("2025-06-18");
  const ping = (id: string): string => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\r\n`;
  const answers = ["ä", "b", "c", "d"].map((id) => server.answerTo(id));
  const broken = server.answerTo(null);
  const bytes = Buffer.from(`not json\n[1]\n\n${ping("ä")}${ping("b")}${ping("c")}${ping("d")}`);
  const split = bytes.indexOf("ä") + 1; // Inside a character.
  server.write(bytes.subarray(0, split));
  await new Promise((resolve) => setImmediate(resolve));
  server.write(bytes.subarray(split));
  expect((await Promise.all(answers)).map(({ id }) => id)).toEqual(["ä", "b", "c", "d"]);
  expect(await broken).toMatchObject({ error: { code: -32_700 } });
  await server[Symbol.asyncDispose]();
  expect(server.errors).toContain('Not a message: "not json"');
});
