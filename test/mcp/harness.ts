/** Real clients of the official SDKs, talking to servers over streams of this process, or to processes over pipes. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, type ClientOptions, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { DROP_IN_DEFAULTS } from "../../js/mcp/run.ts";
import { startStreamServer } from "../support/in-process.ts";

/** The command as it is published. */
export const COMMAND = resolve(import.meta.dirname, "../../dist/bin/filewright.js");
/** The drop-in for the filesystem server: the same arguments and nothing else. */
export const DROP_IN = resolve(import.meta.dirname, "../../dist/bin/server-filesystem.js");

/** The two eras of the protocol. */
export const ERAS = ["legacy", "modern"] as const;
export type Era = (typeof ERAS)[number];

/** A connected client. */
export interface Connected extends AsyncDisposable {
  readonly client: Client;
  /** Returns the output of the server on standard error until now. */
  errors(): string;
  /** Calls a tool and gives what it answered. */
  call(name: string, args?: Record<string, unknown>): Promise<Answer>;
}

/** The answer of a tool. */
export interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly content: readonly Record<string, unknown>[];
  readonly structured: unknown;
  readonly meta: Record<string, unknown>;
}

/** A connection to a server in a process of its own. */
export interface ConnectedProcess extends Connected {
  readonly pid: number;
}

/** Starts a server in this process, as `[COMMAND, "mcp", …]` or `[DROP_IN, …]`, and connects to it. */
export async function connect(
  [command, ...argv]: readonly string[],
  { era = "legacy", ...options }: { era?: Era } & ClientOptions = {},
  prepare: (client: Client) => void = () => {},
): Promise<Connected> {
  const transport: Transport = {
    start: async () => {},
    send: async (message) => void server.program.input.write(`${JSON.stringify(message)}\n`),
    async close() {
      server.program.input.end();
      await server.ended;
    },
  };
  const server = startStreamServer(
    command === DROP_IN ? argv : argv.slice(1),
    (line) => transport.onmessage?.(JSON.parse(line)),
    command === DROP_IN ? DROP_IN_DEFAULTS : undefined,
  );
  server.ended.then(
    () => transport.onclose?.(),
    (error: Error) => transport.onerror?.(error),
  );
  const client = clientOf(era, options);
  prepare(client);
  await client.connect(transport);
  return connected(client, () => server.program.err);
}

/** Starts a server as a process and connects to it. */
export async function connectToProcess(
  argv: readonly string[],
  {
    era = "legacy",
    env = {},
    wrap = [],
    ...options
  }: { era?: Era; env?: Record<string, string>; wrap?: readonly string[] } & ClientOptions = {},
  prepare: (client: Client) => void = () => {},
): Promise<ConnectedProcess> {
  const transport = new StdioClientTransport({
    command: wrap[0] ?? process.execPath,
    args: [...(wrap.length === 0 ? [] : [...wrap.slice(1), process.execPath]), ...argv],
    stderr: "pipe",
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
  });
  let said = "";
  transport.stderr?.on("data", (chunk) => {
    said += String(chunk);
  });
  const client = clientOf(era, options);
  prepare(client);
  await client.connect(transport);
  return { ...connected(client, () => said), pid: transport.pid as number };
}

function clientOf(era: Era, options: ClientOptions): Client {
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" };
  return new Client({ name: "test", version: "1" }, { ...options, versionNegotiation: { mode } });
}

function connected(client: Client, errors: () => string): Connected {
  return {
    client,
    errors,
    call: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

/** An answer in the shape that tests look at. */
export function answerOf(result: object): Answer {
  const { content, isError, structuredContent, _meta } = result as {
    readonly content: readonly Record<string, unknown>[];
    readonly isError?: boolean;
    readonly structuredContent?: unknown;
    readonly _meta?: Record<string, unknown>;
  };
  return {
    text: content.map((block) => (block["type"] === "text" ? String(block["text"]) : "")).join(""),
    isError: isError === true,
    content,
    structured: structuredContent,
    meta: (_meta?.["filewright/call"] ?? {}) as Record<string, unknown>,
  };
}

/** A fresh directory, gone afterwards; without links in its path. */
export async function scratch(): Promise<{ readonly dir: string } & AsyncDisposable> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "filewright-mcp-")));
  return { dir, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}
