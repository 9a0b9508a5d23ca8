/**
 * Why a file is not rendered: the failures of readers, as clauses that follow
 * "P is MIME and …". The workspace adds the path.
 */
import { type FilewrightError, makeError } from "../engine/errors.ts";

/** The kind cannot be shown, for a reason that programs can read. */
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

/** Beyond a limit, both in bytes. */
export function tooLarge(size: number, limit: number, hint?: string, details?: object): FilewrightError {
  return makeError("TOO_LARGE", `${size} bytes, and the limit is ${limit}`, {
    hint,
    details: { size, limit, ...details },
  });
}

/** A wrong argument of the read; the sentence is complete. */
export function badArgument(
  argument: "pages" | "json_pointer",
  sentence: string,
  details?: object,
): FilewrightError {
  return makeError("INVALID_ARGUMENT", sentence, { complete: true, details: { argument, ...details } });
}

/** @throws CANCELLED when the signal has fired */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw makeError("CANCELLED", "the call was cancelled");
}

/**
 * An optional package, loaded when it is first needed.
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
 * For `import(…).catch(absent)`: bundlers then leave a package that is not
 * installed until it is needed, instead of failing. webpack has no such rule
 * and is told by `webpackIgnore`.
 */
export function absent(cause: unknown): never {
  throw cause;
}
