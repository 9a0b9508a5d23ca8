/**
 * Errors: one type, one closed list of codes.
 *
 * Every failure a caller can meet is a {@link FilewrightError}. The code is the API; the message
 * is for people and models and may change at any time.
 */
import { messageOf } from "./thrown.ts";

/** The closed list of failure codes. */
// biome-ignore format: a table, not forty lines
export const CODES = [
  "INVALID_ARGUMENT", "NOT_FOUND", "OUTSIDE_ALLOWED", "PERMISSION_DENIED", "GRANT_DENIED",
  "APPROVAL_DENIED", "HOOK_BLOCKED", "CANCELLED", "TIMEOUT", "IO_ERROR", "LOOP", "NAME_TOO_LONG",
  "ALREADY_EXISTS", "IS_DIRECTORY", "NOT_DIRECTORY", "NOT_EMPTY", "READ_ONLY", "PROTECTED_PATH",
  "SAME_FILE", "BINARY_FILE", "UNSUPPORTED_FORMAT", "TOO_LARGE", "ENCODING_ERROR", "INVALID_REGEX",
  "INVALID_GLOB", "MATCH_NOT_FOUND", "MATCH_NOT_UNIQUE", "MATCH_COUNT_MISMATCH", "NO_CHANGE",
  "PATCH_FAILED", "CONFLICT", "LOCK_TIMEOUT", "NO_SPACE", "UNSUPPORTED_OPERATION",
  "SANDBOX_SETUP_FAILED", "UNKNOWN_TOOL", "INTERNAL", "NOT_REGULAR_FILE", "LIMIT_EXCEEDED",
  "UNSUPPORTED_PLATFORM",
] as const;

/** A stable failure code. */
export type Code = (typeof CODES)[number];

/** The optional properties of a {@link FilewrightError}. */
export interface ErrorInit {
  /** The path as the caller typed it. */
  readonly path?: string | undefined;
  /** The remedy for the caller, as one clause. */
  readonly hint?: string | undefined;
  /** Data for programs, with `snake_case` keys. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The error that caused this one. */
  readonly cause?: unknown;
  /**
   * True when the message is a complete sentence; otherwise it is a clause, to which the workspace
   * adds the path.
   */
  readonly complete?: boolean | undefined;
}

/** Every failure of Filewright. `code` is stable; `message` is not. */
export class FilewrightError extends Error {
  override name = "FilewrightError";
  /**
   * The kind of failure, from the closed list `CODES`. Programs should decide by it, not by the
   * message.
   */
  readonly code: Code;
  /** The path concerned, as the caller wrote it. */
  readonly path: string | undefined;
  /** The remedy for the caller. */
  readonly hint: string | undefined;
  /** Data for programs; its keys depend on the code. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /**
   * True when the message is a complete sentence; false when it is a clause to which the path is still to be
   * added.
   */
  readonly complete: boolean;

  constructor(code: Code, message: string, init: ErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = code;
    this.path = init.path;
    this.hint = init.hint;
    this.details = init.details;
    this.complete = init.complete ?? false;
  }

  /** An error of another copy of the package is one, too, as that of a storage which was installed with its own copy. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a narrower class inherits the method, and its own errors are told by prototype
    if (this !== FilewrightError) return Function.prototype[Symbol.hasInstance].call(this, value);
    return value instanceof Error && "hint" in value && "complete" in value;
  }
}

/** An operation that permissions forbid, those of the operating system or those of a policy. */
export class FsPermissionError extends FilewrightError {
  override name = "FsPermissionError";
  /** The name that Node gives such an error, for programs that check nothing else. */
  readonly errno = "EACCES";
}

/** A path that leads outside the policy's roots; code `OUTSIDE_ALLOWED`. */
export class SandboxViolation extends FsPermissionError {
  override name = "SandboxViolation";

  constructor(message: string, init: ErrorInit = {}) {
    super("OUTSIDE_ALLOWED", message, init);
  }
}

/**
 * Creates an error of the class for its code: {@link SandboxViolation}, {@link FsPermissionError} or
 * {@link FilewrightError}.
 */
export function makeError(code: Code, message: string, init: ErrorInit = {}): FilewrightError {
  if (code === "OUTSIDE_ALLOWED") return new SandboxViolation(message, init);
  if (code === "PERMISSION_DENIED") return new FsPermissionError(code, message, init);
  return new FilewrightError(code, message, init);
}

const KNOWN_CODES: ReadonlySet<string> = new Set(CODES);

/** Returns true for a code of the closed list. */
export function isCode(value: unknown): value is Code {
  return typeof value === "string" && KNOWN_CODES.has(value);
}

/**
 * Converts an exception of an engine to a {@link FilewrightError}. Engines throw an `Error` whose message is
 * the error of the core as JSON. Any other exception is a defect of this package and becomes `INTERNAL`.
 */
export function fromEngine(thrown: unknown): FilewrightError {
  if (thrown instanceof FilewrightError) return thrown;
  const text = messageOf(thrown);
  if (text.startsWith("{")) {
    try {
      const { code, message, hint, details, complete } = JSON.parse(text) as Record<string, unknown>;
      if (isCode(code)) {
        return makeError(code, String(message), {
          hint: hint as string | undefined,
          details: details as Record<string, unknown> | undefined,
          complete: complete === true,
        });
      }
    } catch {
      // Not an engine's JSON: handled below as a defect.
    }
  }
  return new FilewrightError("INTERNAL", "the engine failed unexpectedly", { cause: thrown });
}

/** The options of a call that can be cancelled. */
export interface Signalled {
  /** Aborting it ends the operation with CANCELLED. */
  readonly signal?: AbortSignal | undefined;
}

/** Throws if the signal is aborted. @throws FilewrightError CANCELLED */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new FilewrightError("CANCELLED", "the call was cancelled");
}
