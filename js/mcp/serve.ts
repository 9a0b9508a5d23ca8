/** `filewright serve`: runs an MCP server over HTTP, from its options to its shutdown. */
import { messageOf } from "../engine/thrown.ts";
import { FilewrightError } from "../engine/errors.ts";
import { tokensAreEqual } from "../http/access.ts";
import { type ApprovalQueue, approvalQueue } from "../hooks/approval-queue.ts";
import { parking } from "../hooks/queue/parking.ts";
import type { ReviewHandler } from "../review/http.ts";
import type { ServerKeys } from "../review/proof/keys.ts";
import type { SharedPage } from "../review/shared/page.node.ts";
import type { HttpServer } from "../http/server.node.ts";
import { DEFAULT_PORT } from "./command.ts";
import { makeProbeAnswers } from "./monitoring/health.ts";
import type { MetricsPlace, ServerMetrics } from "./monitoring/metrics.ts";
import type { ServerTraces } from "./monitoring/tracing.ts";
import { directoryService, type ServiceParts } from "./service.ts";
import { drainInOrder, type RunningHttpServer } from "./shutdown.ts";
import { mirrorUse } from "../storage/mirror/use.node.ts";
import type { ServedStorage } from "./tenants/service.ts";
import { makeEnding } from "./protocol/call.ts";
import type { WriteLogLine } from "./protocol/log.ts";
import { assertStartable } from "./start.ts";
import { MCP_PATH, serveMcpOverHttp } from "./transport/http.ts";
import { checkedVerifier, isLoopback, type OauthOptions, type TokenVerifier } from "./auth/oauth.ts";
import { greetingLine, reviewAfterLine, type ServeOptions, waitingChanges } from "./transport/stdio.ts";
import { newToken, type TokenKind, tokenFilePath, tokenOfOperator, writeToken } from "./auth/token-file.ts";
import type { ServedReview } from "./review.ts";

/** The options of a server over HTTP. */
export interface HttpServeOptions extends ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
  /** The file that contains the token of clients. Default: the token in the environment, or else a new one. */
  readonly tokenFile?: string | undefined;
  /** True to accept requests without a token. */
  readonly open: boolean;
  readonly oauth?: OauthOptions | undefined;
  /** True when each change waits for an answer at `/approvals`. */
  readonly approve: boolean;
  /** The storage that is served instead of directories. */
  readonly storage?: ServedStorage | undefined;
  /** Where metrics are read; undefined for nowhere. */
  readonly metrics?: MetricsPlace | undefined;
  /** True to make spans through the tracer that the process has registered. */
  readonly traces?: boolean | undefined;
}

/** What clients, people and probes need to reach a server, before it listens. */
interface Access {
  /** The token that clients must show; undefined for none. */
  readonly client: string | undefined;
  readonly hosts: readonly string[];
  readonly approvals: ServedApprovals | undefined;
  readonly metrics: ServerMetrics | undefined;
  readonly traces: ServerTraces | undefined;
  readonly isDraining: () => boolean;
  readonly logError: (error: unknown) => void;
}

/** The parts of a server that listens. */
interface Listening {
  readonly server: HttpServer;
  readonly metricsServer: HttpServer | undefined;
  readonly service: ServedService;
}

type ServedService = Awaited<ReturnType<typeof directoryService>>;

/**
 * Starts a server, which runs until it is drained. Its workspace is open when it begins to listen.
 * @throws FilewrightError for whatever keeps it from serving
 */
export async function startMcpHttpServer(
  options: HttpServeOptions,
  log: WriteLogLine,
): Promise<RunningHttpServer> {
  checkOptionCombination(options);
  let isDraining = false;
  const access = await accessOf(options, log, () => isDraining);
  const { approvals } = access;
  await assertStartable(options);
  const ending = makeEnding();
  // The facts about the workspace are told once the server listens, so that a failure is told alone.
  const held = heldLines(log);
  const service = await openService(options, access, { tell: held.tell, ending: ending.signal });
  const listening = await listen(options, access, service, (server) => {
    approvals?.listensAt(server.url);
    held.release();
    writeTokens(options, access, { port: server.port, log });
  });
  const page = announce(options, access, listening, log);
  const { server, metricsServer } = listening;
  return {
    url: `${server.url}${MCP_PATH}`,
    async drain() {
      isDraining = true;
      // Open questions can no longer be answered, so the calls that wait for them are refused.
      if (approvals?.review === undefined) approvals?.queue.close();
      else approvals.review.hub.close();
      await drainInOrder({
        ...{ server, handler: service.handler, ending, graceMs: options.graceMs },
        drainCalls: () => service.drainCalls(),
        close: () => service.close(),
      });
      await page?.close();
      await metricsServer?.close();
    },
  };
}

/** Creates what a server needs to be reached. @throws FilewrightError INVALID_ARGUMENT for a token that is refused */
async function accessOf(
  options: HttpServeOptions,
  log: WriteLogLine,
  isDraining: () => boolean,
): Promise<Access & { readonly verifier: TokenVerifier | undefined }> {
  const verifier = options.oauth === undefined ? undefined : checkedVerifier(options.oauth);
  const needsToken = !options.open && options.oauth === undefined;
  const client = tokenOfOperator("client", options.tokenFile) ?? (needsToken ? newToken() : undefined);
  const hosts = isLoopback(options.host) ? options.allowHosts : [options.host, ...options.allowHosts];
  return {
    ...{ verifier, client, hosts, isDraining },
    approvals: await servedApprovals(options, client, hosts),
    metrics: options.metrics === undefined ? undefined : await loadMetrics(),
    traces: options.traces ? await loadTraces() : undefined,
    logError: (error) => log(`Error: ${messageOf(error)}`, "error"),
  };
}

/** Returns a log that keeps its lines until they are released. */
function heldLines(log: WriteLogLine): { readonly tell: WriteLogLine; release(): void } {
  let held: Parameters<WriteLogLine>[] | undefined = [];
  return {
    tell: (...line) => void (held === undefined ? log(...line) : held.push(line)),
    release() {
      const lines = held ?? [];
      held = undefined;
      for (const line of lines) log(...line);
    },
  };
}

async function openService(
  options: HttpServeOptions,
  { approvals, metrics, traces, isDraining, logError }: Access,
  given: Pick<ServiceParts, "tell" | "ending">,
): Promise<ServedService> {
  const { queue, review } = approvals ?? {};
  const parts: ServiceParts = {
    ...given,
    logError,
    confirm: review?.confirm ?? (queue && parking(queue.confirm)),
    observers: [metrics?.meters, traces?.spans].filter((one) => one !== undefined),
    callObserver: review?.hub.observer,
    onWorkspace: review?.attach,
  };
  const service = await (options.storage === undefined
    ? directoryService(options, parts)
    : (await import("./tenants/service.ts")).storageService(options.storage, options, parts));
  metrics?.meters.gauge("draining", () => (isDraining() ? 1 : 0));
  metrics?.meters.gauge("mirror_bytes", () => mirrorUse().bytes);
  metrics?.meters.gauge("mirror_lag_versions", () => mirrorUse().lagVersions);
  return service;
}

/**
 * Begins to listen, and calls `ready` with the server. If either fails, everything that was opened is closed,
 * the service too.
 */
async function listen(
  options: HttpServeOptions,
  access: Awaited<ReturnType<typeof accessOf>>,
  service: ServedService,
  ready: (server: HttpServer) => void,
): Promise<Listening> {
  const { metrics, isDraining } = access;
  const place = options.metrics;
  const opened: { close(): Promise<void> }[] = [service];
  const open = <T extends { close(): Promise<void> }>(one: T): T => {
    opened.unshift(one);
    return one;
  };
  try {
    const metricsServer =
      metrics !== undefined && place !== undefined && "host" in place
        ? open(await (await import("./monitoring/metrics.ts")).listenForMetrics(place, metrics))
        : undefined;
    const server = open(
      await serveMcpOverHttp(service.handler, {
        host: options.host,
        port: options.port,
        hosts: access.hosts,
        origins: options.allowOrigins,
        token: access.client,
        verifier: access.verifier,
        approvals: access.approvals?.answerQueue,
        review: access.approvals?.answerPage,
        probes: makeProbeAnswers({ isDraining, ping: service.ping?.bind(service) }),
        metrics:
          metrics !== undefined && place !== undefined && "path" in place
            ? { path: place.path, answer: metrics.answer }
            : undefined,
        within: access.traces?.within,
        onerror: access.logError,
      }),
    );
    ready(server);
    return { server, metricsServer, service };
  } catch (error) {
    for (const one of opened) await one.close();
    throw error;
  }
}

/** Writes the tokens that the operator has not given to files, and says where they are. */
function writeTokens(
  { tokenFile }: HttpServeOptions,
  { client, approvals }: Access,
  { port, log }: { readonly port: number; readonly log: WriteLogLine },
): void {
  if (client !== undefined && tokenOfOperator("client", tokenFile) === undefined)
    log(`The token that clients must show is in ${writeTokenFile(client, port, "client")}`, "notice");
  if (approvals !== undefined && tokenOfOperator("approver") === undefined)
    log(
      `The token for filewright approve is in ${writeTokenFile(approvals.queue.token, port, "approver")}`,
      "notice",
    );
}

/** Says how a server is reached. Returns the page that it shares with other servers; undefined for none. */
function announce(
  options: HttpServeOptions,
  { client, approvals }: Access,
  { server, metricsServer, service }: Listening,
  log: WriteLogLine,
): SharedPage | undefined {
  if (client === undefined && options.oauth === undefined) log("Warning: no token is asked for", "warning");
  if (metricsServer !== undefined) log(`Metrics are at ${metricsServer.url}/metrics`, "notice");
  log(`${greetingLine(options, service.served)} at ${server.url}${MCP_PATH}`, "notice");
  const after = reviewAfterLine(options, options.storage === undefined ? service.served[0] : undefined);
  if (after !== undefined) log(after, "notice");
  if (approvals === undefined) return undefined;
  const waiting = waitingChanges(options);
  if (approvals.review === undefined) {
    log(`${waiting} wait for: ${approveCommandLine(server.url)}`, "notice");
    return undefined;
  }
  const link = reviewCommandLine(options, server.url);
  log(`${waiting} wait at ${server.url}/review; its link: ${link}`, "notice");
  return options.review === server.port
    ? undefined
    : approvals.review.show(options.review ?? 0, waiting, log);
}

async function loadMetrics(): Promise<ServerMetrics> {
  return (await import("./monitoring/metrics.ts")).prometheusMetrics();
}

/** Answers the questions of a server to people. */
interface ServedApprovals {
  readonly queue: ApprovalQueue;
  readonly review: ServedReview | undefined;
  /** Answers requests below `/approvals`. */
  readonly answerQueue: (request: Request) => Promise<Response>;
  /** Answers requests for the review page and below it. */
  readonly answerPage: ((request: Request) => Promise<Response>) | undefined;
  /** Notes the address, by which the server proves itself. */
  listensAt(url: string): void;
}

/** Creates the queue of a server whose changes wait for people, and its page; undefined for another server. */
async function servedApprovals(
  options: HttpServeOptions,
  client: string | undefined,
  hosts: readonly string[],
): Promise<ServedApprovals | undefined> {
  if (!options.approve && options.review === undefined) return undefined;
  const token = tokenOfOperator("approver") ?? newToken();
  if (client !== undefined && tokensAreEqual(client, token))
    throw new FilewrightError("INVALID_ARGUMENT", "the token for approvals must not be that of the clients");
  const [{ withProofs }, { authorityOf }, { ownerKeyIfAny }] = await Promise.all([
    import("./auth/approvals-gate.ts"),
    import("../review/proof/keys.ts"),
    import("../review/shared/owner-key.node.ts"),
  ]);
  const queue = approvalQueue({ token });
  let authority: string | undefined;
  const keys = { token, owner: ownerKeyIfAny(), authority: () => authority };
  const page = options.review === undefined ? undefined : await loadReview(queue, options, hosts, keys);
  return {
    queue,
    review: page?.review,
    answerQueue: withProofs(queue.handle, keys),
    answerPage: page?.answer,
    listensAt(url) {
      authority = authorityOf(new URL(url));
    },
  };
}

/** Creates the review of a queue, and its page on the server's own port. */
async function loadReview(
  queue: ApprovalQueue,
  { roots, reviewWaitMs }: HttpServeOptions,
  hosts: readonly string[],
  keys: ServerKeys,
): Promise<{ readonly review: ServedReview; readonly answer: ReviewHandler["handle"] }> {
  const [{ serverReview }, { hubResponder, makeResponderHandler }, { pageFile }] = await Promise.all([
    import("./review.ts"),
    import("../review/http.ts"),
    import("../review/page-files.node.ts"),
  ]);
  const review = serverReview(roots.map(({ path }) => path).join(", "), { queue, reviewWait: reviewWaitMs });
  const responder = hubResponder(review.hub);
  return { review, answer: makeResponderHandler(responder, { hosts, file: pageFile }, keys).handle };
}

async function loadTraces(): Promise<ServerTraces> {
  return (await import("./monitoring/tracing.ts")).serverTraces();
}

/** Returns the command line with which a person answers the questions of this server. */
function approveCommandLine(url: string): string {
  // Without an address the review page is watched, which may be that of other servers.
  return `filewright approve --watch --url ${url}`;
}

/** Returns the command line that prints a link to the review page of this server. */
function reviewCommandLine({ port }: HttpServeOptions, url: string): string {
  return `filewright review${port === DEFAULT_PORT ? "" : ` --url ${url}`}`;
}

/** Options that contradict each other, in the order in which they are told. */
const CONTRADICTIONS: readonly (readonly [
  when: (options: HttpServeOptions) => boolean,
  message: string | ((options: HttpServeOptions) => string),
])[] = [
  [
    ({ storage, roots }) => storage !== undefined && roots.length > 0,
    "name directories or --storage, not both",
  ],
  [
    ({ storage, roots }) => storage === undefined && roots.length === 0,
    "name the directories to serve, or --storage",
  ],
  [
    (options) => options.storage !== undefined && asksPeople(options),
    (options) =>
      `${askingFlag(options)} is for directories: the questions of one replica are not known to the others; use --ask`,
  ],
  [
    ({ storage, oauth }) => storage?.choice.tenantClaim !== undefined && oauth === undefined,
    "--tenant-claim needs --oauth-issuer, whose tokens have claims",
  ],
  [
    ({ metrics, oauth }) => metrics !== undefined && "path" in metrics && oauth !== undefined,
    "--metrics takes HOST:PORT with --oauth-issuer, because every client could read a path",
  ],
  [
    ({ port }) => !Number.isInteger(port) || port < 0 || port > 65_535,
    "--port takes a number from 0 to 65535",
  ],
  [({ open, oauth }) => open && oauth !== undefined, "--no-token and --oauth-issuer exclude each other"],
  [
    ({ open, host }) => open && !isLoopback(host),
    "--no-token is for this machine alone: --host must be a loopback address",
  ],
  [(options) => options.open && asksPeople(options), (options) => `${askingFlag(options)} needs a token`],
  [
    (options) => options.ask && asksPeople(options),
    (options) => `--ask and ${askingFlag(options)} exclude each other`,
  ],
  [
    ({ host, allowHosts }) => (host === "0.0.0.0" || host === "::") && allowHosts.length === 0,
    "say with --allow-host under which names the server is reached",
  ],
];

/** Returns true if changes wait for people at an address of the server. */
function asksPeople({ approve, review }: HttpServeOptions): boolean {
  return approve || review !== undefined;
}

function askingFlag({ review }: HttpServeOptions): string {
  return review === undefined ? "--approve" : "--review";
}

/** Refuses options that contradict each other. @throws FilewrightError INVALID_ARGUMENT */
function checkOptionCombination(options: HttpServeOptions): void {
  const [, message] = CONTRADICTIONS.find(([when]) => when(options)) ?? [];
  if (message === undefined) return;
  const told = typeof message === "string" ? message : message(options);
  throw new FilewrightError("INVALID_ARGUMENT", told);
}

/** Writes a new token to the file from which our commands read it, and returns the file's path. */
function writeTokenFile(token: string, port: number, kind: TokenKind): string {
  const file = tokenFilePath(port, kind);
  writeToken(file, token);
  return file;
}
