/**
 * An MCP server as a function from `Request` to `Response`: Streamable HTTP without sessions, so that any of
 * several servers can answer any request.
 *
 * It opens no port and checks no token; see `http.ts` and `gate.ts`.
 */
import { HTTP_LIMITS } from "../../http/limits.ts";
import { refusalResponse } from "../auth/gate.ts";
import { makeMessageHandler, PROTOCOL_REVISIONS } from "../../rpc/handler.ts";
import { INVALID_REQUEST, notJsonReply } from "../../rpc/message.ts";
import { SANDBOX_PATH } from "../../sandbox/remote/address.ts";
import { isObjectWithKeys } from "../../schema/check.ts";
import type { TokenFacts } from "../auth/oauth.ts";
import { describeServer, directMethods } from "../protocol/direct.ts";
import { createMcpHandler } from "../protocol/sdk.ts";
import { makeMcpServer, type ServerParts } from "../protocol/server.ts";
import { subscribedUris, makeResourceWatch } from "../protocol/watch.ts";

/** Answers requests over HTTP. */
export interface McpHandler {
  fetch(request: Request, facts?: TokenFacts): Promise<Response>;
  /** Ends the streams of clients that are subscribed, and refuses new ones. Running calls continue. */
  drain(): void;
  /** Ends all running requests. */
  close(): Promise<void>;
}

/** The size in bytes from which a message is passed to the SDK without being parsed here. */
const MAX_DIRECT_BYTES = 1024 * 1024;
/** The maximum number of subscription streams of all clients together. Further ones are refused. */
const MAX_SUBSCRIPTIONS = 128;

/**
 * Creates the function that answers requests.
 * @param onerror called with errors that no answer contains
 */
export function makeMcpHandler(
  parts: Omit<ServerParts, "watch" | "before">,
  onerror: (error: Error) => void = () => {},
): McpHandler {
  const draining = new AbortController();
  const watch = makeResourceWatch(parts.host, (uri) => handler.notify.resourceUpdated(uri));
  const handler = createMcpHandler(
    ({ authInfo, era }) =>
      makeMcpServer({
        ...parts,
        agent: authInfo === undefined ? parts.agent : `${authInfo.clientId}`,
        // A request of the older revisions has no stream for subscriptions, and without a session no log
        // level can be kept.
        ...(era === "modern" ? { watch, logsRequests: true } : {}),
      }),
    { onerror, maxRequestBodySize: HTTP_LIMITS.bodyBytes, maxSubscriptions: MAX_SUBSCRIPTIONS },
  );
  const offers = { subscribe: false, logging: false };
  /** Answers a message of the older revisions, if the SDK is not needed for it. */
  const answerDirectly = async (
    message: unknown,
    request: Request,
    agent: string | undefined,
  ): Promise<Response | undefined> => {
    const serving = { ...parts, agent, notify: async () => {}, settled: () => undefined };
    const methods = {
      ...directMethods(serving),
      initialize: () => describeServer(parts, parts.version, offers),
    };
    // Progress notifications need a stream, which only the SDK provides.
    const hasMeta =
      isObjectWithKeys(message) && isObjectWithKeys(message["params"]) && "_meta" in message["params"];
    const direct = makeMessageHandler(hasMeta ? { ...methods, "tools/call": undefined } : methods, "leave");
    const handled = direct.handle(message);
    if (handled === undefined) return undefined;
    request.signal.addEventListener("abort", direct.close, { once: true });
    const reply = await handled;
    // The client has disconnected, so nobody reads this answer.
    if (reply === undefined) return new Response(null, { status: 499 });
    return Response.json(reply, { status: reply.error?.code === INVALID_REQUEST ? 400 : 200 });
  };
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
      if (new URL(request.url).pathname === SANDBOX_PATH) {
        // Most servers run no commands for other machines, so the module is loaded only on demand.
        const { answerSandboxRequest } = await import("../protocol/sandbox.ts");
        return answerSandboxRequest(parts, request, authInfo?.clientId);
      }
      const options = authInfo === undefined ? {} : { authInfo };
      if (!isSmallPostedMessage(request)) return handler.fetch(request, options);
      const body = await request.text();
      let message: unknown;
      try {
        message = JSON.parse(body);
      } catch {
        return Response.json(notJsonReply(), { status: 400 });
      }
      // A batch is passed to the SDK; the revision 2025-03-26 allows batches over HTTP.
      if (isOlderRevision(request) && !Array.isArray(message)) {
        const agent = facts === undefined ? parts.agent : `${facts.clientId}`;
        const response = await answerDirectly(message, request, agent);
        if (response !== undefined) return response;
      }
      const parsed = { ...options, parsedBody: message };
      const listened =
        request.headers.get("mcp-method") === LISTEN_METHOD ? subscribedUris(message) : undefined;
      if (listened === undefined) return handler.fetch(request, parsed);
      if (draining.signal.aborted)
        return refusalResponse(503, "the server is shutting down", { "retry-after": "1" });
      const signal = AbortSignal.any([request.signal, draining.signal]);
      const watched = watch.add(listened.uris);
      await watched.ready;
      const { url, method, headers } = request;
      const response = await handler.fetch(new Request(url, { method, headers, body, signal }), parsed);
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

const LISTEN_METHOD = "subscriptions/listen";

/**
 * Returns true for a POST request whose message is smaller than `MAX_DIRECT_BYTES` and has the headers
 * that the protocol requires.
 */
function isSmallPostedMessage({ method, headers }: Request): boolean {
  if (method !== "POST" || !(Number(headers.get("content-length") ?? MAX_DIRECT_BYTES) < MAX_DIRECT_BYTES))
    return false;
  const accept = headers.get("accept") ?? "";
  return (
    /^application\/json\s*(;|$)/iu.test(headers.get("content-type") ?? "") &&
    accept.includes("application/json") &&
    accept.includes("text/event-stream")
  );
}

/** Returns true for a request that states no protocol revision, or one that has a handshake. */
function isOlderRevision({ headers }: Request): boolean {
  const revision = headers.get("mcp-protocol-version");
  return !headers.has("mcp-method") && (revision === null || PROTOCOL_REVISIONS.includes(revision));
}
