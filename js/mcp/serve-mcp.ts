/**
 * Serves workspaces of a program's own over HTTP: those that the tokens of requests name, each opened by the program
 * and shared by all requests that name it.
 */
import type { MaybePromise } from "../backends/backend.ts";
import { messageOf } from "../engine/thrown.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";
import { VERSION } from "../engine/generated/version.ts";
import { MIN_TOKEN_CHARS, originFault } from "../http/access.ts";
import { HTTP_LIMIT_OPTIONS, type HttpLimits } from "../http/limits.ts";
import {
  callback,
  choice,
  choiceOf,
  integer,
  list,
  mapOf,
  type Options,
  optionChecker,
  options,
  required,
  text,
} from "../schema/option.ts";
import { PRESET_NAMES } from "../presets/index.ts";
import type { Workspace } from "../workspace/index.ts";
import { OAUTH_OPTIONS, type OauthOptions, checkedVerifier } from "./auth/oauth.ts";
import { hostOfOpenWorkspace } from "./host.ts";
import { makeProbeAnswers } from "./monitoring/health.ts";
import { makeEnding } from "./protocol/call.ts";
import type { StructuredLevel } from "./protocol/content.ts";
import type { ServedPreset } from "./offered.ts";
import { drainInOrder, type RunningHttpServer } from "./shutdown.ts";
import { factsOfToken } from "./tenants/claims.ts";
import {
  MAX_IDLE_MS,
  MAX_OPEN_MS,
  MAX_OPEN_WORKSPACES,
  MAX_REQUESTS_OF_WORKSPACE,
  routeToWorkspaces,
  type ServedTenant,
} from "./tenants/router.ts";
import { makeMcpHandler } from "./transport/handler.ts";
import { MCP_PATH, serveMcpOverHttp } from "./transport/http.ts";

/** The claims of a token that name a workspace, by the names that they have in the facts. */
export type WorkspaceClaims = Readonly<Record<string, string>>;

/**
 * The facts that name a workspace: the values of the claims, from a token that was verified. Requests with the same
 * facts share a workspace, so nothing else of a token is among them.
 */
export type WorkspaceFacts<C extends WorkspaceClaims = WorkspaceClaims> = {
  readonly [K in keyof C]: string;
};

/** The options of {@link serveMcp}. */
export interface ServeMcpOptions<C extends WorkspaceClaims = WorkspaceClaims> {
  /**
   * Opens the workspace that these facts name, at its first request and again after it was closed. With PERMISSION_DENIED
   * or NOT_FOUND the request is refused with 403, with any other error with 503. The signal is aborted when it takes
   * longer than `openMs`. The server closes the workspace, and what a storage needs besides is closed by the program.
   */
  readonly open: (
    facts: WorkspaceFacts<C>,
    context: { readonly signal: AbortSignal },
  ) => MaybePromise<Workspace>;
  /**
   * The claims of a token that are the facts, such as `{ tenant: "org_id", workspace: "repo" }`. Each must be a text of 1
   * to 200 bytes without control characters; a token without one of them is refused with 403. Default: none, so all
   * requests share a workspace.
   */
  readonly claims?: C | undefined;
  /** The authorization server whose tokens are accepted. */
  readonly oauth?: OauthOptions | undefined;
  /** A token for all clients, of at least 16 characters, instead of an authorization server. It has no claims. */
  readonly token?: string | undefined;
  /** The preset whose tools are offered. Default `lean`. */
  readonly preset?: ServedPreset | undefined;
  /** How much of an answer is also sent as structured data. Default `none`. */
  readonly structured?: StructuredLevel | undefined;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly host?: string | undefined;
  /** The port. Default 0: any free one. */
  readonly port?: number | undefined;
  /** Further names under which the server is reached, without ports, in addition to `host` and those of loopback. */
  readonly hosts?: readonly string[] | undefined;
  /** Origins of pages that may use the server, such as `https://app.example`. Default: none. */
  readonly origins?: readonly string[] | undefined;
  /** The maximum number of open workspaces; the one that was idle for longest is closed for a new one. Default 256. */
  readonly maxWorkspaces?: number | undefined;
  /** The maximum number of requests at once in one workspace. Default 128. */
  readonly maxRequests?: number | undefined;
  /** The time in milliseconds after which a workspace without requests is closed. Default 600,000. */
  readonly idleMs?: number | undefined;
  /** The maximum time in milliseconds to wait until a workspace is open. Default 30,000. */
  readonly openMs?: number | undefined;
  /** The time in milliseconds for which running calls may continue after `drain`. Default 10,000. */
  readonly graceMs?: number | undefined;
  /** Makes a round trip to the engine, for `/ready`. Default: none, so `/ready` tells only whether the server ends. */
  readonly ping?: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Limits of times, sizes, requests and connections. Default: those of `filewright serve`. */
  readonly limits?: Partial<HttpLimits> | undefined;
  /** Called with the errors of `open`, and with those that no answer contains. Default: a line on standard error. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The options of {@link serveMcp}. @printed */
export const SERVE_MCP_OPTIONS: Options<ServeMcpOptions> = options(
  "ServeMcpOptions",
  {
    open: required(callback()),
    claims: mapOf(text()),
    oauth: OAUTH_OPTIONS,
    token: text({
      test: (token) =>
        token.length < MIN_TOKEN_CHARS ? `must have at least ${MIN_TOKEN_CHARS} characters` : undefined,
    }),
    preset: choiceOf<ServedPreset>(["lean", ...PRESET_NAMES]),
    structured: choice("none", "compact", "full"),
    host: text(),
    port: integer(0, 65_535),
    hosts: list(text()),
    origins: list(text({ test: originFault })),
    maxWorkspaces: integer(1),
    maxRequests: integer(1),
    idleMs: integer(1, 2 ** 31 - 1),
    openMs: integer(1, 2 ** 31 - 1),
    graceMs: integer(0, 2 ** 31 - 1),
    ping: callback(),
    limits: HTTP_LIMIT_OPTIONS,
    onError: callback(),
  },
  {
    test: ({ claims, oauth, token }) => {
      if (oauth === undefined && token === undefined)
        return "needs oauth or a token, so that not everybody is served";
      if (oauth !== undefined && token !== undefined) return "has oauth and a token; give one of them";
      return claims !== undefined && oauth === undefined ? "has claims, which need oauth" : undefined;
    },
  },
);

const checkOptions = optionChecker("serveMcp", SERVE_MCP_OPTIONS);

/** The default time for which running calls may continue. */
const DEFAULT_GRACE_MS = 10_000;

/** The codes with which `open` says that a workspace does not exist, or that it is not for this token. */
const REFUSALS = new Set<Code>(["PERMISSION_DENIED", "NOT_FOUND"]);

/**
 * Serves workspaces to MCP clients over HTTP, at `/mcp`. Each is named by the token of a request, opened by `open` and
 * closed after a while without requests. A request never names a workspace by an argument or a header.
 *
 * @example
 * const server = await serveMcp({
 *   oauth: { issuer: "https://login.example", resource: "https://files.example/mcp" },
 *   claims: { tenant: "org_id" },
 *   open: async ({ tenant }) =>
 *     openWorkspace({ storage: await postgresStorage({ client, tenant, workspace: "main" }), root: "/", tenant }),
 * });
 * process.once("SIGTERM", () => server.drain());
 *
 * @throws FilewrightError INVALID_ARGUMENT for invalid options; rejects when the port is not available
 */
export async function serveMcp<const C extends WorkspaceClaims = Readonly<Record<never, string>>>(
  options: ServeMcpOptions<C>,
): Promise<RunningHttpServer> {
  const given = checkOptions(options as unknown as ServeMcpOptions);
  const { claims = {}, oauth, token, host = "127.0.0.1", port = 0, hosts = [], origins = [] } = given;
  const onerror = given.onError ?? writeError;
  const ending = makeEnding();
  let isDraining = false;
  const parts = {
    preset: given.preset ?? "lean",
    structured: given.structured ?? "none",
    ending: ending.signal,
  };
  const router = routeToWorkspaces<WorkspaceFacts>({
    name: (facts) => factsOfToken<WorkspaceFacts>(claims, facts),
    key: (facts) => JSON.stringify(Object.values(facts)),
    open: async (facts, signal) => servedTenantOf(await given.open(facts, { signal }), parts, onerror),
    refusals: REFUSALS,
    limits: {
      workspaces: given.maxWorkspaces ?? MAX_OPEN_WORKSPACES,
      requests: given.maxRequests ?? MAX_REQUESTS_OF_WORKSPACE,
      openMs: given.openMs ?? MAX_OPEN_MS,
      idleMs: given.idleMs ?? MAX_IDLE_MS,
    },
    onerror,
  });
  const server = await serveMcpOverHttp(router, {
    ...{ host, port, hosts: [host, ...hosts], origins, token, onerror, limits: given.limits },
    verifier: oauth === undefined ? undefined : checkedVerifier(oauth),
    probes: makeProbeAnswers({ isDraining: () => isDraining, ping: given.ping }),
  });
  let drained: Promise<void> | undefined;
  const drain = (): Promise<void> => {
    isDraining = true;
    return drainInOrder({
      ...{ server, handler: router, ending, graceMs: given.graceMs ?? DEFAULT_GRACE_MS },
      drainCalls: () => router.drainCalls(),
      close: () => router.close(),
    });
  };
  return { url: `${server.url}${MCP_PATH}`, drain: () => (drained ??= drain()) };
}

/** Creates the handler that answers requests with a workspace of the program. */
async function servedTenantOf(
  ws: Workspace,
  parts: {
    readonly preset: ServedPreset;
    readonly structured: StructuredLevel;
    readonly ending: AbortSignal;
  },
  onerror: (error: unknown) => void,
): Promise<ServedTenant> {
  if (typeof ws?.drain !== "function")
    throw new FilewrightError("INVALID_ARGUMENT", "serveMcp: option 'open' must return a workspace");
  const { preset, structured, ending } = parts;
  const host = await hostOfOpenWorkspace(ws, preset).catch(async (error: unknown) => {
    await ws.close();
    throw error;
  });
  const handler = makeMcpHandler({ host, structured, version: VERSION, ending }, onerror);
  return {
    handler,
    drain: () => ws.drain(),
    async close() {
      await handler.close();
      await ws.close();
    },
  };
}

function writeError(error: unknown): void {
  process.stderr.write(`filewright: ${messageOf(error)}\n`);
}
