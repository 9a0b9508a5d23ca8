/** `filewright serve`: a server over HTTP, from its options to a port. */
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { defaultStateDir } from "../backends/lock.node.ts";
import { FilewrightError } from "../engine/errors.ts";
import { approvalDesk } from "../hooks/desk.ts";
import { elicitApprovals } from "./approvals.ts";
import { usableDirectories } from "./directories.ts";
import { isLoopback } from "./gate.ts";
import { makeHandler } from "./handler.ts";
import { localHost } from "./host.ts";
import { type Served, serveHttp } from "./http.ts";
import { type OauthOptions, oauthVerifier } from "./oauth.ts";
import type { ServeOptions } from "./stdio.ts";

/** Where `filewright serve` listens, and where `filewright approve` looks. */
export const DEFAULT_PORT = 4747;

/** How a server is served over HTTP. */
export interface NetOptions extends ServeOptions {
  readonly host: string;
  readonly port: number;
  readonly allowHosts: readonly string[];
  readonly allowOrigins: readonly string[];
  /** A file with the token; default: the environment's, else a new one. */
  readonly tokenFile?: string | undefined;
  /** No token at all. */
  readonly open: boolean;
  readonly oauth?: OauthOptions | undefined;
  /** Changes wait at `/approvals` until somebody answers. */
  readonly approve: boolean;
}

/** The shortest token that is accepted. Characters. */
const MIN_TOKEN = 16;
/** Where a token may come from instead of a file. */
const TOKEN_VARIABLE = "FILEWRIGHT_TOKEN";

/** Serves until it is closed. Undefined where no directory can be used. @throws FilewrightError INVALID_ARGUMENT */
export async function startServing(
  options: NetOptions,
  log: (line: string) => void,
): Promise<Served | undefined> {
  check(options);
  const dirs = usableDirectories(options.dirs, log);
  if (dirs === undefined) return undefined;
  const { token, where } = tokenOf(options);
  const desk = options.approve && token !== undefined ? approvalDesk({ token }) : undefined;
  const approvals = options.ask ? elicitApprovals({ lasting: false }) : undefined;
  const { preset, readOnly, structured, version } = options;
  const host = localHost(dirs, { preset, readOnly, confirm: desk?.confirm ?? approvals?.confirm });
  const handler = makeHandler({ host, structured, approvals, version }, (error) =>
    log(`Error: ${error.message}`),
  );
  const served = await serveHttp(handler, {
    host: options.host,
    port: options.port,
    hosts: isLoopback(options.host) ? options.allowHosts : [options.host, ...options.allowHosts],
    origins: options.allowOrigins,
    token,
    verifier: options.oauth === undefined ? undefined : oauthVerifier(options.oauth),
    others: desk === undefined ? {} : { "/approvals": desk.handle },
  });
  if (where !== undefined) log(`The token that clients must show is in ${where}`);
  if (token === undefined && options.oauth === undefined) log("Warning: no token is asked for");
  log(`Serving ${dirs.length === 1 ? "one directory" : `${dirs.length} directories`} at ${served.url}`);
  return {
    url: served.url,
    async close() {
      desk?.close();
      await handler.close();
      await served.close();
      await host.close();
    },
  };
}

function check({ dirs, open, host, oauth, ask, approve, allowHosts }: NetOptions): void {
  const fail = (message: string): never => {
    throw new FilewrightError("INVALID_ARGUMENT", message);
  };
  if (dirs.length === 0) fail("name the directories to serve");
  if (open && oauth !== undefined) fail("--no-token and --oauth-issuer exclude each other");
  if (open && !isLoopback(host))
    fail("--no-token is for this machine alone: --host must be a loopback address");
  if (open && approve) fail("--approve needs a token");
  if (ask && approve) fail("--ask and --approve exclude each other");
  if ((host === "0.0.0.0" || host === "::") && allowHosts.length === 0)
    fail("say with --allow-host under which names the server is reached");
}

/** The token, and the file that a new one was written to. */
function tokenOf({ open, oauth, approve, tokenFile, port }: NetOptions): {
  readonly token?: string | undefined;
  readonly where?: string | undefined;
} {
  const given =
    tokenFile === undefined ? process.env[TOKEN_VARIABLE] : readFileSync(tokenFile, "utf8").trim();
  if (given !== undefined && given !== "") {
    if (given.length >= MIN_TOKEN) return { token: given };
    throw new FilewrightError("INVALID_ARGUMENT", `the token must have at least ${MIN_TOKEN} characters`);
  }
  if (open || (oauth !== undefined && !approve)) return {};
  const token = randomBytes(32).toString("base64url");
  const file = tokenFileOf(port);
  mkdirSync(defaultStateDir(), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return { token, where: file };
}

/** Where the token of a server on a port is written to. */
export function tokenFileOf(port: number): string {
  return join(defaultStateDir(), `serve-${port}.token`);
}
