/** Serving an approval desk from Node, on this machine alone unless told otherwise. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApprovalDesk } from "./desk.ts";

/** Where a desk is served. */
export interface DeskServerOptions {
  /** Default 0: any free one. */
  readonly port?: number | undefined;
  /** Default `127.0.0.1`. */
  readonly host?: string | undefined;
}

/** A served desk. */
export interface DeskServer {
  /** Such as `http://127.0.0.1:34567/approvals`. */
  readonly url: string;
  close(): Promise<void>;
}

/** The largest request body, in bytes. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** Serves a desk over HTTP. What asks must show the desk's token. */
export async function serveApprovals(
  desk: ApprovalDesk,
  { port = 0, host = "127.0.0.1" }: DeskServerOptions = {},
): Promise<DeskServer> {
  const server: Server = createServer((incoming, outgoing) => {
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    respond(desk, incoming, gone.signal)
      .then(async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.flushHeaders();
        for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) outgoing.write(chunk);
        outgoing.end();
      })
      .catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}/approvals`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function respond(
  desk: ApprovalDesk,
  incoming: IncomingMessage,
  signal: AbortSignal,
): Promise<Response> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return new Response(null, { status: 413 });
    chunks.push(chunk);
  }
  const method = incoming.method ?? "GET";
  const authorization = incoming.headers.authorization;
  const request = new Request(new URL(incoming.url ?? "/", "http://desk"), {
    method,
    signal,
    ...(authorization === undefined ? {} : { headers: { authorization } }),
    ...(method === "GET" || method === "HEAD" ? {} : { body: Buffer.concat(chunks) }),
  });
  return desk.handle(request);
}
