/**
 * Serves the review page and its data to browsers: a function from `Request` to `Response`.
 *
 * Every request is checked first by its Host and Origin headers, as those of the MCP server are. Requests that change
 * something need three more things that no form and no other page can send: a header of our own, JSON as their type,
 * and the origin of this page.
 */
import { bearerTokenOf, originGuard, tokensAreEqual } from "../http/access.ts";
import type { ReviewHub } from "./hub.ts";
import {
  LOGIN_MS,
  type Logins,
  makeLogins,
  nameFault,
  readLogin,
  readTicketRequest,
  type ReviewLogin,
} from "./login.ts";
import type { ReviewRole } from "./protocol.ts";
import { ACTIVITY_ROUTES } from "./routes/activity.ts";
import { AUDIT_ROUTES } from "./routes/audit.ts";
import { POLICY_ROUTES } from "./routes/policy.ts";
import { QUESTION_ROUTES } from "./routes/questions.ts";
import { SCOPE_ROUTES } from "./routes/scopes.ts";
import { SEARCH_ROUTES } from "./routes/search.ts";
import { REWIND_ROUTES } from "./routes/rewind.ts";
import { TIMELINE_ROUTES } from "./routes/timeline.ts";
import { UNDO_ROUTES } from "./routes/undo.ts";
import { bodyOf, json, refusal, type ReviewRoute, runRoute } from "./routes/route.ts";

/** All requests of a login. */
export const ROUTES: readonly ReviewRoute[] = [
  ...QUESTION_ROUTES,
  ...SEARCH_ROUTES,
  ...POLICY_ROUTES,
  ...ACTIVITY_ROUTES,
  ...AUDIT_ROUTES,
  ...TIMELINE_ROUTES,
  ...UNDO_ROUTES,
  ...REWIND_ROUTES,
  ...SCOPE_ROUTES,
];

/** A file of the page. */
export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** The dependencies of the handler besides the hub. */
export interface ReviewHandlerOptions {
  /** The names under which the server is reached, without ports, besides those of loopback. */
  readonly hosts?: readonly string[] | undefined;
  /** Returns a file of the page by its name, such as `review.js`; undefined for an unknown name. */
  file(name: string): PageFile | undefined;
}

/** Serves the page. */
export interface ReviewHandler {
  /** Answers a request for a path that begins with `/review`. */
  handle(request: Request): Promise<Response>;
  /** Returns the fragment of an address that opens the page once, within two minutes, such as `#t=…`. */
  ticket(role?: ReviewRole, by?: string): string;
}

/** Answers the requests that have passed the checks: from the hub of this process, or from those of several. */
export interface ReviewResponder {
  /** The token of programs. */
  readonly token: string;
  /** Answers a request that was checked. `path` is its path below `/review`. */
  answer(request: Request, path: string, login: ReviewLogin): Promise<Response>;
}

/** The path of the page, below which its data is served. */
export const REVIEW_PATH = "/review";
/** The header that every request that changes something must have. */
const REVIEW_HEADER = "x-filewright-review";
/** The header by which a program names the person for whom it answers, percent-encoded. */
const NAME_HEADER = "x-filewright-by";
/** The name under which a login without a name answers. */
const DEFAULT_NAME = "reviewer";
/** The name under which a program without the header answers. */
const PROGRAM_NAME = "program";

/** No inline script, no eval, nothing from elsewhere, and no other page may show this one in a frame. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cache-control": "no-store",
};

/** Creates the handler of the page of a hub. */
export function makeReviewHandler(hub: ReviewHub, settings: ReviewHandlerOptions): ReviewHandler {
  return makeResponderHandler(hubResponder(hub), settings);
}

/** Creates the responder of one hub. */
export function hubResponder(hub: ReviewHub): ReviewResponder {
  return {
    token: hub.queue.token,
    answer: async (request, path, login) =>
      (await runRoute(ROUTES, path, { hub, login, request, url: new URL(request.url) })) ??
      refusal(404, "there is nothing here"),
  };
}

/** Creates the handler of a page. `logins` may be shared with another page. */
export function makeResponderHandler(
  responder: ReviewResponder,
  { hosts = [], file }: ReviewHandlerOptions,
  logins: Logins = makeLogins(),
): ReviewHandler {
  const guard = originGuard({ hosts, origins: [] });

  const logIn = async (request: Request): Promise<Response> => {
    const body = readLogin(await bodyOf(request));
    if (body === undefined) return refusal(400, "the body has a ticket and nothing else");
    const cookie = logins.redeem(body.ticket);
    if (cookie === undefined) return refusal(401, "the link was used before, or is older than two minutes");
    const set = `${cookieName(request)}=${cookie}; HttpOnly; SameSite=Strict; Path=${REVIEW_PATH}; Max-Age=${LOGIN_MS / 1000}`;
    return json(200, { ...logins.of(cookie) }, { "set-cookie": set });
  };

  const ticket = (role: ReviewRole = "manage", by: string = DEFAULT_NAME): string =>
    `#t=${logins.ticket({ role, by })}`;

  const ticketResponse = async (request: Request): Promise<Response> => {
    const asked = readTicketRequest(await bodyOf(request));
    if (asked === undefined) return refusal(400, "a link takes a role (watch, answer or manage) and a name");
    return json(200, { fragment: ticket(asked.role, asked.by) });
  };

  const answer = async (request: Request): Promise<Response> => {
    const foreign = guard.refusal(request.headers);
    if (foreign !== undefined) return refusal(403, foreign);
    const url = new URL(request.url);
    const path = url.pathname.slice(REVIEW_PATH.length).replace(/^\//u, "");
    const isRead = request.method === "GET" || request.method === "HEAD";
    const page = isRead ? file(path === "" ? "index.html" : path) : undefined;
    if (page !== undefined) return pageResponse(request, page, path);
    if (!isRead && request.method !== "POST") return refusal(405, "this method is not served");
    const bearer = bearerTokenOf(request);
    const isProgram = tokensAreEqual(bearer ?? "", responder.token);
    if (bearer !== undefined && !isProgram) return refusal(401, "the token is wrong");
    const forged = isRead || isProgram ? undefined : forgeryOf(request);
    if (forged !== undefined) return refusal(403, forged);
    if (path === "login" && !isRead) return logIn(request);
    const by = isProgram ? programNameOf(request) : undefined;
    if (isProgram && by === undefined)
      return refusal(400, `the header ${NAME_HEADER} is no name of a person`);
    const login =
      by === undefined
        ? logins.of(cookieOf(request, cookieName(request)))
        : ({ role: "manage", by } as const);
    if (login === undefined) return refusal(401, "open the page by a link from filewright review");
    if (path === "tickets" && !isRead)
      return isProgram ? ticketResponse(request) : refusal(403, "a page cannot make links");
    return responder.answer(request, path, login);
  };

  return {
    ticket,
    async handle(request) {
      const response = await answer(request);
      for (const [name, value] of Object.entries(SECURITY_HEADERS))
        if (!response.headers.has(name)) response.headers.set(name, value);
      return response;
    },
  };
}

/** Returns the response with a file of the page. `localhost` is another origin than `127.0.0.1`, so it leads there. */
function pageResponse(request: Request, { type, body }: PageFile, path: string): Response {
  const host = request.headers.get("host") ?? "";
  if (path === "" && /^localhost(?::|$)/iu.test(host)) {
    const location = `http://${host.replace(/^localhost/iu, "127.0.0.1")}${REVIEW_PATH}`;
    return new Response(null, { status: 307, headers: { location } });
  }
  return new Response(request.method === "HEAD" ? null : body, { headers: { "content-type": type } });
}

/** Returns why a request that changes something cannot come from this page; undefined if it can. */
function forgeryOf({ headers }: Request): string | undefined {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  if (site === null ? origin !== `http://${headers.get("host")}` : site !== "same-origin")
    return "the request does not come from this page";
  if (!/^application\/json\s*(?:;|$)/iu.test(headers.get("content-type") ?? ""))
    return "the request is not JSON";
  return headers.get(REVIEW_HEADER) === "1" ? undefined : `the header ${REVIEW_HEADER} is missing`;
}

/** Returns the name for the answers of a program; undefined for a header that is no name of a person. */
function programNameOf({ headers }: Request): string | undefined {
  try {
    const name = decodeURIComponent(headers.get(NAME_HEADER) ?? PROGRAM_NAME);
    return nameFault(name) === undefined ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the name of the cookie. Browsers send cookies to every port of a host, so the name has the port. */
function cookieName(request: Request): string {
  const [, port = "80"] = /:(\d+)$/u.exec(request.headers.get("host") ?? "") ?? [];
  return `filewright-review-${port}`;
}

function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.get("cookie") ?? "").split(";")) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}
