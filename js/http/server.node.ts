/**
 * The HTTP server behind the MCP server and the approval queue. It listens on a port, checks requests as both
 * need it, and passes them to a function from `Request` to `Response`. That function decides which client may
 * do what.
 *
 * Before the function is called, the server checks the request target, the method, the Host and Origin
 * headers, the number of requests and the size of the body. While it runs, the server limits the time for a
 * request to arrive and an answer to be read, the size of bodies, and the number of connections.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { makeBodyLimiter } from "./body.node.ts";
import { HTTP_LIMITS, type HttpLimits, fulfilledWithin } from "./limits.ts";
import { type AllowedOrigins, originGuard } from "./access.ts";

/** The options of a server. */
export interface HttpServerOptions extends Partial<AllowedOrigins> {
  readonly host: string;
  /** The port; 0 means any free one. */
  readonly port: number;
  /**
   * Paths that are answered under any Host and Origin header and beyond the limit of requests, such as those of probes,
   * which know only an address. Their answers must be the same for everybody. Default: none.
   */
  readonly unguarded?: readonly string[] | undefined;
  /** Limits that replace those of {@link HTTP_LIMITS}. */
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Creates the answer to a request that is refused. Default: the message as plain text. */
  readonly refuse?: ((status: number, message: string) => Response) | undefined;
  /** Called when the function throws. The client gets status 500. */
  readonly onerror?: ((error: unknown) => void) | undefined;
}

/** A listening server. */
export interface HttpServer {
  /** The address of the server, such as `http://127.0.0.1:34567`. */
  readonly url: string;
  readonly port: number;
  /**
   * Shuts down in order: requests that have arrived are answered, then the port and all idle connections are
   * closed. Resolves to false if requests are still running after `graceMs` milliseconds.
   */
  drain(graceMs: number): Promise<boolean>;
  /** Closes the port and all connections at once. */
  close(): Promise<void>;
}

/**
 * The time in milliseconds for which a server that shuts down still accepts connections, because the kernel
 * may already have accepted some. After it, the server waits until no connection has come for `QUIET_MS`.
 */
export const MIN_LINGER_MS = 500;
const QUIET_MS = 100;
const MAX_LINGER_MS = 5000;
/** The interval in milliseconds at which Node looks for requests that are too slow. */
const SLOW_REQUEST_CHECK_MS = 2000;
const ALLOWED_METHODS: readonly string[] = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

/** Starts a server. Rejects when the port is not available. */
export async function startHttpServer(
  answer: (request: Request) => Promise<Response>,
  options: HttpServerOptions,
): Promise<HttpServer> {
  const requests = new Requests(answer, options);
  const { limits, connections } = requests;
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: Math.min(SLOW_REQUEST_CHECK_MS, limits.headersMs, limits.requestMs),
    },
    (incoming, outgoing) => requests.take(incoming, outgoing),
  );
  server.on("connection", (socket) => requests.connected(socket));
  // CONNECT asks for a tunnel to another server, which is refused. With no listener for it, Node would close
  // the connection without an answer.
  server.on("connect", (_incoming, socket) => {
    socket.once("error", () => socket.destroy());
    socket.end("HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const name = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${name}:${port}`,
    port,
    async drain(graceMs) {
      await requests.lastArrived();
      server.close();
      connections.closeIdle();
      return fulfilledWithin(requests.ended(), graceMs);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The requests of a server: checks and answers each, and knows which are answered still. */
class Requests {
  readonly limits: HttpLimits;
  readonly connections: ReturnType<typeof limitConnections>;
  readonly #answer: (request: Request) => Promise<Response>;
  readonly #onerror: HttpServerOptions["onerror"];
  readonly #refuse: MakeRefusal;
  readonly #guard: ReturnType<typeof originGuard>;
  readonly #unguarded: ReadonlySet<string>;
  readonly #bodies: ReturnType<typeof makeBodyLimiter>;
  /** Called when no request is answered any more. */
  readonly #settled = new Set<() => void>();
  #running = 0;
  /** The numbers of connections and requests since the start. */
  #arrived = 0;
  #isDraining = false;

  constructor(answer: (request: Request) => Promise<Response>, options: HttpServerOptions) {
    this.limits = { ...HTTP_LIMITS, ...options.limits };
    this.connections = limitConnections(this.limits.connections);
    this.#answer = answer;
    this.#onerror = options.onerror;
    this.#refuse = options.refuse ?? ((status, message) => new Response(`${message}\n`, { status }));
    this.#guard = originGuard({ hosts: options.hosts ?? [], origins: options.origins ?? [] });
    this.#unguarded = new Set(options.unguarded ?? []);
    this.#bodies = makeBodyLimiter(this.limits);
  }

  connected(socket: Socket): void {
    this.#arrived += 1;
    this.connections.add(socket);
  }

  /** Answers a request. */
  take(incoming: IncomingMessage, outgoing: ServerResponse): void {
    this.#running += 1;
    this.#arrived += 1;
    this.connections.use(incoming.socket, outgoing);
    outgoing.once("close", () => {
      this.#running -= 1;
      if (this.#running === 0) for (const settle of this.#settled) settle();
    });
    this.#respond(incoming, outgoing).catch(() => {
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(400, { connection: "close" }).end();
    });
  }

  /** Resolves once no connection and no request has arrived for a while. From now on answers end their connections. */
  async lastArrived(): Promise<void> {
    this.#isDraining = true;
    await delay(MIN_LINGER_MS);
    for (let left = MAX_LINGER_MS, seen = -1; seen !== this.#arrived && left > 0; left -= QUIET_MS) {
      seen = this.#arrived;
      await delay(QUIET_MS);
    }
  }

  /** Resolves once no request is answered any more. */
  async ended(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#settled.add(resolve));
  }

  /** Returns the answer to a request that is refused; undefined for a valid one. */
  #refusalOf(incoming: IncomingMessage, headers: Headers): Response | undefined {
    const isGuarded = !this.#unguarded.has((incoming.url ?? "").replace(/\?.*$/su, ""));
    const foreign = isGuarded ? this.#guard.refusal(headers) : undefined;
    if (foreign !== undefined) return this.#refuse(403, foreign);
    // A target such as `//host/path`, or a complete URL, would name another server than this one.
    if (!/^\/(?!\/)/u.test(incoming.url ?? "")) return this.#refuse(400, "the request target must be a path");
    if (!ALLOWED_METHODS.includes(incoming.method ?? ""))
      return this.#refuse(405, "this method is not served");
    if (isGuarded && this.#running > this.limits.requests)
      return busyResponse(this.#refuse, "too many requests are being answered");
    const status = this.#bodies.refusedWith(Number(headers.get("content-length") ?? 0));
    return status === undefined ? undefined : tooLargeResponse(this.#refuse, status, this.limits);
  }

  async #respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const headers = toHeaders(incoming);
    const body = this.#bodies.read(incoming);
    try {
      const response =
        this.#refusalOf(incoming, headers) ??
        (await this.#answer(toRequest(incoming, headers, body.stream, gone.signal)).catch(
          (error: unknown) => {
            if (body.refusedWith() === undefined && !gone.signal.aborted) this.#onerror?.(error);
            return this.#refuse(500, "the server failed; its log says why");
          },
        ));
      const status = body.refusedWith();
      const sent = status === undefined ? response : tooLargeResponse(this.#refuse, status, this.limits);
      if (sent !== response) await response.body?.cancel();
      outgoing.writeHead(sent.status, {
        ...Object.fromEntries(sent.headers),
        ...this.#guard.crossOrigin(headers),
        ...(this.#isDraining ? { connection: "close" } : {}),
      });
      outgoing.flushHeaders();
      if (sent.body !== null) await sendBody(sent.body, outgoing, gone.signal, this.limits.unreadMs);
      outgoing.end();
    } finally {
      body.release();
    }
  }
}

type MakeRefusal = (status: number, message: string) => Response;

function tooLargeResponse(refuse: MakeRefusal, status: number, { bodyBytes }: HttpLimits): Response {
  return status === 503
    ? busyResponse(refuse, "too many bytes of requests are being answered")
    : refuse(status, `a request body may have ${bodyBytes} bytes`);
}

function busyResponse(refuse: MakeRefusal, message: string): Response {
  const response = refuse(503, `${message}; try again in a second`);
  response.headers.set("retry-after", "1");
  return response;
}

/**
 * Limits the number of connections to `most`: for a new one the oldest idle one is closed, so that idle
 * clients cannot block others.
 */
function limitConnections(most: number): {
  add(socket: Socket): void;
  use(socket: Socket, outgoing: ServerResponse): void;
  /** Closes every idle connection. */
  closeIdle(): void;
} {
  const open = new Set<Socket>();
  const idle = new Set<Socket>();
  const inWork = new Map<Socket, number>();
  return {
    add(socket) {
      open.add(socket);
      idle.add(socket);
      socket.once("close", () => {
        open.delete(socket);
        idle.delete(socket);
        inWork.delete(socket);
      });
      if (open.size <= most) return;
      const [oldest = socket] = idle;
      open.delete(oldest);
      idle.delete(oldest);
      oldest.destroy();
    },
    use(socket, outgoing) {
      inWork.set(socket, (inWork.get(socket) ?? 0) + 1);
      idle.delete(socket);
      outgoing.once("close", () => {
        const left = (inWork.get(socket) ?? 1) - 1;
        if (left > 0) return void inWork.set(socket, left);
        inWork.delete(socket);
        if (open.has(socket)) idle.add(socket);
      });
    },
    closeIdle() {
      for (const socket of [...idle]) socket.destroy();
    },
  };
}

/** Sends a body as fast as the client reads it. */
async function sendBody(
  body: ReadableStream<Uint8Array>,
  outgoing: ServerResponse,
  gone: AbortSignal,
  unreadMs: number,
): Promise<void> {
  const reader = body.getReader();
  const stop = (): void => void reader.cancel().catch(() => {});
  // When the client disconnects, the stream is cancelled, and with it the work that produces it.
  gone.addEventListener("abort", stop, { once: true });
  try {
    for (let chunk = await reader.read(); chunk.done !== true; chunk = await reader.read()) {
      if (gone.aborted) return;
      if (outgoing.write(chunk.value)) continue;
      const late = setTimeout(() => outgoing.destroy(), unreadMs);
      await once(outgoing, "drain", { signal: gone }).finally(() => clearTimeout(late));
    }
  } catch (error) {
    stop();
    throw error;
  } finally {
    gone.removeEventListener("abort", stop);
  }
}

function toHeaders(incoming: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(", ") : value);
  return headers;
}

function toRequest(
  incoming: IncomingMessage,
  headers: Headers,
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
): Request {
  const method = incoming.method ?? "GET";
  const body = method === "GET" || method === "HEAD" ? {} : { body: stream, duplex: "half" };
  return new Request(`http://server${incoming.url}`, { method, headers, signal, ...body } as RequestInit);
}
