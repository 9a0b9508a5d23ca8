/** Short reasons why a file or directory was not read, for lists and notes. */
import type { Code, FilewrightError } from "../../engine/errors.ts";

const REASON_BY_CODE: Readonly<Partial<Record<Code, string>>> = {
  NOT_FOUND: "does not exist",
  OUTSIDE_ALLOWED: "outside the allowed roots",
  GRANT_DENIED: "its directory was not granted",
  APPROVAL_DENIED: "a rule forbids it",
  BINARY_FILE: "binary file",
  IS_DIRECTORY: "is a directory",
  NOT_DIRECTORY: "is not a directory",
  NOT_REGULAR_FILE: "a FIFO, socket or device",
  PERMISSION_DENIED: "permission denied",
};

/** Returns a short text about why a file was not read, such as `does not exist`. */
export function skipReasonOf(error: FilewrightError): string {
  const { mime, reason: kind, by } = error.details ?? {};
  // For a glob in a syntax that is not supported, the message and the equivalent form that works.
  if (error.code === "INVALID_GLOB" && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  if (kind === "secret" && by !== "link")
    return by === "content" ? "it holds a private key" : "it holds secrets";
  if (by === "link") return "another name (a hard link) of it may not be read";
  const reason = REASON_BY_CODE[error.code] ?? (error.message.split("\n")[0] || error.code);
  return typeof mime === "string" ? `${reason} (${mime})` : reason;
}
