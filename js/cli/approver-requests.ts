/** Requests to a server whose questions people answer, with the token for approvals. */
import { type Code, FilewrightError } from "../engine/errors.ts";
import { checkToken, readToken, tokenFilePath } from "../mcp/auth/token-file.ts";
import { DEFAULT_PORT } from "../mcp/command.ts";
import type { Program } from "../mcp/program.ts";
import type { ParsedCommandLine } from "../schema/command-line.node.ts";

/**
 * Returns the token for answering questions, from the command line, the environment or the file that the
 * server has written. @throws FilewrightError INVALID_ARGUMENT when there is none
 */
export function approverTokenFor(
  base: string,
  values: ParsedCommandLine["values"],
  { env }: Program,
): string {
  const given = values["token-file"];
  const variable = env["FILEWRIGHT_APPROVE_TOKEN"];
  if (given === undefined && variable !== undefined && variable !== "")
    return checkToken(variable, "the token in FILEWRIGHT_APPROVE_TOKEN");
  const port = Number(new URL(base).port || DEFAULT_PORT);
  return readToken(typeof given === "string" ? given : tokenFilePath(port, "approver"));
}

/** The time in milliseconds within which a server must answer a request, unless another signal is given. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Sends a request. @throws FilewrightError IO_ERROR for a server that cannot be reached */
export async function sendRequest(url: URL, init: RequestInit): Promise<Response> {
  const signal = init.signal ?? AbortSignal.timeout(REQUEST_TIMEOUT_MS);
  return fetch(url, { ...init, signal, redirect: "error" }).catch((error: unknown) => {
    const why = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    throw new FilewrightError("IO_ERROR", `Cannot reach ${url.origin}: ${why}.`, { complete: true });
  });
}

/** Returns the JSON of a response. @throws FilewrightError for a server that cannot be reached, and for a refusal */
export async function requestJson(url: URL, init: RequestInit): Promise<unknown> {
  const response = await sendRequest(url, init);
  if (response.ok) return response.json();
  throw failureOfStatus(response.status);
}

/** Returns the error of a response with a status that says that it failed. */
export function failureOfStatus(status: number): FilewrightError {
  const [code, message] = FAILURE_BY_STATUS[status] ?? [
    status < FIRST_SERVER_ERROR ? "PERMISSION_DENIED" : "IO_ERROR",
    `The server answered ${status}.`,
  ];
  return new FilewrightError(code, message, { complete: true });
}

/** The lowest status with which a server says that it has failed. */
const FIRST_SERVER_ERROR = 500;

/** The meaning of the statuses of a server for the person. */
const FAILURE_BY_STATUS: Readonly<Record<number, readonly [code: Code, message: string]>> = {
  401: ["PERMISSION_DENIED", "The token is not the one for this server's approvals."],
  404: ["NOT_FOUND", "The question does not wait any more."],
  409: ["CONFLICT", "Another answer came first, or the content has changed since it was shown."],
  410: ["NOT_FOUND", "The question was withdrawn."],
};
