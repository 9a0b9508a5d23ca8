/** Serving a handler on a port, on this machine alone unless told otherwise. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { Readable } from "node:stream";
import { type GateOptions, makeGate, refused } from "./gate.ts";
import type { McpHandler } from "./handler.ts";

/** Where a server is served. */
export interface HttpOptions extends GateOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Whatever else lies behind the same gate, by the beginning of its path. */
  readonly others?: Readonly<Record<string, (request: Request) => Promise<Response>>> | undefined;
}

/** A served handler. */
export interface Served {
  /** Such as `http://127.0.0.1:34567/mcp`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Where the protocol is spoken. */
const PATH = "/mcp";

/** Listens. Rejects where the port cannot be had. */
export async function serveHttp(handler: McpHandler, options: HttpOptions): Promise<Served> {
  const gate = makeGate(options);
  const { metadata } = options.verifier ?? {};
  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    const away = gate.place(request);
    if (away !== undefined) return away;
    // A page asks first whether it may ask; that carries no token.
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    const about = metadata !== undefined && (pathname === metadata.path || pathname === ROOT_METADATA);
    if (about) return Response.json(metadata.document, { headers: { "cache-control": "max-age=3600" } });
    const admission = await gate.admit(request);
    if ("refusal" in admission) return admission.refusal;
    if (pathname === PATH) return handler.fetch(request, admission.facts);
    const other = Object.entries(options.others ?? {}).find(([path]) => pathname.startsWith(path));
    return other === undefined
      ? refused(404, `there is nothing here; the server is at ${PATH}`)
      : other[1](request);
  };
  const server = createServer((incoming, outgoing) => {
    respond(incoming, outgoing, answer, gate.crossOrigin).catch(() => outgoing.destroy());
  });
  // A client that never ends its headers must not hold a connection for long.
  server.headersTimeout = 20_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const name = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${name}:${port}${PATH}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const ROOT_METADATA = "/.well-known/oauth-protected-resource";

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
  crossOrigin: (request: Request) => Record<string, string>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once("close", () => gone.abort());
  const request = requestOf(incoming, gone.signal);
  const response = await answer(request);
  outgoing.writeHead(response.status, { ...Object.fromEntries(response.headers), ...crossOrigin(request) });
  outgoing.flushHeaders();
  if (response.body === null) return void outgoing.end();
  // A client that went away ends the stream, and with it the work behind it.
  await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(() => {});
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  }
  const method = incoming.method ?? "GET";
  const bodiless = method === "GET" || method === "HEAD";
  const body = bodiless
    ? {}
    : { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: "half" };
  return new Request(new URL(incoming.url ?? "/", "http://server"), {
    method,
    headers,
    signal,
    ...body,
  } as RequestInit);
}
