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
import { SANDBOX_PATH } from "../../backends/sandbox/remote/address.ts";
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

/** The parts of a server that answers requests over HTTP. */
type HandlerParts = Omit<ServerParts, "watch" | "before">;

/**
 * Creates the function that answers requests.
 * @param onerror called with errors that no answer contains
 */
export function makeMcpHandler(parts: HandlerParts, onerror: (error: Error) => void = () => {}): McpHandler {
  const draining = new AbortController();
  const watch = makeResourceWatch(parts.host, (uri) => handler.notify.resourceUpdated(uri));
  const handler = createMcpHandler(
    ({ authInfo, era }) => {
      const agent = authInfo === undefined ? parts.agent : `${authInfo.clientId}`;
      // A request of the older revisions has no stream for subscriptions, and without a session no log level
      // can be kept.
      return makeMcpServer(
        era === "modern" ? { ...parts, agent, watch, logsRequests: true } : { ...parts, agent },
      );
    },
    { onerror, maxRequestBodySize: HTTP_LIMITS.bodyBytes, maxSubscriptions: MAX_SUBSCRIPTIONS },
  );
  /** Answers a request for a stream, which ends with the request or with the server. */
  const listen = async (
    { url, method, headers, signal: ended }: Request,
    body: string,
    uris: readonly string[],
    options: Parameters<typeof handler.fetch>[1],
  ): Promise<Response> => {
    if (draining.signal.aborted)
      return refusalResponse(503, "the server is shutting down", { "retry-after": "1" });
    const signal = AbortSignal.any([ended, draining.signal]);
    const watched = watch.add(uris);
    await watched.ready;
    const response = await handler.fetch(new Request(url, { method, headers, body, signal }), options);
    if (response.ok && !signal.aborted)
      signal.addEventListener("abort", () => watched.stop(), { once: true });
    else watched.stop();
    return response;
  };
  return {
    async fetch(request, facts) {
      if (new URL(request.url).pathname === SANDBOX_PATH) {
        // Most servers run no commands for other machines, so the module is loaded only on demand.
        const { answerSandboxRequest } = await import("../protocol/sandbox.ts");
        return answerSandboxRequest(parts, request, facts?.clientId);
      }
      const options = facts === undefined ? {} : { authInfo: authInfoOf(facts) };
      if (!isSmallPostedMessage(request)) return handler.fetch(request, options);
      const body = await request.text();
      const message = jsonOrUndefined(body);
      if (message === undefined) return Response.json(notJsonReply(), { status: 400 });
      // A batch is passed to the SDK; the revision 2025-03-26 allows batches over HTTP.
      const isDirect = isOlderRevision(request) && !Array.isArray(message);
      const agent = facts === undefined ? parts.agent : `${facts.clientId}`;
      const direct = isDirect ? await answerDirectly(parts, message, request, agent) : undefined;
      if (direct !== undefined) return direct;
      const parsed = { ...options, parsedBody: message };
      const isForStream = request.headers.get("mcp-method") === LISTEN_METHOD;
      const uris = isForStream ? subscribedUris(message)?.uris : undefined;
      return uris === undefined ? handler.fetch(request, parsed) : listen(request, body, uris, parsed);
    },
    drain: () => draining.abort(),
    async close() {
      watch.close();
      await handler.close();
    },
  };
}

/** Returns what a text in JSON stands for; undefined for a text that is none. */
function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns what the SDK learns about a client. */
function authInfoOf({ token, clientId, scopes, expiresAt }: TokenFacts) {
  return { token, clientId, scopes: [...scopes], expiresAt };
}

/** Answers a message of the older revisions; undefined if the SDK is needed for it. */
async function answerDirectly(
  parts: HandlerParts,
  message: unknown,
  request: Request,
  agent: string | undefined,
): Promise<Response | undefined> {
  const serving = { ...parts, agent, notify: async () => {}, settled: () => undefined };
  const methods = {
    ...directMethods(serving),
    initialize: () => describeServer(parts, parts.version, { subscribe: false, logging: false }),
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
