/** Serves MCP over HTTP: the paths of the server, and the check of tokens before each request. */
import { HTTP_LIMITS, type HttpLimits } from "../../http/limits.ts";
import { type HttpServer, startHttpServer } from "../../http/server.node.ts";
import { type TokenCheckOptions, makeTokenCheck, refusalResponse } from "../auth/gate.ts";
import type { McpHandler } from "./handler.ts";

/** The address of a server, and which clients may reach it. */
export interface McpHttpOptions extends TokenCheckOptions {
  readonly host: string;
  /** The port; 0 means any free one. */
  readonly port: number;
  /** Host names under which clients reach the server, without ports. Loopback names are always allowed. */
  readonly hosts: readonly string[];
  /** Origins of web pages that may use the server, such as `https://app.example`. */
  readonly origins: readonly string[];
  /**
   * Answers requests below `/approvals`. It checks its own token; the token of MCP clients is not accepted
   * there.
   */
  readonly approvals?: ((request: Request) => Promise<Response>) | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly onerror?: ((error: unknown) => void) | undefined;
}

/** The path of the MCP server. */
export const MCP_PATH = "/mcp";
const APPROVALS_PATH = "/approvals";
const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Starts listening. Rejects when the port is not available. */
export function serveMcpOverHttp(handler: McpHandler, options: McpHttpOptions): Promise<HttpServer> {
  const admit = makeTokenCheck(options);
  const { metadata } = options.verifier ?? {};
  const mostCalls = options.limits?.calls ?? HTTP_LIMITS.calls;
  let calls = 0;

  const answer = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    // Browsers ask first whether a request is allowed (CORS preflight). That request carries no token.
    if (request.method === "OPTIONS") return new Response(null, { status: 204 });
    const isMetadata = metadata !== undefined && (pathname === metadata.path || pathname === METADATA_PATH);
    if (isMetadata) return Response.json(metadata.document, { headers: { "cache-control": "max-age=3600" } });
    const { approvals } = options;
    if (approvals !== undefined && (pathname === APPROVALS_PATH || pathname.startsWith(`${APPROVALS_PATH}/`)))
      return approvals(request);
    const admission = await admit(request);
    if ("refusal" in admission) return admission.refusal;
    if (pathname !== MCP_PATH)
      return refusalResponse(404, `there is nothing here; the server is at ${MCP_PATH}`);
    if (calls >= mostCalls)
      return refusalResponse(503, "too many calls are running; try again in a second", {
        "retry-after": "1",
      });
    calls += 1;
    let isAnswered = false;
    const end = (): void => {
      if (!isAnswered) calls -= 1;
      isAnswered = true;
    };
    // A call counts as running until its whole answer is sent, or the client disconnects.
    request.signal.addEventListener("abort", end, { once: true });
    if (request.signal.aborted) end();
    return handler.fetch(request, admission.facts);
  };
  const { host, port, hosts, origins, limits, onerror } = options;
  return startHttpServer(answer, { host, port, hosts, origins, limits, onerror, refuse: refusalResponse });
}
