/**
 * Serves the review page and its data to browsers: a function from `Request` to `Response`.
 *
 * Every request is checked first by its Host and Origin headers, as those of the MCP server are. The files of the page
 * are for everybody. Every other request needs a code by the key of a login or of a program (`proof/gate.ts`). Those of
 * a page that change something need three more things that no form and no other page can send: a header of our own, JSON
 * as their type, and the origin of this page.
 */
import { bearerTokenOf, originGuard, tokensAreEqual } from "../http/access.ts";
import type { ReviewHub } from "./hub.ts";
import {
  type Logins,
  makeLogins,
  nameFault,
  readTicketRequest,
  REVIEW_ROLES,
  type ReviewLogin,
} from "./login.ts";
import { makeProofGate, type PassedRequest } from "./proof/gate.ts";
import { findProgramKey, type ServerKeys } from "./proof/keys.ts";
import { NAME_HEADER, REVIEW_HEADER, ROLE_HEADER } from "./proof/mac.ts";
import { ReviewedWorkspaces } from "./past/reviewed.ts";
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
  "img-src 'self' blob:",
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
  const workspaces = new ReviewedWorkspaces(hub);
  return {
    token: hub.queue.token,
    answer: async (request, path, login) =>
      (await runRoute(ROUTES, path, { hub, workspaces, login, request, url: new URL(request.url) })) ??
      refusal(404, "there is nothing here"),
  };
}

/** The keys of a page besides the token of programs, and what else it answers to programs. */
export interface PageIdentity {
  readonly logins?: Logins | undefined;
  readonly owner?: ServerKeys["owner"];
  readonly authority?: ServerKeys["authority"];
  /** By the path of a POST. */
  readonly programRoutes?: Readonly<Record<string, ProgramRoute>>;
}

/** Answers a request of a program. */
type ProgramRoute = (request: Request) => Promise<Response>;

/** Creates the handler of a page. */
export function makeResponderHandler(
  responder: ReviewResponder,
  { hosts = [], file }: ReviewHandlerOptions,
  { logins = makeLogins(), owner, authority = () => undefined, programRoutes: more = {} }: PageIdentity = {},
): ReviewHandler {
  const guard = originGuard({ hosts, origins: [] });
  const programKey = findProgramKey({ token: responder.token, owner, authority });
  const gate = makeProofGate(async (hello, request) => {
    if (hello.kind === "ticket") return logins.redeem(hello.id);
    return hello.kind === "login" ? logins.of(hello.id) : programKey(hello, request);
  });

  const ticket = (role: ReviewRole = "manage", by: string = DEFAULT_NAME): string =>
    `#t=${logins.ticket({ role, by })}`;

  const ticketResponse = async (request: Request): Promise<Response> => {
    const asked = readTicketRequest(await bodyOf(request));
    if (asked === undefined) return refusal(400, "a link takes a role (watch, answer or manage) and a name");
    return json(200, { fragment: ticket(asked.role, asked.by) });
  };
  const programRoutes: Readonly<Record<string, ProgramRoute>> = { ...more, tickets: ticketResponse };

  /** Returns a request with a code, or with the token of programs; undefined for another one. */
  const pass = async (request: Request, target: string): Promise<PassedRequest | undefined> => {
    const bearer = bearerTokenOf(request);
    if (bearer === undefined) return gate.pass(request, target);
    const isRight = tokensAreEqual(bearer, responder.token);
    return isRight ? { request, login: undefined, seal: async (response) => response } : undefined;
  };

  const answer = async (request: Request): Promise<Response> => {
    const foreign = guard.refusal(request.headers);
    if (foreign !== undefined) return refusal(403, foreign);
    const { pathname, search } = new URL(request.url);
    const path = pathname.slice(REVIEW_PATH.length).replace(/^\//u, "");
    const page = isRead(request) ? file(path === "" ? "index.html" : path) : undefined;
    if (page !== undefined) return pageResponse(request, page, path);
    if (!isRead(request) && request.method !== "POST") return refusal(405, "this method is not served");
    if (path === "hello" && !isRead(request)) {
      const forged = forgeryOf(request, true);
      return forged === undefined ? gate.hello(request) : refusal(403, forged);
    }
    const passed = await pass(request, path + search);
    if (passed === undefined) return refusal(401, "open the page by a link from filewright review");
    return passed.seal(await respond(passed, path));
  };

  /** Answers a request whose sender is known: a page, or a program. */
  const respond = async ({ request, login }: PassedRequest, path: string): Promise<Response> => {
    const sender = login ?? programOf(request);
    if (sender === undefined)
      return refusal(400, `the headers ${NAME_HEADER} and ${ROLE_HEADER} are no name and role of a person`);
    if (isRead(request)) return responder.answer(request, path, sender);
    const forged = login === undefined ? undefined : forgeryOf(request, false);
    if (forged !== undefined) return refusal(403, forged);
    const route = Object.hasOwn(programRoutes, path) ? programRoutes[path] : undefined;
    if (route === undefined) return responder.answer(request, path, sender);
    return login === undefined ? route(request) : refusal(403, "this is for programs, and no page");
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

function isRead({ method }: Request): boolean {
  return method === "GET" || method === "HEAD";
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

/**
 * Returns why a request that changes something cannot come from this page; undefined if it can. A program sends no
 * origin, which only `orProgram` permits.
 */
function forgeryOf({ headers }: Request, orProgram: boolean): string | undefined {
  const site = headers.get("sec-fetch-site");
  const origin = headers.get("origin");
  const isOwn = site === null ? origin === `http://${headers.get("host")}` : site === "same-origin";
  if (!isOwn && !(orProgram && site === null && origin === null))
    return "the request does not come from this page";
  if (!/^application\/json\s*(?:;|$)/iu.test(headers.get("content-type") ?? ""))
    return "the request is not JSON";
  return headers.get(REVIEW_HEADER) === "1" ? undefined : `the header ${REVIEW_HEADER} is missing`;
}

/** Returns the name and the role of a program's request; undefined for headers that are none. */
function programOf({ headers }: Request): ReviewLogin | undefined {
  const role = REVIEW_ROLES.find((one) => one === (headers.get(ROLE_HEADER) ?? "manage"));
  try {
    const by = decodeURIComponent(headers.get(NAME_HEADER) ?? PROGRAM_NAME);
    return role === undefined || nameFault(by) !== undefined ? undefined : { role, by };
  } catch {
    return undefined;
  }
}
