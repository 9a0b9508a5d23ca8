/**
 * Errors: one type, one closed list of codes.
 *
 * Every failure a caller can meet is a {@link FilewrightError}. The code is the
 * API; the message is for people and models and may be improved at any time.
 */

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

/** What a {@link FilewrightError} is made of besides code and message. */
export interface ErrorInit {
  /** The path as the caller typed it. */
  readonly path?: string | undefined;
  /** One remedy. */
  readonly hint?: string | undefined;
  /** Data for programs, with `snake_case` keys. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  /** The error behind it. */
  readonly cause?: unknown;
  /** Whether the message is a whole sentence; without it a clause, which the workspace words with the path. */
  readonly complete?: boolean | undefined;
}

/** Every failure of Filewright. `code` is stable; `message` is not. */
export class FilewrightError extends Error {
  override name = "FilewrightError";
  /** One of a closed list; programs decide by it. */
  readonly code: Code;
  /** The path concerned, as the caller wrote it. */
  readonly path: string | undefined;
  /** What to do about it. */
  readonly hint: string | undefined;
  /** Facts that programs can use, by code. */
  readonly details: Readonly<Record<string, unknown>> | undefined;
  /** Whether the message is a whole sentence, and not a clause to be worded with the path. */
  readonly complete: boolean;

  constructor(code: Code, message: string, init: ErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.code = code;
    this.path = init.path;
    this.hint = init.hint;
    this.details = init.details;
    this.complete = init.complete ?? false;
  }
}

/** A failure of permission: the operating system's, or a policy's. */
export class FsPermissionError extends FilewrightError {
  override name = "FsPermissionError";
  /** As Node names it, for programs that look at nothing else. */
  readonly errno = "EACCES";
}

/** A path that leads outside what the policy allows; code `OUTSIDE_ALLOWED`. */
export class SandboxViolation extends FsPermissionError {
  override name = "SandboxViolation";

  constructor(message: string, init: ErrorInit = {}) {
    super("OUTSIDE_ALLOWED", message, init);
  }
}

/** Makes the right class for a code. */
export function makeError(code: Code, message: string, init: ErrorInit = {}): FilewrightError {
  if (code === "OUTSIDE_ALLOWED") return new SandboxViolation(message, init);
  if (code === "PERMISSION_DENIED") return new FsPermissionError(code, message, init);
  return new FilewrightError(code, message, init);
}

const known: ReadonlySet<string> = new Set(CODES);

/** Whether a value is one of the closed list of codes. */
export function isCode(value: unknown): value is Code {
  return typeof value === "string" && known.has(value);
}

/**
 * Turns whatever an engine threw into a {@link FilewrightError}. Engines throw
 * `Error` whose message is the JSON form of the core's error; anything else is
 * a defect and becomes `INTERNAL`.
 */
export function fromEngine(thrown: unknown): FilewrightError {
  if (thrown instanceof FilewrightError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  if (text.startsWith("{")) {
    try {
      const { code, message, hint, details } = JSON.parse(text) as Record<string, unknown>;
      if (isCode(code)) {
        return makeError(code, String(message), {
          hint: hint as string | undefined,
          details: details as Record<string, unknown> | undefined,
        });
      }
    } catch {
      // Not an engine's JSON: handled below as a defect.
    }
  }
  return new FilewrightError("INTERNAL", "the engine failed unexpectedly", { cause: thrown });
}

/** What can be given up. */
export interface Signalled {
  readonly signal?: AbortSignal | undefined;
}

/** @throws FilewrightError CANCELLED */
export function checkAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new FilewrightError("CANCELLED", "the call was cancelled");
}
