/** The requests about the policy: what it allows, why a call was refused, and what people granted and can revoke. */
import { TOOL_NAMES } from "../../schema/tool-names.ts";
import { choice, integer, type Options, optionReader, options, required, text } from "../../schema/option.ts";
import { describeCovered } from "../../hooks/scope/scope.ts";
import type { Workspace } from "../../workspace/types.ts";
import type { NewGrant, ShownPolicy } from "../policy-data.ts";
import type { ReviewCall } from "../protocol.ts";
import { explainCall } from "../why.ts";
import { bodyOf, json, refusal, type ReviewRoute, type RouteRequest, workspaceOf } from "./route.ts";
import { hasTrait, TOOL_FOR_ACCESS } from "../../schema/tool-facts.ts";

/** The longest time for which the page grants a directory, in minutes: a year. */
const MAX_GRANT_MINUTES = 366 * 24 * 60;

const readNewGrant = optionReader(
  options<NewGrant>("NewGrant", {
    dir: required(text()),
    access: required(choice("read", "write")),
    minutes: integer(1, MAX_GRANT_MINUTES),
  }),
);

const REVOKED_GRANT: Options<{ readonly dir: string }> = options("RevokedGrant", { dir: required(text()) });
const readRevokedGrant = optionReader(REVOKED_GRANT);

const NAMED_APPROVAL: Options<{ readonly id: string }> = options("NamedApproval", {
  id: required(text()),
});
const readNamedApproval = optionReader(NAMED_APPROVAL);

/** The requests about the policy. */
export const POLICY_ROUTES: readonly ReviewRoute[] = [
  { method: "GET", path: /^policy$/u, role: "watch", run: withWorkspace(shownPolicy) },
  { method: "GET", path: /^why$/u, role: "watch", run: withWorkspace(explained) },
  { method: "POST", path: /^grants$/u, role: "manage", run: withWorkspace(grantDirectory) },
  { method: "POST", path: /^grants\/revoke$/u, role: "manage", run: withWorkspace(revokeGrant) },
  {
    method: "POST",
    path: /^policy\/approvals\/revoke$/u,
    role: "manage",
    run: withWorkspace(revokeApproval),
  },
  {
    method: "POST",
    path: /^policy\/approvals\/restore$/u,
    role: "manage",
    run: withWorkspace(restoreApproval),
  },
];

/** Answers a request about an attached workspace. */
function withWorkspace(run: (ws: Workspace, request: RouteRequest) => Promise<Response>): ReviewRoute["run"] {
  return async (request) => {
    const ws = workspaceOf(request);
    return ws === undefined ? refusal(404, "no such workspace is attached to this page") : run(ws, request);
  };
}

async function shownPolicy(ws: Workspace): Promise<Response> {
  const [grants, approvals] = await Promise.all([ws.grants.list(), ws.approvals.list()]);
  const shown: ShownPolicy = {
    policy: ws.policy(),
    tools: [...TOOL_NAMES].filter((name) => !hasTrait(name, "namesNoPath")),
    grants: grants.map(({ dir, access, granted_at, expires, by }) => ({
      dir,
      access,
      granted_at,
      ...(expires === undefined ? {} : { expires }),
      ...(by === undefined ? {} : { by }),
    })),
    approvals: approvals.map(({ id, scope, granted_at, expires, by }) => ({
      id,
      covers: describeCovered(scope),
      scope,
      granted_at,
      ...(expires === undefined ? {} : { expires }),
      ...(by === undefined ? {} : { by }),
    })),
  };
  return json(200, shown);
}

/** Explains a call of the feed, which `call` names, or the one that `tool`, `path` and `agent` describe. */
async function explained(ws: Workspace, { hub, login, url }: RouteRequest): Promise<Response> {
  const of = (name: string): string | undefined => url.searchParams.get(name) ?? undefined;
  const id = of("call");
  if (id === undefined) {
    const agent = of("agent");
    const question = { tool: of("tool") ?? "", path: of("path") ?? "" };
    return json(200, await explainCall(ws, { ...question, ...(agent === undefined ? {} : { agent }) }));
  }
  const call = hub.snapshot(login).state.calls.find((one) => one.id === id);
  if (call === undefined) return refusal(404, "this call is not among the last ones any more");
  const path = pathOfCall(call);
  if (path === undefined) return refusal(409, "this call named no path");
  const { tool, agent } = call;
  return json(200, await explainCall(ws, { tool, path, ...(agent === undefined ? {} : { agent }) }));
}

function pathOfCall({ errorPath, paths: [first] }: ReviewCall): string | undefined {
  return errorPath ?? first;
}

/**
 * Grants a directory, or a secret. The page can allow what would have been asked, and nothing that the host has denied:
 * every path check of the policy must let the directory pass, and the workspace must ask for grants at all.
 */
async function grantDirectory(ws: Workspace, { request, login }: RouteRequest): Promise<Response> {
  const body = await bodyOf(request);
  const grant = body === undefined ? undefined : readNewGrant(body);
  if (grant === undefined) return refusal(400, "a grant has a directory, an access, and minutes or none");
  const { dir, access, minutes } = grant;
  if (ws.policy().permissions === "off")
    return refusal(409, "this workspace does not ask for directories, so a grant has no effect");
  const gates = await ws.why({
    tool: access === "write" ? TOOL_FOR_ACCESS.write : TOOL_FOR_ACCESS.look,
    path: dir,
  });
  const stop = gates.find(({ gate, verdict }) => PATH_GATES.has(gate) && verdict === "stops");
  if (stop !== undefined)
    return refusal(409, `the host denies this path (${stop.configured}), and a grant cannot allow it`);
  const expires = minutes === undefined ? undefined : new Date(Date.now() + minutes * 60_000).toISOString();
  await ws.grants.add({ dir, access, by: login.by, ...(expires === undefined ? {} : { expires }) });
  return json(200, { granted: true });
}

/** The gates by which the host denies a path. */
const PATH_GATES: ReadonlySet<string> = new Set(["read-only", "root", "deny", "protected", "temporary"]);

async function revokeGrant(ws: Workspace, { request }: RouteRequest): Promise<Response> {
  const body = await bodyOf(request);
  const grant = body === undefined ? undefined : readRevokedGrant(body);
  if (grant === undefined) return refusal(400, "name the directory of the grant");
  return (await ws.grants.revoke(grant.dir))
    ? json(200, { revoked: true })
    : refusal(404, "there is no such grant any more");
}

async function revokeApproval(ws: Workspace, { request }: RouteRequest): Promise<Response> {
  const body = await bodyOf(request);
  const approval = body === undefined ? undefined : readNamedApproval(body);
  if (approval === undefined) return refusal(400, "name the id of the approval");
  return (await ws.approvals.revoke(approval.id))
    ? json(200, { revoked: true })
    : refusal(404, "there is no such approval any more");
}

/** Puts a revoked approval back, as a person has given it before. */
async function restoreApproval(ws: Workspace, { request }: RouteRequest): Promise<Response> {
  const body = await bodyOf(request);
  const approval = body === undefined ? undefined : readNamedApproval(body);
  if (approval === undefined) return refusal(400, "name the id of the approval");
  return (await ws.approvals.restore(approval.id))
    ? json(200, { restored: true })
    : refusal(404, "its time has passed, or it is not known any more");
}
