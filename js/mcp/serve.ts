/** `filewright serve`: runs an MCP server over HTTP, from its options to its shutdown. */
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
import { checkedVerifier, isLoopback, type OauthOptions } from "./auth/oauth.ts";
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

/**
 * Starts a server, which runs until it is drained. Its workspace is open when it begins to listen.
 * @throws FilewrightError for whatever keeps it from serving
 */
export async function startMcpHttpServer(
  options: HttpServeOptions,
  log: WriteLogLine,
): Promise<RunningHttpServer> {
  checkOptionCombination(options);
  const verifier = options.oauth === undefined ? undefined : checkedVerifier(options.oauth);
  const needsToken = !options.open && options.oauth === undefined;
  const client = tokenOfOperator("client", options.tokenFile) ?? (needsToken ? newToken() : undefined);
  const hosts = isLoopback(options.host) ? options.allowHosts : [options.host, ...options.allowHosts];
  const approvals = await servedApprovals(options, client, hosts);
  const { queue, review } = approvals ?? {};
  const metrics = options.metrics === undefined ? undefined : await loadMetrics();
  const traces = options.traces ? await loadTraces() : undefined;
  // The facts about the workspace are told once the server listens, so that a failure is told alone.
  const facts: Parameters<WriteLogLine>[] = [];
  let isListening = false;
  let isDraining = false;
  const tell: WriteLogLine = (...line) => (isListening ? log(...line) : void facts.push(line));
  await assertStartable(options);
  const ending = makeEnding();
  const logError = (error: unknown): void =>
    log(`Error: ${error instanceof Error ? error.message : String(error)}`, "error");
  const parts: ServiceParts = {
    tell,
    logError,
    confirm: review?.confirm ?? (queue && parking(queue.confirm)),
    ending: ending.signal,
    observers: [metrics?.meters, traces?.spans].filter((one) => one !== undefined),
    callObserver: review?.hub.observer,
    onWorkspace: review?.attach,
  };
  const service = await (options.storage === undefined
    ? directoryService(options, parts)
    : (await import("./tenants/service.ts")).storageService(options.storage, options, parts));
  const { handler } = service;
  metrics?.meters.gauge("draining", () => (isDraining ? 1 : 0));
  metrics?.meters.gauge("mirror_bytes", () => mirrorUse().bytes);
  metrics?.meters.gauge("mirror_lag_versions", () => mirrorUse().lagVersions);
  const place = options.metrics;
  let metricsServer: HttpServer | undefined;
  let server: HttpServer;
  try {
    if (metrics !== undefined && place !== undefined && "host" in place)
      metricsServer = await (await import("./monitoring/metrics.ts")).listenForMetrics(place, metrics);
    server = await serveMcpOverHttp(handler, {
      host: options.host,
      port: options.port,
      hosts,
      origins: options.allowOrigins,
      token: client,
      verifier,
      approvals: approvals?.answerQueue,
      review: approvals?.answerPage,
      probes: makeProbeAnswers({ isDraining: () => isDraining, ping: service.ping?.bind(service) }),
      metrics:
        metrics !== undefined && place !== undefined && "path" in place
          ? { path: place.path, answer: metrics.answer }
          : undefined,
      within: traces?.within,
      onerror: logError,
    });
  } catch (error) {
    await metricsServer?.close();
    await service.close();
    throw error;
  }
  isListening = true;
  approvals?.listensAt(server.url);
  for (const line of facts) log(...line);
  try {
    if (client !== undefined && tokenOfOperator("client", options.tokenFile) === undefined)
      log(
        `The token that clients must show is in ${writeTokenFile(client, server.port, "client")}`,
        "notice",
      );
    if (queue !== undefined && tokenOfOperator("approver") === undefined)
      log(
        `The token for filewright approve is in ${writeTokenFile(queue.token, server.port, "approver")}`,
        "notice",
      );
  } catch (error) {
    await server.close();
    await metricsServer?.close();
    await service.close();
    throw error;
  }
  if (client === undefined && options.oauth === undefined) log("Warning: no token is asked for", "warning");
  if (metricsServer !== undefined) log(`Metrics are at ${metricsServer.url}/metrics`, "notice");
  log(`${greetingLine(options, service.served)} at ${server.url}${MCP_PATH}`, "notice");
  const after = reviewAfterLine(options, options.storage === undefined ? service.served[0] : undefined);
  if (after !== undefined) log(after, "notice");
  const waiting = waitingChanges(options);
  let page: SharedPage | undefined;
  if (review !== undefined) {
    log(
      `${waiting} wait at ${server.url}/review; its link: ${reviewCommandLine(options, server.url)}`,
      "notice",
    );
    if (options.review !== server.port) page = review.show(options.review ?? 0, waiting, log);
  }
  if (review === undefined && queue !== undefined)
    log(`${waiting} wait for: ${approveCommandLine(server.url)}`, "notice");
  return {
    url: `${server.url}${MCP_PATH}`,
    async drain() {
      isDraining = true;
      // Open questions can no longer be answered, so the calls that wait for them are refused.
      if (review === undefined) queue?.close();
      else review.hub.close();
      await drainInOrder({
        ...{ server, handler, ending, graceMs: options.graceMs },
        drainCalls: () => service.drainCalls(),
        close: () => service.close(),
      });
      await page?.close();
      await metricsServer?.close();
    },
  };
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

function checkOptionCombination({
  roots,
  open,
  host,
  port,
  oauth,
  ask,
  approve,
  review,
  allowHosts,
  storage,
  metrics,
}: HttpServeOptions): void {
  const fail = (message: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", message);
  };
  const isReviewed = review !== undefined;
  if (storage !== undefined && roots.length > 0) fail("name directories or --storage, not both");
  if (storage === undefined && roots.length === 0) fail("name the directories to serve, or --storage");
  if (storage !== undefined && (approve || isReviewed))
    fail(
      `${isReviewed ? "--review" : "--approve"} is for directories: the questions of one replica are not known to the others; use --ask`,
    );
  if (storage?.choice.tenantClaim !== undefined && oauth === undefined)
    fail("--tenant-claim needs --oauth-issuer, whose tokens have claims");
  if (metrics !== undefined && "path" in metrics && oauth !== undefined)
    fail("--metrics takes HOST:PORT with --oauth-issuer, because every client could read a path");
  if (!Number.isInteger(port) || port < 0 || port > 65_535) fail("--port takes a number from 0 to 65535");
  if (open && oauth !== undefined) fail("--no-token and --oauth-issuer exclude each other");
  if (open && !isLoopback(host))
    fail("--no-token is for this machine alone: --host must be a loopback address");
  const asking = isReviewed ? "--review" : "--approve";
  if (open && (approve || isReviewed)) fail(`${asking} needs a token`);
  if (ask && (approve || isReviewed)) fail(`--ask and ${asking} exclude each other`);
  if ((host === "0.0.0.0" || host === "::") && allowHosts.length === 0)
    fail("say with --allow-host under which names the server is reached");
}

/** Writes a new token to the file from which our commands read it, and returns the file's path. */
function writeTokenFile(token: string, port: number, kind: TokenKind): string {
  const file = tokenFilePath(port, kind);
  writeToken(file, token);
  return file;
}
