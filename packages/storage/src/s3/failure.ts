/**
 * Errors of an S3-compatible store in our codes. Of an answer only its status and its code are used: the text of an
 * error can repeat the access key and what was signed.
 */
import { type Code, FilewrightError } from "filewright/files";

/** The outcome of a change that failed: `none` means that it did not, `unknown` that the answer was lost. */
type Outcome = "none" | "unknown";

/** The parts of an error of the store. */
export interface Failure {
  readonly status: number;
  /** The store's own code, such as `SlowDown`; undefined when the answer has none. */
  readonly s3Code: string | undefined;
  readonly headers: Headers;
  /** The time of this machine when the answer arrived, in milliseconds since 1970. */
  readonly now: number;
}

/** Statuses that another attempt may not meet. */
const TRANSIENT_STATUSES: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);
/** Codes of the store that another attempt may not meet, whatever their status. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  "RequestTimeout",
  "SlowDown",
  "InternalError",
  "OperationAborted",
  "ServiceUnavailable",
  "Throttling",
  "TooManyRequests",
  "ConditionalRequestConflict",
]);
/** Statuses of a store that refuses before it does anything. */
const REFUSED_STATUSES: ReadonlySet<number> = new Set([429, 503]);

/** Returns true for an answer that may differ when the request is sent again. */
export function isTransient({ status, s3Code }: Failure): boolean {
  return TRANSIENT_STATUSES.has(status) || (s3Code !== undefined && TRANSIENT_CODES.has(s3Code));
}

/** The sentence of a clock that differs from the store's by more than it accepts. */
function clockSkewText({ headers, now }: Failure): string {
  const theirs = Date.parse(headers.get("date") ?? "");
  const minutes = Math.round((now - theirs) / 60_000);
  if (!Number.isFinite(minutes)) return "the clock of this machine differs from the store's too much";
  const direction = minutes > 0 ? "ahead of" : "behind";
  return `the clock of this machine is ${Math.abs(minutes)} minutes ${direction} the store's`;
}

/** Code, text and remedy of a refusal. */
function describe(failure: Failure): readonly [code: Code, text: string, hint?: string] {
  const { status, s3Code } = failure;
  if (s3Code === "RequestTimeTooSkewed" || s3Code === "RequestExpired")
    return ["PERMISSION_DENIED", clockSkewText(failure), "set the clock of this machine"];
  if (s3Code === "NoSuchBucket")
    return ["INVALID_ARGUMENT", "the bucket does not exist", "create it, or correct `bucket`"];
  if (s3Code === "AuthorizationHeaderMalformed" || (status >= 300 && status < 400)) {
    const region = failure.headers.get("x-amz-bucket-region");
    const named = region !== null && /^[\w-]{1,40}$/u.test(region) ? `, which is in ${region}` : "";
    return [
      "INVALID_ARGUMENT",
      `the store sends requests for this bucket elsewhere${named}`,
      "correct `endpoint` and `region`",
    ];
  }
  if (status === 401 || status === 403) return ["PERMISSION_DENIED", "the store refuses these credentials"];
  if (status === 413 || s3Code === "EntityTooLarge")
    return ["TOO_LARGE", "the store refuses a body of this size"];
  if (status === 429 || s3Code === "SlowDown" || s3Code === "Throttling")
    return ["LIMIT_EXCEEDED", "the store has too many requests", "try again later"];
  if (status === 501) return ["UNSUPPORTED_OPERATION", "the store does not implement this request"];
  if (status === 507 || s3Code === "QuotaExceeded" || s3Code === "XMinioStorageFull")
    return ["NO_SPACE", "the store is full"];
  return ["IO_ERROR", `the store answered ${status}`];
}

/** Returns the error of an answer. `isChange` is true for a request that changes something. */
export function statusError(failure: Failure, isChange: boolean): FilewrightError {
  const [code, text, hint] = describe(failure);
  const { status, s3Code } = failure;
  const refused = status < 500 || REFUSED_STATUSES.has(status) || status === 501 || status === 507;
  const outcome: Outcome = !isChange || refused ? "none" : "unknown";
  return new FilewrightError(code, s3Code === undefined ? text : `${text} (${s3Code})`, {
    hint,
    details: { status, ...(s3Code === undefined ? {} : { s3_code: s3Code }), outcome },
  });
}

/** Returns the error of a request without an answer. The cause is kept without its own text, which can hold the address. */
export function silentError(error: unknown, isChange: boolean): FilewrightError {
  const timedOut = error instanceof Error && error.name === "TimeoutError";
  return new FilewrightError(
    "IO_ERROR",
    timedOut ? "the store did not answer in time" : "the store cannot be reached",
    {
      details: { outcome: (isChange ? "unknown" : "none") satisfies Outcome, cause: causeCode(error) },
    },
  );
}

/** Returns the code of the system for a failed connection, such as ECONNRESET. */
function causeCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 4; at = at.cause, depth += 1) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === "string" && /^[A-Z\d_]{2,40}$/u.test(code)) return code;
  }
  return error instanceof Error ? error.name : "unknown";
}

/** Returns an error for content of the store that is not what was written. */
export function damageError(key: string, what: string): FilewrightError {
  return new FilewrightError("IO_ERROR", `the object ${key} ${what}`, { details: { outcome: "none", key } });
}

/** Returns whether a failed change may have happened. */
export function isUnknown(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["outcome"] === "unknown";
}

/** Returns the error of a call whose signal is aborted. */
export function cancelledError(isChange: boolean): FilewrightError {
  return new FilewrightError("CANCELLED", "the call was cancelled", {
    details: { outcome: isChange ? "unknown" : "none" },
  });
}
