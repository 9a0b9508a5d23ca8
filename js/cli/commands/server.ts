/**
 * The commands that start servers: `mcp` over standard input and output, for a client that starts it, and
 * `runServe` over HTTP.
 */
import {
  DEFAULT_PORT,
  FILEWRIGHT_DEFAULTS,
  MAX_PORT,
  MCP_HELP,
  SERVER_HELP,
  checkedOrigins,
  serveOptionsOf,
} from "../../mcp/command.ts";
import { onFirstSignal, type Program } from "../../mcp/program.ts";
import { makeStderrLog } from "../../mcp/protocol/log.ts";
import type { HttpServeOptions } from "../../mcp/serve.ts";
import type { RunningHttpServer } from "../../mcp/shutdown.ts";
import { startFailureOf } from "../../mcp/start.ts";
import type { ServedStorage } from "../../mcp/tenants/service.ts";
import type { Command } from "../command.ts";
import type { Shell } from "../person/style.ts";
import { printError } from "../streams.ts";
import {
  DEFAULT_METRICS_PLACE,
  type OptionLine,
  optionTableOf,
  valuesOfRepeatedOption,
  type ParsedCommandLine,
  UsageError,
  parseIntegerOption,
} from "../../schema/command-line.node.ts";

const MAX_SERVED_DIRECTORIES = 1000;

/** The workspace of a storage where neither the command line nor a token names one. */
const DEFAULT_WORKSPACE = "main";
/** The environment variable that can hold the URL of the storage, which the command line would show to every user. */
const STORAGE_VARIABLE = "FILEWRIGHT_STORAGE";
const MAX_CALLS_PER_MINUTE = 1_000_000;
/** The options of `filewright serve`. */
const SERVE_HELP: readonly OptionLine[] = [
  ["--port N", `the port (${DEFAULT_PORT}); 0 takes any free one`],
  ["--host ADDRESS", "the address to listen on (127.0.0.1)"],
  ["--allow-host NAME...", "a further host name of the server (repeatable)"],
  [
    "--allow-origin ORIGIN...",
    "the origin of a page that may use the server, such as https://app.example (repeatable)",
  ],
  ["--token-file FILE", "a file with the clients' token; only you may be able to read it"],
  ["--no-token", "require no token; on this machine only"],
  ["--oauth-issuer URL", "accept the tokens of this authorization server"],
  ["--oauth-resource URL", "the URL of this server, for which tokens must be issued"],
  ["--oauth-jwks URL", "the issuer's keys, if its metadata does not name them"],
  ["--oauth-scope SCOPE...", "a scope that a token must have (repeatable)"],
  ["--oauth-at-jwt", "accept only tokens whose header says that they are access tokens (RFC 9068)"],
  ["--storage URL", "serve the workspace of a storage instead of directories"],
  ["--workspace NAME", `the workspace of the storage (${DEFAULT_WORKSPACE})`],
  ["--tenant-claim CLAIM", "the claim of a token that names its tenant; a token without it is refused"],
  ["--workspace-claim CLAIM", "the claim of a token that names its workspace among those of its tenant"],
  ["--calls-per-minute N", "the number of requests of a workspace in a minute, on all servers together"],
  [
    "--max-bytes N",
    "the number of bytes in the files of a workspace in Postgres; a change beyond it is NO_SPACE",
  ],
  ["--max-files N", "the number of files of a workspace in Postgres; a change beyond it is NO_SPACE"],
  [
    "--metrics[=PLACE]",
    `metrics for Prometheus at HOST:PORT (${DEFAULT_METRICS_PLACE}), or at a path of the server`,
  ],
  ["--traces", "make spans through the tracer of OpenTelemetry that the process has registered"],
  ["--approve", "changes wait for an answer by filewright approve, which has its own token"],
  ...SERVER_HELP,
];

/** The options that need a storage. */
const STORAGE_OPTIONS: readonly string[] = [
  ...["workspace", "tenant-claim", "workspace-claim", "calls-per-minute", "max-bytes", "max-files"],
];

/** Returns the port that a command line names, or the default. @throws UsageError */
function portOf(given: unknown): number {
  const port = parseIntegerOption(given, "port") ?? DEFAULT_PORT;
  if (port >= 0 && port <= MAX_PORT) return port;
  throw new UsageError(`--port must be from 0 to ${MAX_PORT}, not ${port}`);
}

/** The commands `mcp` and `runServe`. */
export const SERVER_COMMANDS: readonly Command[] = [
  {
    name: "mcp",
    summary: "serve directories to an MCP client over standard input and output",
    usage: "filewright mcp DIR... [--config FILE] [--preset NAME] [--read-only] [--ask] [options]",
    about:
      "A client starts it with the arguments of the Model Context Protocol's filesystem server. Roots that the client sends replace the directories; without directories the server waits for them.",
    help: MCP_HELP,
    examples: [
      [
        `{ "command": "npx", "args": ["-y", "filewright", "mcp", "/home/you/project"] }`,
        "in a client's configuration",
      ],
      [
        "filewright mcp ~/project --preset mcp --structured full",
        "answers exactly like those of the filesystem server",
      ],
    ],
    takes: [0, MAX_SERVED_DIRECTORIES],
    sort: "own",
    // This function runs only with `--help`: without it, `main.node.ts` starts the server itself.
    run: async () => 0,
  },
  {
    name: "serve",
    summary: "serve directories, or a storage that several servers share, to MCP clients over HTTP",
    usage: "filewright serve DIR... | --storage URL [--port N] [--token-file FILE | --no-token] [options]",
    about:
      "Streamable HTTP at /mcp, without sessions, on this machine only unless --host is given. Host and Origin headers are checked. Every request needs a token: that of --token-file or FILEWRIGHT_TOKEN, otherwise a new one in a file that only you can read. On SIGTERM running calls finish and new ones are refused. With --oauth-issuer, tokens of that authorization server are accepted if they were issued for --oauth-resource. With --storage the files are in Postgres (postgres://USER@HOST/DATABASE, password in PGPASSWORD) or in an S3-compatible store (s3+https://HOST/BUCKET/PREFIX, keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY), and any of several servers answers any request; FILEWRIGHT_STORAGE can hold the URL instead. /health and /ready answer probes without a token.",
    help: SERVE_HELP,
    examples: [
      ["filewright serve ~/project", "for clients on this machine"],
      [
        "filewright serve /srv/data --read-only --host 0.0.0.0 --allow-host files.example",
        "for other machines, read-only",
      ],
      [
        "filewright serve --storage postgres://app@db.example/agents --host 0.0.0.0 --allow-host files.example",
        "one of several servers of one workspace",
      ],
    ],
    takes: [0, MAX_SERVED_DIRECTORIES],
    sort: "own",
    run: runServe,
  },
];

async function runServe({ positionals, values: given }: ParsedCommandLine, shell: Shell): Promise<number> {
  const { program } = shell;
  const storage = await servedStorageOf(given, positionals.length > 0, program.env);
  const metrics = textOrUndefined(given["metrics"]);
  const options = await serveOptionsOf(positionals, given, FILEWRIGHT_DEFAULTS, optionTableOf(SERVE_HELP));
  // The module is loaded for this command only: loading the protocol's SDK takes longer than most commands
  // run.
  const { startMcpHttpServer } = await import("../../mcp/serve.ts");
  const settings: HttpServeOptions = {
    ...options,
    host: textOrUndefined(given["host"]) ?? "127.0.0.1",
    port: portOf(given["port"]),
    allowHosts: valuesOfRepeatedOption(given["allow-host"]) ?? [],
    allowOrigins: checkedOrigins(valuesOfRepeatedOption(given["allow-origin"]) ?? []),
    tokenFile: textOrUndefined(given["token-file"]),
    open: given["no-token"] === true,
    oauth: oauthOptionsOf(given),
    approve: given["approve"] === true,
    storage,
    metrics:
      metrics === undefined
        ? undefined
        : (await import("../../mcp/monitoring/metrics.ts")).parseMetricsPlace(metrics),
    traces: given["traces"] === true,
  };
  // Heard before the address is printed: whoever reads it may end the server at once.
  let unhear: () => void = () => {};
  const isEnded = new Promise<void>((resolve) => {
    unhear = onFirstSignal(program, ["SIGINT", "SIGTERM"], resolve);
  });
  let served: RunningHttpServer;
  try {
    served = await startMcpHttpServer(settings, makeStderrLog(program, options.logLevel));
  } catch (error) {
    unhear();
    const { line, status } = startFailureOf(error, program);
    printError(shell, line);
    return status;
  }
  await isEnded;
  await served.drain();
  unhear();
  return 0;
}

/** Returns the storage of a command line or of the environment; undefined where directories are served. */
async function servedStorageOf(
  given: ParsedCommandLine["values"],
  hasDirectories: boolean,
  env: Program["env"],
): Promise<ServedStorage | undefined> {
  const inEnvironment = hasDirectories ? undefined : env[STORAGE_VARIABLE];
  const url = textOrUndefined(given["storage"]) ?? (inEnvironment === "" ? undefined : inEnvironment);
  const [workspace, tenantClaim, workspaceClaim] = ["workspace", "tenant-claim", "workspace-claim"].map(
    (name) => textOrUndefined(given[name]),
  );
  const calls = parseIntegerOption(given["calls-per-minute"], "calls-per-minute");
  if (url === undefined) {
    for (const name of STORAGE_OPTIONS)
      if (given[name] !== undefined) throw new UsageError(`--${name} needs --storage`);
    return undefined;
  }
  if (hasDirectories) throw new UsageError("name directories or --storage, not both");
  if (workspace !== undefined && workspaceClaim !== undefined)
    throw new UsageError("--workspace and --workspace-claim exclude each other");
  if (workspaceClaim !== undefined && tenantClaim === undefined)
    throw new UsageError("--workspace-claim needs --tenant-claim");
  if (calls !== undefined && (calls < 1 || calls > MAX_CALLS_PER_MINUTE))
    throw new UsageError(`--calls-per-minute must be from 1 to ${MAX_CALLS_PER_MINUTE}, not ${calls}`);
  const [{ parseStorageUrl }, { nameFault }] = await Promise.all([
    import("../../mcp/storage/url.ts"),
    import("../../mcp/tenants/claims.ts"),
  ]);
  const target = parseStorageUrl(url);
  const quota = quotaOf(given);
  if (quota !== undefined && target.engine !== "postgres")
    throw new UsageError("--max-bytes and --max-files need a postgres: storage; limit the bucket itself");
  const fault = workspace === undefined ? undefined : nameFault(workspace);
  if (fault !== undefined) throw new UsageError(`--workspace ${fault}`);
  return {
    target,
    choice: { workspace: workspace ?? DEFAULT_WORKSPACE, tenantClaim, workspaceClaim },
    callsPerMinute: calls,
    quota,
  };
}

/** Returns the limits of each workspace; undefined where the command line has none. */
function quotaOf(given: ParsedCommandLine["values"]): ServedStorage["quota"] {
  const [bytes, files] = (["max-bytes", "max-files"] as const).map((name) => {
    const most = parseIntegerOption(given[name], name);
    if (most !== undefined && !(most >= 0 && most <= Number.MAX_SAFE_INTEGER))
      throw new UsageError(`--${name} must be from 0 to ${Number.MAX_SAFE_INTEGER}`);
    return most ?? null;
  }) as [number | null, number | null];
  return bytes === null && files === null ? undefined : { bytes, files };
}

function oauthOptionsOf(given: ParsedCommandLine["values"]): HttpServeOptions["oauth"] {
  const issuer = textOrUndefined(given["oauth-issuer"]);
  const resource = textOrUndefined(given["oauth-resource"]);
  const jwks = textOrUndefined(given["oauth-jwks"]);
  const scopes = valuesOfRepeatedOption(given["oauth-scope"]) ?? [];
  const requireAccessTokenType = given["oauth-at-jwt"] === true;
  if (issuer === undefined) {
    if (resource !== undefined || jwks !== undefined || scopes.length > 0 || requireAccessTokenType)
      throw new UsageError("--oauth-issuer is missing");
    return undefined;
  }
  if (resource === undefined)
    throw new UsageError("--oauth-issuer needs --oauth-resource, this server's own URL");
  for (const url of [issuer, resource, jwks])
    if (url !== undefined && !URL.canParse(url)) throw new UsageError(`'${url}' is no URL`);
  return { issuer, resource, jwks, scopes, requireAccessTokenType };
}

function textOrUndefined(given: unknown): string | undefined {
  return typeof given === "string" ? given : undefined;
}
