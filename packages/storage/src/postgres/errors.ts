/** The errors of Postgres and of its connections, as errors of the closed list. */
import { backendError, type Code, FilewrightError, makeError } from "filewright/files";
import { messageOf } from "../values.ts";

/** Codes that our functions raise, with the path as the detail of the error. */
const RAISED_FOR_PATH: Readonly<Record<string, readonly [Code, string?]>> = {
  FW003: ["NOT_EMPTY"],
  FW006: ["NOT_DIRECTORY"],
  FW008: ["IS_DIRECTORY"],
  FW009: ["NAME_TOO_LONG"],
  FW013: ["NOT_FOUND", "the storage has no such content"],
  FW017: ["NOT_FOUND"],
  FW018: ["INVALID_ARGUMENT", "a link has no mode"],
  FW019: ["ALREADY_EXISTS"],
};

/** Codes of Postgres, or their first two characters, with the sentence for each. */
const ENGINE_CODES: Readonly<Record<string, readonly [Code, string]>> = {
  "53100": ["NO_SPACE", "the disk of the database is full"],
  "55P03": ["LOCK_TIMEOUT", "another holder kept the lock"],
  "57014": ["TIMEOUT", "the database cancelled the statement"],
  "42501": ["PERMISSION_DENIED", "the database refused the access"],
  "25006": ["READ_ONLY", "the database takes no changes"],
  "28": ["PERMISSION_DENIED", "the database refused the login"],
  "54": ["LIMIT_EXCEEDED", "a limit of the database was exceeded"],
};

/** Codes with which no statement ran: refused connections, servers that start or have no place. */
const NOT_SENT: ReadonlySet<unknown> = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ENOENT", "EHOSTUNREACH", "ENETUNREACH"],
  ...["53300", "57P03", "3D000", "08001", "08004"],
]);

/** Returns true for the errors of two transactions in each other's way. Nothing happened; they can be repeated. */
export function isRetryable(thrown: unknown): boolean {
  return ["40001", "40P01"].includes(String(codeOf(thrown)));
}

/**
 * Returns true when a connection ended, so that the same statement can succeed on another one. An error without
 * a code of Postgres is not from the server: what became of the statement is unknown.
 */
export function isCut(thrown: unknown): boolean {
  const code = codeOf(thrown);
  if (NOT_SENT.has(code)) return false;
  return typeof code !== "string" || !/^[0-9A-Z]{5}$/u.test(code) || /^(08...|57P0[12])$/u.test(code);
}

/**
 * Converts an exception of a client. `changes` is true for a statement that changes something: then
 * `details.outcome` says whether it did.
 */
export function fromPostgres(thrown: unknown, changes: boolean): FilewrightError {
  if (thrown instanceof FilewrightError) return thrown;
  const code = codeOf(thrown);
  const detail = (thrown as { readonly detail?: unknown } | null)?.detail;
  const about = typeof detail === "string" ? detail : "";
  if (typeof code === "string" && code.startsWith("FW")) return fromRaised(code, about, thrown);
  const known = typeof code === "string" ? (ENGINE_CODES[code] ?? ENGINE_CODES[code.slice(0, 2)]) : undefined;
  if (known !== undefined)
    return makeError(known[0], known[1], {
      cause: thrown,
      // The server itself says so, and with its error it has taken back all of the statement.
      details: { sqlstate: code, ...(changes ? { outcome: "none" } : {}) },
    });
  const unknown = changes && isCut(thrown);
  return new FilewrightError("IO_ERROR", `the database could not be used: ${messageOf(thrown)}`, {
    cause: thrown,
    hint: unknown ? "repeat the commit with the same key" : undefined,
    details: {
      outcome: unknown ? "unknown" : "none",
      ...(typeof code === "string" ? { sqlstate: code } : {}),
    },
  });
}

function fromRaised(code: string, about: string, cause: unknown): FilewrightError {
  const forPath = RAISED_FOR_PATH[code];
  if (forPath !== undefined) return backendError(forPath[0], about, forPath[1], { cause });
  switch (code) {
    case "FW004":
      return new FilewrightError("NOT_FOUND", "the workspace was removed", { cause });
    case "FW007":
      return new FilewrightError("NO_SPACE", "the quota of the workspace is used up", {
        cause,
        details: JSON.parse(about) as Record<string, unknown>,
      });
    case "FW011":
      return new FilewrightError("INVALID_ARGUMENT", "no state is kept with this version", { cause });
    case "FW014":
      return new FilewrightError("ALREADY_EXISTS", `there is a workspace '${about}'`, { cause });
    case "FW015":
      return new FilewrightError("INVALID_ARGUMENT", "the record is no counter", { cause });
    case "FW016":
      return new FilewrightError("INVALID_ARGUMENT", "a counter is a whole number", { cause });
    case "FW020":
      return newerSchemaError(about, cause);
    default:
      return new FilewrightError("INTERNAL", `the database raised ${code}`, { cause });
  }
}

/** Creates the error of a schema that a newer version of this package has made. */
export function newerSchemaError(version: string, cause?: unknown): FilewrightError {
  return new FilewrightError(
    "UNSUPPORTED_OPERATION",
    `the schema of the database has the newer version ${version}`,
    {
      cause,
      hint: "install the version of filewright that made it, or a newer one",
    },
  );
}

/** Returns the code of an exception of a client. */
export function codeOf(thrown: unknown): unknown {
  return (Object(thrown) as { readonly code?: unknown }).code;
}
