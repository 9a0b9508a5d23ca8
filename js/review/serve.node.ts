/** Serves the review page from Node. By default only this machine can connect. */
import { HTTP_LIMIT_OPTIONS, type HttpLimits } from "../http/limits.ts";
import { type HttpServer, type HttpServerOptions, startHttpServer } from "../http/server.node.ts";
import { integer, list, optionChecker, type Options, options, text } from "../schema/option.ts";
import { makeReviewHandler, REVIEW_PATH } from "./http.ts";
import type { ReviewHub } from "./hub.ts";
import { pageFile } from "./page-files.node.ts";
import type { ReviewRole } from "./protocol.ts";

/** The address of a review page. */
export interface ReviewPageOptions {
  /** The port. Default 0: any free one. */
  readonly port?: number | undefined;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** Further names under which the server is reached, without ports. */
  readonly hosts?: readonly string[] | undefined;
  /** Limits of times, sizes, requests and connections. Default: those of the MCP server. */
  readonly limits?: Partial<HttpLimits> | undefined;
}

/** The options of {@link serveReviewPage}. @printed */
export const REVIEW_PAGE_OPTIONS: Options<ReviewPageOptions> = options("ReviewPageOptions", {
  port: integer(0, 65_535),
  host: text(),
  hosts: list(text()),
  limits: HTTP_LIMIT_OPTIONS,
});

const checkOptions = optionChecker("serveReviewPage", REVIEW_PAGE_OPTIONS);

/** A served review page. */
export interface ReviewPage {
  /** The address of the page, such as `http://127.0.0.1:4748/review`, which shows nothing without a login. */
  readonly url: string;
  /**
   * Returns an address that opens the page once, within two minutes. `role` is what the person may do, default
   * `manage`; `by` is the name under which that person answers, default `reviewer`.
   */
  link(role?: ReviewRole, by?: string): string;
  /** Ends the server. The questions of the hub keep waiting. */
  close(): Promise<void>;
}

/** Serves the page of a hub. Rejects when the port is not available. */
export async function serveReviewPage(hub: ReviewHub, given: ReviewPageOptions = {}): Promise<ReviewPage> {
  const { port = 0, host = "127.0.0.1", hosts = [], limits } = checkOptions(given);
  const names = [host, ...hosts];
  const { handle, ticket } = makeReviewHandler(hub, { hosts: names, file: pageFile });
  const server = await startPageServer(handle, { host, port, hosts: names, limits });
  const url = `${server.url}${REVIEW_PATH}`;
  return { url, link: (role, by) => `${url}${ticket(role, by)}`, close: server.close };
}

/** Serves a page and nothing else. Rejects when the port is not available. */
export function startPageServer(
  handle: (request: Request) => Promise<Response>,
  options: HttpServerOptions,
): Promise<HttpServer> {
  return startHttpServer((request) => {
    const { pathname } = new URL(request.url);
    return pathname === REVIEW_PATH || pathname.startsWith(`${REVIEW_PATH}/`)
      ? handle(request)
      : Promise.resolve(new Response("there is nothing here\n", { status: 404 }));
  }, options);
}
