/**
 * A server as a function from `Request` to `Response`: Streamable HTTP in both eras, without sessions. Any
 * replica can answer any request.
 *
 * This module opens no port and checks no token; see `http.ts` and `gate.ts`.
 */
import { HTTP_LIMITS } from "../../http/limits.ts";
import { refused } from "../auth/gate.ts";
import type { TokenFacts } from "../auth/oauth.ts";
import { createMcpHandler } from "../protocol/sdk.ts";
import { makeServer, type ServerParts } from "../protocol/server.ts";
import { listenedUris, watchVersions } from "../protocol/watch.ts";

/**
 * Returns the message of a small request that subscribes, and an empty object for any other request, whose
 * body is not read.
 */
async function asksToListen(request: Request): Promise<unknown> {
  const small = Number(request.headers.get("content-length") ?? MAX_LISTEN_BYTES) < MAX_LISTEN_BYTES;
  if (request.headers.get("mcp-method") !== "subscriptions/listen" || !small) return {};
  return request
    .clone()
    .json()
    .catch(() => ({}));
}

/** Serves requests. */
export interface McpHandler {
  fetch(request: Request, facts?: TokenFacts): Promise<Response>;
  /** Ends the streams of subscribed clients and refuses new ones. Running calls continue. */
  drain(): void;
  /** Ends all running requests. */
  close(): Promise<void>;
}

/** A message that subscribes must be smaller than this number of bytes. */
const MAX_LISTEN_BYTES = 1024 * 1024;
/** Maximum number of subscription streams of all clients together. */
const MAX_SUBSCRIPTIONS = 128;

/**
 * Creates the handler.
 * @param onerror called with errors that no answer contains
 */
export function makeHandler(
  parts: Omit<ServerParts, "watch" | "before">,
  onerror: (error: Error) => void = () => {},
): McpHandler {
  const draining = new AbortController();
  const watch = watchVersions(parts.host, (uri) => handler.notify.resourceUpdated(uri));
  const handler = createMcpHandler(
    ({ authInfo, era }) =>
      makeServer({
        ...parts,
        agent: authInfo === undefined ? parts.agent : `${authInfo.clientId}`,
        // A single request of the older era has no stream for subscriptions, and no session keeps its log level.
        ...(era === "modern" ? { watch, logsRequests: true } : {}),
      }),
    { onerror, maxRequestBodySize: HTTP_LIMITS.bodyBytes, maxSubscriptions: MAX_SUBSCRIPTIONS },
  );
  return {
    async fetch(request, facts) {
      const authInfo =
        facts === undefined
          ? undefined
          : {
              token: facts.token,
              clientId: facts.clientId,
              scopes: [...facts.scopes],
              expiresAt: facts.expiresAt,
            };
      const options = authInfo === undefined ? {} : { authInfo };
      const listened = listenedUris(await asksToListen(request));
      if (listened === undefined) return handler.fetch(request, options);
      if (draining.signal.aborted) return refused(503, "the server is shutting down", { "retry-after": "1" });
      const signal = AbortSignal.any([request.signal, draining.signal]);
      const watched = watch.add(listened.uris);
      await watched.ready;
      const response = await handler.fetch(new Request(request, { signal }), options);
      if (response.ok && !signal.aborted)
        signal.addEventListener("abort", () => watched.stop(), { once: true });
      else watched.stop();
      return response;
    },
    drain: () => draining.abort(),
    async close() {
      watch.close();
      await handler.close();
    },
  };
}
