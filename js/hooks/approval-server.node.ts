/** Serves an approval queue over HTTP from Node. By default only this machine can connect. */
import { HTTP_LIMIT_OPTIONS, type HttpLimits } from "../http/limits.ts";
import { startHttpServer } from "../http/server.node.ts";
import { optionChecker, integer, list, type Options, options, text } from "../schema/option.ts";
import type { ApprovalQueue } from "./approval-queue.ts";

/** The address of a served approval queue, and its allowed origins. */
export interface ApprovalServerOptions {
  /** The port. Default 0: any free one. */
  readonly port?: number | undefined;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /**
   * Further names under which the server is reached, without ports, in addition to `host` and the names
   * of loopback.
   */
  readonly hosts?: readonly string[] | undefined;
  /** Origins of pages that may answer, such as `https://app.example`. Default: none but the server's own. */
  readonly origins?: readonly string[] | undefined;
  /** Limits of times, sizes, requests and connections. Default: those of the MCP server. */
  readonly limits?: Partial<HttpLimits> | undefined;
}

/** The options of {@link serveApprovals}. */
export const APPROVAL_SERVER_OPTIONS: Options<ApprovalServerOptions> = options("ApprovalServerOptions", {
  port: integer(0, 65_535),
  host: text(),
  hosts: list(text()),
  origins: list(text()),
  limits: HTTP_LIMIT_OPTIONS,
});

const checkOptions = optionChecker("serveApprovals", APPROVAL_SERVER_OPTIONS);

/** An HTTP server of an approval queue. */
export interface ApprovalServer {
  /** An address such as `http://127.0.0.1:34567/approvals`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves an approval queue over HTTP. Each request must carry the token of the queue. Rejects when the port is not
 * available.
 */
export async function serveApprovals(
  queue: ApprovalQueue,
  given: ApprovalServerOptions = {},
): Promise<ApprovalServer> {
  const { port = 0, host = "127.0.0.1", hosts = [], origins = [], limits } = checkOptions(given);
  const server = await startHttpServer(queue.handle, {
    host,
    port,
    hosts: [host, ...hosts],
    origins,
    limits,
  });
  return { url: `${server.url}/approvals`, close: server.close };
}
