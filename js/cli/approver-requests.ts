/**
 * Requests to a server whose questions people answer. The server proves first that it has the key of this user, or the
 * token that was given; neither is ever sent.
 */
import { type Code, FilewrightError } from "../engine/errors.ts";
import { checkToken, readToken } from "../mcp/auth/token-file.ts";
import type { Program } from "../mcp/program.ts";
import { authorityOf, ownerKeyFor, tokenKeyFor } from "../review/proof/keys.ts";
import {
  type Credential,
  FOREIGN,
  makeProver,
  type ProverRequest,
  UnprovenError,
} from "../review/proof/prover.ts";
import { readOwnerKey } from "../review/shared/owner-key.node.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";

/** A connection to a server. */
export interface ApproverConnection {
  readonly origin: string;
  /** Sends a request. @throws FilewrightError for a server that cannot be reached, or has not proven itself */
  send(path: string, request?: ProverRequest): Promise<Response>;
  /** Returns the JSON of a response. @throws FilewrightError also for a refusal */
  json(path: string, request?: ProverRequest): Promise<unknown>;
}

/** The command line and the environment, which may name a token. */
export interface TokenSource {
  readonly values: ParsedCommandLine["values"];
  readonly program: Pick<Program, "env">;
}

/** Returns the token for approvals of the command line or of the environment; undefined without one. */
function tokenGiven({ values, program: { env } }: TokenSource): string | undefined {
  const file = values["token-file"];
  if (typeof file === "string") return readToken(file);
  const variable = env["FILEWRIGHT_APPROVE_TOKEN"];
  if (variable === undefined || variable === "") return undefined;
  return checkToken(variable, "the token in FILEWRIGHT_APPROVE_TOKEN");
}

/**
 * Connects to a server. Nothing is sent before the first request.
 * @param address an address of the server, of which only the origin counts
 * @param area the path below which it answers
 * @throws FilewrightError INVALID_ARGUMENT for a token that cannot be read
 */
export function connectApprover(
  address: string,
  area: "review" | "approvals",
  source: TokenSource,
): ApproverConnection {
  const base = new URL(`/${area}`, address);
  // `localhost` can be two addresses, with two servers.
  if (base.hostname === "localhost") base.hostname = "127.0.0.1";
  const { origin } = base;
  const token = tokenGiven(source);
  const prover = makeProver(base.href, async (): Promise<Credential> => {
    const id = authorityOf(base);
    return token === undefined
      ? { kind: "owner", id, key: await ownerKeyFor(await readOwnerKey(), id) }
      : { kind: "token", id, key: await tokenKeyFor(token, id) };
  });
  const send = (path: string, request: ProverRequest = {}): Promise<Response> => {
    const signal = request.signal ?? AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    return prover.send(path, { ...request, signal }).catch((error: unknown) => {
      throw failureOf(error, origin, token === undefined);
    });
  };
  return {
    origin,
    send,
    async json(path, request) {
      const response = await send(path, request);
      if (response.ok) return response.json();
      throw failureOfStatus(response.status);
    },
  };
}

/** The time in milliseconds within which a server must answer a request, unless another signal is given. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Returns the error of a request without an answer of the server. */
function failureOf(error: unknown, origin: string, isOwner: boolean): FilewrightError {
  if (error instanceof FilewrightError) return error;
  const [code, message] =
    error instanceof UnprovenError
      ? unprovenFailure(error.status, origin, isOwner)
      : (["IO_ERROR", `Cannot reach ${origin}: ${reasonOf(error)}.`] as const);
  return new FilewrightError(code, message, { complete: true, cause: error });
}

/** Returns true for the error of a port at which nothing listens. */
export function isNothingThere({ cause }: FilewrightError): boolean {
  const reason = cause instanceof Error ? (cause.cause as NodeJS.ErrnoException | undefined) : undefined;
  return reason?.code === "ECONNREFUSED";
}

function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
}

/** Returns the error about a server that has not proven itself. */
function unprovenFailure(status: number, origin: string, isOwner: boolean): readonly [Code, string] {
  if (status !== FOREIGN && status !== UNAUTHORIZED) return failureByStatus(status);
  return [
    "PERMISSION_DENIED",
    isOwner
      ? `The program at ${origin} cannot prove that it is a server of yours, so nothing was sent to it. For a server of another user or machine name its token with --token-file.`
      : `The program at ${origin} cannot prove that it has the token for approvals, so nothing was sent to it. Name the right token with --token-file.`,
  ];
}

/** Returns the error of a response with a status that says that it failed. */
export function failureOfStatus(status: number): FilewrightError {
  const [code, message] = failureByStatus(status);
  return new FilewrightError(code, message, { complete: true });
}

const UNAUTHORIZED = 401;
/** The lowest status with which a server says that it has failed. */
const FIRST_SERVER_ERROR = 500;

function failureByStatus(status: number): readonly [Code, string] {
  const known = FAILURE_BY_STATUS[status];
  if (known !== undefined) return known;
  return [status < FIRST_SERVER_ERROR ? "PERMISSION_DENIED" : "IO_ERROR", `The server answered ${status}.`];
}

/** The meaning of the statuses of a server for the person. */
const FAILURE_BY_STATUS: Readonly<Record<number, readonly [code: Code, message: string]>> = {
  401: ["PERMISSION_DENIED", "The token is not the one for this server's approvals."],
  404: ["NOT_FOUND", "The question does not wait any more."],
  409: ["CONFLICT", "Another answer came first, or the content has changed since it was shown."],
  410: ["NOT_FOUND", "The question was withdrawn."],
};
