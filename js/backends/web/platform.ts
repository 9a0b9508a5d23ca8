/**
 * What differs between a browser's handles and a backend: exceptions, and names of entries.
 *
 * A handle refuses `\` in a name, which is a plain character here. It is stored as U+F05C, as in
 * Windows' subsystem for Linux and Samba; a name that contains that character itself is refused,
 * so the mapping is one to one.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { backendError } from "../failure.ts";

/** Returns the name of an exception, which identifies its kind, across realms too. */
export function nameOfError(error: unknown): string {
  return error instanceof Error || error instanceof DOMException ? error.name : "";
}

/** Converts an exception of the platform; our own errors pass unchanged. */
export async function fromPlatform(error: unknown, path: string): Promise<unknown> {
  if (error instanceof FilewrightError) return error;
  const init = { cause: error };
  switch (nameOfError(error)) {
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
        ...(await spaceError()),
      });
    case "TypeError":
      return backendError("INVALID_ARGUMENT", path, "the browser does not allow this name", init);
    default:
      return backendError("IO_ERROR", path, "the browser could not do it", init);
  }
}

/** Returns the used and the available bytes, where the browser reports them. */
async function spaceError(): Promise<{ readonly details?: Readonly<Record<string, unknown>> }> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return { details: { usage, quota } };
  } catch {
    return {};
  }
}

const BACKSLASH_SUBSTITUTE = "\uf05c";
const TEMP_NAME = /^\.filewright-web-[0-9a-f]{16}$/;

/** Returns the handle's name of an entry. @throws INVALID_ARGUMENT */
export function toHandleName(name: string, path: string): string {
  if (name.includes(BACKSLASH_SUBSTITUTE))
    throw backendError("INVALID_ARGUMENT", path, "the name holds U+F05C");
  return name.includes("\\") ? name.replaceAll("\\", BACKSLASH_SUBSTITUTE) : name;
}

/** Returns the shown name of an entry. */
export function fromHandleName(name: string): string {
  return name.includes(BACKSLASH_SUBSTITUTE) ? name.replaceAll(BACKSLASH_SUBSTITUTE, "\\") : name;
}

/** Returns an unguessable name for a temporary file. */
export function freshTempName(): string {
  const nonce = [...crypto.getRandomValues(new Uint8Array(8))];
  return `.filewright-web-${nonce.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/** Returns true for the name of one of our temporary files, which listings omit. */
export function isTempName(name: string): boolean {
  return TEMP_NAME.test(name);
}
