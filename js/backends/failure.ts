/** The default message of a backend error for each code, without the path. */
import { type Code, type ErrorInit, FilewrightError, makeError } from "../engine/errors.ts";
import type { ByteRange, FsStat } from "./backend.ts";

/** The message of an error for each code, without the path, unless another one is given. */
const DEFAULT_MESSAGES: Partial<Record<Code, string>> = {
  NOT_FOUND: "no such file or directory",
  ALREADY_EXISTS: "something is already there",
  IS_DIRECTORY: "is a directory",
  NOT_DIRECTORY: "not a directory",
  NOT_EMPTY: "directory is not empty",
  PERMISSION_DENIED: "permission denied",
  LOOP: "too many symbolic links",
  NAME_TOO_LONG: "file name is too long",
  NOT_REGULAR_FILE: "neither a file nor a directory",
  SAME_FILE: "source and destination are the same file",
  CONFLICT: "the file has changed since it was read",
  READ_ONLY: "the workspace is read-only",
  CANCELLED: "the call was cancelled",
};

/** Creates the error of a backend for a path. Default: the message of the code. */
export function backendError(
  code: Code,
  path: string,
  message?: string,
  init: ErrorInit = {},
): FilewrightError {
  return makeError(code, message ?? DEFAULT_MESSAGES[code] ?? "the operation failed", { ...init, path });
}

/** Creates the error for a call that some files cannot have. */
export function unsupportedError(path: string, thing: string): FilewrightError {
  return backendError("UNSUPPORTED_OPERATION", path, `this storage has no ${thing}`);
}

/** Creates the error for content of `size` bytes that exceeds the requested `limit`. */
export function tooLargeError(path: string, size: number, limit: number): FilewrightError {
  const details = { size, limit };
  return backendError("TOO_LARGE", path, `${size} bytes are more than the limit of ${limit}`, { details });
}

/** @throws INVALID_ARGUMENT for an invalid byte range */
export function checkRange(range: ByteRange | undefined, path: string): void {
  if (range !== undefined && !(range.start >= 0 && range.end >= range.start))
    throw backendError("INVALID_ARGUMENT", path, "range must be 0 <= start <= end");
}

/** Checks permission bits. @throws INVALID_ARGUMENT */
export function checkMode(path: string, mode: number): void {
  if (!Number.isSafeInteger(mode) || mode < 0 || mode > 0o7777)
    throw backendError("INVALID_ARGUMENT", path, "mode must be permission bits, 0 to 0o7777");
}

/**
 * Refuses to write to or replace a read-only file. Backends call it before a rename of their own,
 * because a rename would replace such a file where a write could not change it.
 *
 * @throws PERMISSION_DENIED for a file without any write permission
 */
export function checkWritable(
  there: Partial<Pick<FsStat, "type" | "mode">> | null | undefined,
  path: string,
): void {
  if (there?.type === "file" && there.mode !== undefined && (there.mode & 0o222) === 0)
    throw backendError("PERMISSION_DENIED", path, "the file has no write permission");
}

/** @throws CANCELLED when the signal is aborted */
export function checkSignal(signal: AbortSignal | undefined, path: string): void {
  if (signal?.aborted) throw backendError("CANCELLED", path);
}

/** Returns true for the error of a path at which nothing is, or above which something else than a directory is. */
export function isMissing(error: unknown): boolean {
  return error instanceof FilewrightError && (error.code === "NOT_FOUND" || error.code === "NOT_DIRECTORY");
}

/** Error codes after which it is unknown whether a change has happened. */
const UNCERTAIN_CODES: ReadonlySet<Code> = new Set<Code>(["IO_ERROR", "INTERNAL", "CANCELLED", "TIMEOUT"]);

/** Returns true when it is unknown whether a change with this error has happened. */
export function isUncertain(error: unknown): boolean {
  return !(error instanceof FilewrightError) || UNCERTAIN_CODES.has(error.code) || isUnconfirmed(error);
}

/** Returns true for the error of a change that was made, and that the disk did not confirm: a crash may lose it. */
export function isUnconfirmed(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["reason"] === "flush";
}

/** Returns a `catch` handler that ignores some codes. */
export function ignoreCodes(...codes: readonly Code[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof FilewrightError && codes.includes(error.code))) throw error;
  };
}
