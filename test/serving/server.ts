/** A server over a storage in this process, and calls of it. */
import { type HttpServeOptions, startMcpHttpServer } from "../../js/mcp/serve.ts";
import { parseStorageUrl } from "../../js/mcp/storage/url.ts";
import type { WorkspaceChoice } from "../../js/mcp/tenants/claims.ts";
import { PORT } from "../storage/postgres/server.mjs";
import { afterThisTest } from "../support/cleanups.ts";

/** The token of clients where there is no authorization server. */
export const TOKEN = "a-token-that-only-this-test-knows";

/** Returns the URL of a database whose socket is in a directory. */
export const postgresUrl = (host: string, parameters = ""): string =>
  `postgres://postgres@localhost:${PORT}/postgres?host=${encodeURIComponent(host)}${parameters}`;

/** The options of a test's server. */
export interface ServingOptions extends Partial<Omit<HttpServeOptions, "storage">> {
  readonly choice?: WorkspaceChoice;
  readonly callsPerMinute?: number;
  readonly quota?: NonNullable<HttpServeOptions["storage"]>["quota"];
}

/** A running server. */
export interface Served {
  readonly url: string;
  /** The lines that it has logged. */
  readonly lines: readonly string[];
  /** Ends the server as SIGTERM does. */
  drain(): Promise<void>;
}

/** Starts a server that ends with the test. */
export async function startServing(
  storage: string,
  { choice = { workspace: "main" }, callsPerMinute, quota, ...more }: ServingOptions = {},
): Promise<Served> {
  process.env["FILEWRIGHT_TOKEN"] = TOKEN;
  afterThisTest(() => delete process.env["FILEWRIGHT_TOKEN"]);
  const lines: string[] = [];
  const running = await startMcpHttpServer(
    {
      ...{
        roots: [],
        keepsRoots: true,
        preset: "canonical",
        structured: "full",
        readOnly: false,
        ask: false,
      },
      ...{ graceMs: 1000, logLevel: "info", tools: undefined, strictSchemas: false, audit: undefined },
      ...{ workspace: {}, opensAtOnce: true, greeting: undefined, version: "0.0.0" },
      ...{ host: "127.0.0.1", port: 0, allowHosts: [], allowOrigins: [], open: false, approve: false },
      storage: { target: parseStorageUrl(storage), choice, callsPerMinute, quota },
      ...more,
    },
    (line) => void lines.push(line),
  );
  let ended: Promise<void> | undefined;
  const drain = (): Promise<void> => (ended ??= running.drain());
  afterThisTest(drain);
  return { url: running.url, lines, drain };
}

/** The answer to one call. */
export interface CallAnswer {
  readonly status: number;
  readonly text: string;
  readonly isError: boolean;
  readonly data: Record<string, unknown>;
  readonly headers: Headers;
  /** The whole body, of an answer that is no result as well. */
  readonly body: string;
}

/** Calls a tool of a server by one request. */
export async function call(
  url: string,
  name: string,
  args: object,
  {
    token = TOKEN,
    headers = {},
  }: { readonly token?: string; readonly headers?: Record<string, string> } = {},
): Promise<CallAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
  });
  const body = await response.text();
  const { result = {} } = parse(body) as { readonly result?: Record<string, unknown> };
  const content = (result["content"] ?? []) as readonly { readonly text?: string }[];
  return {
    status: response.status,
    text: content.map(({ text = "" }) => text).join("\n"),
    isError: result["isError"] === true,
    data: (result["structuredContent"] ?? {}) as Record<string, unknown>,
    headers: response.headers,
    body,
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(/^data: (\{.*\})$/mu.exec(body)?.[1] ?? body);
  } catch {
    return {};
  }
}
