/** A request that the review page answers, and the forms of its answers. */
import { parseJsonObject } from "../../hooks/approval-queue-http.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Workspace } from "../../workspace/types.ts";
import type { ReviewHub } from "../hub.ts";
import type { ReviewedWorkspace, ReviewedWorkspaces } from "../past/reviewed.ts";
import { REVIEW_ROLES, type ReviewLogin } from "../login.ts";
import type { ReviewRole } from "../protocol.ts";

/** A request of a login that may make it. Its origin, its form and its login are checked. */
export interface RouteRequest {
  readonly hub: ReviewHub;
  readonly workspaces: ReviewedWorkspaces;
  readonly login: ReviewLogin;
  readonly request: Request;
  readonly url: URL;
  /** The parts of the path that the pattern of the route captures, decoded. */
  readonly captures: readonly string[];
}

/** One kind of request. */
export interface ReviewRoute {
  readonly method: "GET" | "POST";
  /** The path without `/review/`. */
  readonly path: RegExp;
  /** The least role that may send it. */
  readonly role: ReviewRole;
  /** Answers a request. An error of the package that it throws becomes an answer with its message. */
  run(request: RouteRequest): Response | Promise<Response>;
}

/** The maximum length of the body of a request, in UTF-16 units. */
const MAX_BODY_LENGTH = 1024 * 1024;

/** Returns true when a role includes what another one may do. */
export function roleIncludes(role: ReviewRole, needed: ReviewRole): boolean {
  return REVIEW_ROLES.indexOf(role) >= REVIEW_ROLES.indexOf(needed);
}

/** Returns the answer of the first route that fits a request; undefined when none does. */
export async function runRoute(
  routes: readonly ReviewRoute[],
  path: string,
  given: Omit<RouteRequest, "captures">,
): Promise<Response | undefined> {
  const method = given.request.method === "HEAD" ? "GET" : given.request.method;
  for (const route of routes) {
    const found = route.method === method ? route.path.exec(path) : null;
    if (found === null) continue;
    if (!roleIncludes(given.login.role, route.role))
      return refusal(403, `this login may only ${given.login.role}`);
    try {
      return await route.run({ ...given, captures: found.slice(1).map(decoded) });
    } catch (error) {
      return failure(error);
    }
  }
  return undefined;
}

/** Returns the answer for an error of the package. @throws any other error */
function failure(error: unknown): Response {
  if (!(error instanceof FilewrightError)) throw error;
  const { code, message, hint } = error;
  return json(STATUS_BY_CODE[code] ?? 422, { error: message, code, ...withoutUndefined({ hint }) });
}

const STATUS_BY_CODE: Readonly<Record<string, number>> = {
  INVALID_ARGUMENT: 400,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  CONFLICT: 409,
};

function decoded(capture: string | undefined): string {
  try {
    return decodeURIComponent(capture ?? "");
  } catch {
    return "";
  }
}

/**
 * Returns the workspace that a request is about, which `workspace` names in its address, with what the page has read of
 * it; undefined when it is unknown.
 */
export function reviewedOf({ workspaces, url }: RouteRequest): ReviewedWorkspace | undefined {
  return workspaces.of(url.searchParams.get("workspace") ?? undefined);
}

/** Returns the workspace that a request is about; undefined when it is unknown. */
export function workspaceOf(request: RouteRequest): Workspace | undefined {
  return reviewedOf(request)?.workspace;
}

/** Reads the body of a request; undefined when it is no JSON object, or too long. */
export async function bodyOf(request: Request): Promise<Readonly<Record<string, unknown>> | undefined> {
  const text = await request.text();
  return text.length > MAX_BODY_LENGTH ? undefined : parseJsonObject(text);
}

/** Returns an answer that refuses a request. */
export function refusal(status: number, error: string): Response {
  return json(status, { error });
}

/** Returns an answer with data. */
export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  });
}
