/**
 * Creates the errors of readers. Their messages are clauses that follow "P is MIME and …"; the workspace adds
 * the path P.
 */
import { withoutUndefined } from "../schema/without-undefined.ts";
import { type FilewrightError, makeError } from "../engine/errors.ts";
import { importOptional, type OptionalPackageName, PackageProblem } from "../schema/optional-packages.ts";

/** Creates the error for a kind of file that cannot be shown, with a reason for programs in `details`. */
export function unsupportedFormatError(
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
    details: withoutUndefined({ mime, reason, ...details }),
  });
}

/** Creates the error for a size that exceeds a limit; both are in bytes. */
export function tooLargeError(size: number, limit: number, hint?: string, details?: object): FilewrightError {
  return makeError("TOO_LARGE", `${size} bytes, and the limit is ${limit}`, {
    hint,
    details: { size, limit, ...details },
  });
}

/** Creates the error for an invalid argument of a read. `what` is a complete sentence. */
export function invalidArgumentError(
  argument: "pages" | "json_pointer",
  sentence: string,
  details?: object,
): FilewrightError {
  return makeError("INVALID_ARGUMENT", sentence, { complete: true, details: { argument, ...details } });
}

/** Throws if the signal is aborted. @throws CANCELLED */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw makeError("CANCELLED", "the call was cancelled");
}

/**
 * Loads an optional package when it is first needed.
 * @throws UNSUPPORTED_FORMAT that names the package if it is not installed, or too old
 */
export async function loadOptionalPackage<M extends object>(
  name: OptionalPackageName,
  mime: string,
  load: () => Promise<M>,
): Promise<M> {
  const module = await importOptional(name, load);
  if (!(module instanceof PackageProblem)) return module;
  const { reason, clause, remedy: hint, cause } = module;
  const details = { package: name };
  throw unsupportedFormatError(mime, `needs the optional package ${name}, which ${clause}`, {
    reason,
    hint,
    details,
    cause,
  });
}

/**
 * Rethrows the failure of an import, as in `import(…).catch(absent)`. Because of the `catch`, bundlers accept
 * a package that is not installed; webpack also needs `webpackIgnore`.
 */
export function rethrowImportFailure(cause: unknown): never {
  throw cause;
}
