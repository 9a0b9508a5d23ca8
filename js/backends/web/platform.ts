/**
 * Converts the exceptions of browsers, and the names of entries.
 *
 * A handle refuses `\` in a name, which is a plain character here. It is stored as U+F05C, as in the Windows
 * Subsystem for Linux and Samba. A name that contains U+F05C itself is refused, so that the conversion is
 * reversible.
 */
import { randomHex } from "../../engine/hex.ts";
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../failure.ts";

/** Returns the name of an exception, which tells its kind, also for one from another realm. */
export function exceptionName(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : "";
}

/** Returns the error here for an exception of the browser. An error of this package is returned unchanged. */
export async function convertException(error: unknown, path: string): Promise<unknown> {
  if (error instanceof FilewrightError) return error;
  const init = { cause: error };
  switch (exceptionName(error)) {
    case "NotFoundError":
      return backendError("NOT_FOUND", path, undefined, init);
    case "TypeMismatchError":
      return backendError("NOT_DIRECTORY", path, undefined, init);
    case "InvalidModificationError":
      return backendError("NOT_EMPTY", path, undefined, init);
    case "NotAllowedError":
    case "SecurityError":
      return backendError("PERMISSION_DENIED", path, "the user has not allowed this", {
        ...init,
        hint: "the page has to ask for it again while a click is handled",
      });
    case "NoModificationAllowedError":
      return backendError("LOCK_TIMEOUT", path, "another page or worker holds the file open", {
        ...init,
        hint: "try again when it has finished",
      });
    case "QuotaExceededError":
      return backendError("NO_SPACE", path, "the browser gives this site no more space", {
        ...init,
        ...(await storageDetails()),
      });
    case "TypeError":
      return backendError("INVALID_ARGUMENT", path, "the browser does not allow this name", init);
    default:
      return backendError("IO_ERROR", path, "the browser could not do it", init);
  }
}

/** Returns the used and the available bytes, where the browser reports them. */
async function storageDetails(): Promise<{ readonly details?: Readonly<Record<string, unknown>> }> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return { details: { usage, quota } };
  } catch {
    return {};
  }
}

const BACKSLASH_SUBSTITUTE = "\uf05c";
const WEB_TEMP_NAME = /^\.filewright-web-[0-9a-f]{16}$/;

/** Returns the name of an entry as handles take it. @throws INVALID_ARGUMENT */
export function toHandleName(name: string, path: string): string {
  if (name.includes(BACKSLASH_SUBSTITUTE))
    throw backendError("INVALID_ARGUMENT", path, "the name holds U+F05C");
  return name.includes("\\") ? name.replaceAll("\\", BACKSLASH_SUBSTITUTE) : name;
}

/** Returns the name of an entry as callers see it. */
export function fromHandleName(name: string): string {
  return name.includes(BACKSLASH_SUBSTITUTE) ? name.replaceAll(BACKSLASH_SUBSTITUTE, "\\") : name;
}

/** Returns an unguessable name for a temporary file. */
export function freshTempName(): string {
  return `.filewright-web-${randomHex(8)}`;
}

/** Returns true for a name that {@link freshTempName} returned. Listings leave these files out. */
export function isWebTempName(name: string): boolean {
  return WEB_TEMP_NAME.test(name);
}
