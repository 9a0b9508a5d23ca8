/** The limits of every HTTP server of this package: time, bytes, requests, connections. */
import { integer, type Options, options } from "../schema/option.ts";

/** The limits of one server. */
export interface HttpLimits {
  /** Milliseconds until the headers of a request must be complete. */
  readonly headersMs: number;
  /** Milliseconds until a whole request, its body included, must be complete. */
  readonly requestMs: number;
  /** Milliseconds that a client may leave an answer unread before it is cut. */
  readonly unreadMs: number;
  /** Bytes of one request's body. A larger one is answered with 413. */
  readonly bodyBytes: number;
  /** Bytes of all bodies whose requests are being answered. Beyond it a request is answered with 503. */
  readonly allBodiesBytes: number;
  /** Requests that are answered at the same time, event streams included. Beyond it 503. */
  readonly requests: number;
  /** The maximum number of MCP requests among these; the rest is reserved for approvals. Beyond it 503. */
  readonly calls: number;
  /** Open connections. Beyond it the oldest one that waits for a request is closed. */
  readonly connections: number;
}

/** The option `limits` of a server. */
export const HTTP_LIMIT_OPTIONS: Options<Partial<HttpLimits>> = options("HttpLimits", {
  headersMs: integer(1),
  requestMs: integer(1),
  unreadMs: integer(1),
  bodyBytes: integer(1),
  allBodiesBytes: integer(1),
  requests: integer(1),
  calls: integer(1),
  connections: integer(1),
});

/** The defaults. The guide on the MCP server lists them. */
export const HTTP_LIMITS: HttpLimits = Object.freeze({
  headersMs: 20_000,
  requestMs: 30_000,
  unreadMs: 60_000,
  bodyBytes: 8 * 1024 * 1024,
  allBodiesBytes: 32 * 1024 * 1024,
  requests: 512,
  calls: 256,
  connections: 1024,
});

/** Returns true when a promise is fulfilled within so many milliseconds. It continues in any case. */
export async function fulfilledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const fulfilled = promise.then(() => true);
  return Promise.race([fulfilled, late]).finally(() => clearTimeout(timer));
}
