/** The errors of readers, as clauses that follow "P is MIME and …". The workspace adds the path. */
import { type FilewrightError, makeError } from "../engine/errors.ts";

/** Creates the error for a kind that cannot be shown, with a reason for programs. */
export function unsupported(
  mime: string,
  clause: string,
  more: {
    readonly reason?: string;
    readonly hint?: string;
    readonly details?: object;
    readonly cause?: unknown;
  } = {},
): FilewrightError {
  const { reason, hint, details, cause } = more;
  return makeError("UNSUPPORTED_FORMAT", clause, {
    hint,
    cause,
    details: { mime, ...(reason === undefined ? {} : { reason }), ...details },
  });
}

/** Creates the error for a size beyond a limit, both in bytes. */
export function tooLarge(size: number, limit: number, hint?: string, details?: object): FilewrightError {
  return makeError("TOO_LARGE", `${size} bytes, and the limit is ${limit}`, {
    hint,
    details: { size, limit, ...details },
  });
}

/** Creates the error for an invalid argument of the read; the sentence is complete. */
export function badArgument(
  argument: "pages" | "json_pointer",
  sentence: string,
  details?: object,
): FilewrightError {
  return makeError("INVALID_ARGUMENT", sentence, { complete: true, details: { argument, ...details } });
}

/** @throws CANCELLED when the signal is aborted */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw makeError("CANCELLED", "the call was cancelled");
}

/**
 * Loads an optional package on its first use.
 * @throws UNSUPPORTED_FORMAT that names the package
 */
export async function optionalPackage<M>(name: string, mime: string, load: () => Promise<M>): Promise<M> {
  try {
    return await load();
  } catch (cause) {
    throw unsupported(mime, `needs the optional package ${name}, which is not installed`, {
      reason: "missing_package",
      hint: `npm install ${name}`,
      details: { package: name },
      cause,
    });
  }
}

/**
 * For `import(…).catch(absent)`: with it bundlers leave out a package that is not installed,
 * instead of failing. webpack needs `webpackIgnore` for that.
 */
export function absent(cause: unknown): never {
  throw cause;
}
