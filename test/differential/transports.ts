/** The transports of our servers in this process, over tools that answer at once. */
// Loaded by the server with the first unknown tool, which these tests do not wait for.
import "../../js/mcp/served-tools.ts";
import { PassThrough } from "node:stream";
import { inProcessServer, type InProcessTransport } from "../../js/adapters/in-process-mcp.ts";
import type { AdapterTool } from "../../js/adapters/offer.ts";
import type { WorkspaceHost } from "../../js/mcp/host.ts";
import { makeClientLog } from "../../js/mcp/protocol/log.ts";
import { makeMcpHandler } from "../../js/mcp/transport/handler.ts";
import { answerMessages } from "../../js/mcp/transport/session.ts";
import { makeJsonLinesWire, type JsonLinesWire } from "../../js/mcp/transport/wire.ts";
import type { Transport } from "./record.ts";

const INITIALIZE = {
  jsonrpc: "2.0",
  id: "first",
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

const META = { truncated: false };
const ok = (text: string): object => ({ ok: true, text, data: {}, meta: META });
const failed = { ok: false, text: "Error: NOT_FOUND", error: { code: "NOT_FOUND" }, meta: META };
const annotations = { readOnlyHint: true };
const inputSchema = { type: "object", properties: {} };
const executions: Record<string, (args: unknown) => Promise<object>> = {
  echo: async (args) => ok(JSON.stringify(args)),
  fail: async () => failed,
  throw: async () => {
    throw new TypeError("a defect");
  },
};
const tools = Object.entries(executions).map(([name, execute]) => {
  return { name, title: name, description: name, inputSchema, annotations, execute, call: execute };
});

function host(): WorkspaceHost {
  const served = {
    ws: {},
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    listed: tools,
    cwd: "/w",
    roots: ["/w"],
  };
  return {
    preset: "canonical",
    strictSchemas: false,
    followsRoots: false,
    offers: () => true,
    canAdd: () => false,
    dirs: () => ["/w"],
    workspace: async () => served as never,
    tools: async () => tools as never,
    replace: () => {},
    isDraining: () => false,
    drain: async () => {},
    close: async () => {},
  };
}

/** Answers texts. An answer that never comes is none. */
export interface Answering extends AsyncDisposable {
  ask(text: string): Promise<readonly object[]>;
}

/** Waits until everything that a message began has ended: the tools answer at once. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((done) => setImmediate(done));
}

/** `isGreeted`: the handshake is made; default true. */
interface Opening {
  readonly isGreeted?: boolean;
}

/** Over standard input and output. */
async function overStdio({ isGreeted = true }: Opening = {}): Promise<Answering> {
  const input = new PassThrough();
  const output = new PassThrough();
  let said = "";
  output.on("data", (chunk) => {
    said += String(chunk);
  });
  const wire: JsonLinesWire = makeJsonLinesWire(input, output, 1 << 24);
  const clientLog = makeClientLog(async () => {});
  const parts = { host: host(), structured: "none", clientLog, wire, version: "1", log: () => {} } as const;
  const { close } = answerMessages(parts);
  wire.onerror = () => {};
  wire.start();
  const ask = async (text: string): Promise<readonly object[]> => {
    said = "";
    input.write(`${text}\n`);
    await settle();
    return said
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line));
  };
  if (!isGreeted) return { ask, [Symbol.asyncDispose]: close };
  await ask(JSON.stringify(INITIALIZE));
  // The SDK is loaded with the first message that needs it.
  await ask(JSON.stringify({ jsonrpc: "2.0", id: "second", method: "prompts/list" }));
  for (let turn = 0; said === "" && turn < 500; turn += 1) await new Promise((done) => setTimeout(done, 10));
  return { ask, [Symbol.asyncDispose]: close };
}

/** Over HTTP: each message is a request of its own. */
async function overHttp(): Promise<Answering> {
  const handler = makeMcpHandler({ host: host(), structured: "none", version: "1" });
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  return {
    async ask(text) {
      const length = { "content-length": `${Buffer.byteLength(text)}` };
      const request = new Request("http://localhost/mcp", {
        method: "POST",
        headers: { ...headers, ...length },
        body: text,
      });
      const body = await (await handler.fetch(request)).text();
      if (body === "") return [];
      const events = body
        .split("\n")
        .filter((line) => line.startsWith("data: "))
        .map((line) => line.slice("data: ".length));
      return (events.length === 0 ? [body] : events).flatMap((json) => JSON.parse(json));
    },
    [Symbol.asyncDispose]: () => handler.close(),
  };
}

/** In the process of the host. A text that is no JSON is never a message here. */
async function inProcess({ isGreeted = true }: Opening = {}): Promise<Answering> {
  const server = inProcessServer({ name: "filewright", version: "1" }, tools as unknown as AdapterTool[]);
  let said: object[] = [];
  const transport: InProcessTransport = {
    start: async () => {},
    send: async (message: object) => void said.push(message),
    close: async () => {},
  };
  await server.connect(transport);
  const ask = async (text: string): Promise<readonly object[]> => {
    said = [];
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return [];
    }
    try {
      transport.onmessage?.(message as never);
    } catch {
      return [{ thrown: true }];
    }
    await settle();
    return JSON.parse(JSON.stringify(said));
  };
  if (isGreeted) await ask(JSON.stringify(INITIALIZE));
  return { ask, [Symbol.asyncDispose]: () => server.close() };
}

/** Opens a server for each transport. */
export const OPEN: Readonly<Record<Transport, (opening?: Opening) => Promise<Answering>>> = {
  stdio: overStdio,
  http: overHttp,
  inProcess,
};

type Json = Readonly<Record<string, unknown>>;

/**
 * An answer without what transports and revisions of the text may differ in: of an error its code, of a
 * handshake its revision, of a call its content.
 */
export function essence(answer: object): string {
  const { id, result, error } = answer as { id?: unknown; result?: Json; error?: { code?: unknown } };
  const shown = JSON.stringify(id);
  if (error !== undefined) return `${shown} error ${String(error.code)}`;
  if (typeof result !== "object" || result === null) return JSON.stringify(answer);
  if ("protocolVersion" in result) return `${shown} revision ${result["protocolVersion"]}`;
  if ("tools" in result) return `${shown} ${(result["tools"] as unknown[]).length} tools`;
  if ("content" in result) {
    const { content, isError = false } = result;
    return `${shown} ${isError ? "failed" : "done"} ${JSON.stringify(content)}`;
  }
  return `${shown} ${JSON.stringify(result)}`;
}
