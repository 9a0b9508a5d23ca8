/** Real clients of the official SDKs, talking to real server processes over pipes. */
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

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
  /** The server's process. */
  readonly pid: number;
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

/** Starts a server and connects to it. */
export async function connect(
  argv: readonly string[],
  {
    era = "legacy",
    env = {},
    wrap = [],
    ...options
  }: { era?: Era; env?: Record<string, string>; wrap?: readonly string[] } & ClientOptions = {},
  prepare: (client: Client) => void = () => {},
): Promise<Connected> {
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
  const client = new Client(
    { name: "test", version: "1" },
    { ...options, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  prepare(client);
  await client.connect(transport);
  const close = (): Promise<void> => client.close();
  return {
    client,
    errors: () => said,
    pid: transport.pid as number,
    call: async (name, args = {}) => answerOf(await client.callTool({ name, arguments: args })),
    [Symbol.asyncDispose]: close,
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
