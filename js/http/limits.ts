/** The limits of every HTTP server of this package: times, sizes, numbers of requests and connections. */
import { integer, type Options, options } from "../schema/option.ts";

/** The limits of one server. */
export interface HttpLimits {
  /**
   * The time in milliseconds within which the headers of a request must arrive. Then the connection is
   * closed.
   */
  readonly headersMs: number;
  /**
   * The time in milliseconds within which a whole request must arrive, its body included. Then the connection
   * is closed.
   */
  readonly requestMs: number;
  /** The time in milliseconds for which a client may read nothing of an answer. Then the connection is closed. */
  readonly unreadMs: number;
  /** The maximum size of a request's body in bytes. A larger one is answered with 413. */
  readonly bodyBytes: number;
  /**
   * The maximum size in bytes of the bodies of all requests in progress together. Beyond it, a request is
   * answered with 503.
   */
  readonly allBodiesBytes: number;
  /**
   * The maximum number of requests in progress, event streams included. Beyond it, a request is answered with
   * 503.
   */
  readonly requests: number;
  /**
   * The maximum number of MCP requests among these, so that some remain for approvals. Beyond it, one is
   * answered with 503.
   */
  readonly calls: number;
  /**
   * The maximum number of open connections. Beyond it, the connection that has been idle for longest is
   * closed.
   */
  readonly connections: number;
}

/** The type of the option `limits` of a server. */
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

/** The default limits. The guide on the MCP server lists them. */
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

/**
 * Returns true when the promise is fulfilled within this time, false when the time ends first. The promise is
 * not cancelled.
 */
export async function fulfilledWithin(promise: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), milliseconds);
  });
  const fulfilled = promise.then(() => true);
  return Promise.race([fulfilled, late]).finally(() => clearTimeout(timer));
}
