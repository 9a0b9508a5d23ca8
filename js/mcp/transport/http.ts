/** Serves MCP over HTTP: the paths of the server, and the check of tokens before each request. */
import { HTTP_LIMITS, type HttpLimits } from "../../http/limits.ts";
import { type HttpServer, startHttpServer } from "../../http/server.node.ts";
import { type TokenCheckOptions, makeTokenCheck, refusalResponse } from "../auth/gate.ts";
import { SANDBOX_PATH } from "../../backends/sandbox/remote/address.ts";
import { type AnswerProbe, PROBE_PATHS } from "../monitoring/health.ts";
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
  /** Answers requests for the review page and below it. It checks its own logins. */
  readonly review?: ((request: Request) => Promise<Response>) | undefined;
  /** Answers probes, which send no token; undefined for another path. */
  readonly probes?: AnswerProbe | undefined;
  /** A path with its answer, for clients with the fixed token alone; undefined for none. */
  readonly metrics?: { readonly path: string; answer(): Promise<Response> } | undefined;
  /** Answers a request in a context of its own, such as that of a trace. Default: in the present one. */
  readonly within?: (<T>(request: Request, run: () => T) => T) | undefined;
  readonly limits?: Partial<HttpLimits> | undefined;
  readonly onerror?: ((error: unknown) => void) | undefined;
}

/** The path of the MCP server. */
export const MCP_PATH = "/mcp";
const APPROVALS_PATH = "/approvals";
const REVIEW_PATH = "/review";
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
    const probed = options.probes?.(request);
    if (probed !== undefined) return probed;
    const { approvals, review, metrics } = options;
    if (review !== undefined && (pathname === REVIEW_PATH || pathname.startsWith(`${REVIEW_PATH}/`)))
      return review(request);
    if (approvals !== undefined && (pathname === APPROVALS_PATH || pathname.startsWith(`${APPROVALS_PATH}/`)))
      return approvals(request);
    const admission = await admit(request);
    if ("refusal" in admission) return admission.refusal;
    if (metrics !== undefined && pathname === metrics.path && request.method === "GET")
      return metrics.answer();
    if (pathname !== MCP_PATH && pathname !== SANDBOX_PATH)
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
    const { facts } = admission;
    return options.within === undefined
      ? handler.fetch(request, facts)
      : options.within(request, () => handler.fetch(request, facts));
  };
  const { host, port, hosts, origins, limits, onerror } = options;
  return startHttpServer(answer, {
    ...{ host, port, hosts, origins, limits, onerror },
    refuse: refusalResponse,
    unguarded: options.probes === undefined ? [] : PROBE_PATHS,
  });
}
