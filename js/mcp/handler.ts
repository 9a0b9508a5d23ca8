/**
 * A server as a function from `Request` to `Response`: Streamable HTTP in both
 * eras, without sessions. Any replica can answer any request.
 *
 * Nothing here opens a port or looks at a token; see `http.ts` and `gate.ts`.
 */
import { HTTP_LIMITS } from "../http/limits.ts";
import { refused } from "./gate.ts";
import type { TokenFacts } from "./oauth.ts";
import { createMcpHandler } from "./sdk.ts";
import { makeServer, type ServerParts } from "./server.ts";
import { listenedUris, watchVersions } from "./watch.ts";

/** The message, where it is a small one that subscribes; anything else is not looked at. */
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
  /** Ends the streams of those who listen for changes, and begins none. Calls go on. */
  drain(): void;
  /** Ends what is still under way. */
  close(): Promise<void>;
}

/** A message that subscribes is smaller. */
const MAX_LISTEN_BYTES = 1024 * 1024;
/** Streams of those who listen for changes, of all clients. */
const MAX_SUBSCRIPTIONS = 128;

/** Makes the handler. `onerror` is told what went wrong outside any answer. */
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
        // Single requests of the older era cannot be subscribed to anything.
        ...(era === "modern" ? { watch } : {}),
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
