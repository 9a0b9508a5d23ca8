/** Converts a browser's exceptions to errors of a backend. */
import { FilewrightError } from "../../engine/errors.ts";
import { failure } from "../failure.ts";

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
      return failure("NOT_FOUND", path, undefined, init);
    case "TypeMismatchError":
      return failure("NOT_DIRECTORY", path, undefined, init);
    case "InvalidModificationError":
      return failure("NOT_EMPTY", path, undefined, init);
    case "NotAllowedError":
    case "SecurityError":
      return failure("PERMISSION_DENIED", path, "the user has not allowed this", {
        ...init,
        hint: "the page has to ask for it again while a click is handled",
      });
    case "NoModificationAllowedError":
      return failure("LOCK_TIMEOUT", path, "another page or worker holds the file open", {
        ...init,
        hint: "try again when it has finished",
      });
    case "QuotaExceededError":
      return failure("NO_SPACE", path, "the browser gives this site no more space", {
        ...init,
        ...(await space()),
      });
    case "TypeError":
      return failure("INVALID_ARGUMENT", path, "the browser does not allow this name", init);
    default:
      return failure("IO_ERROR", path, "the browser could not do it", init);
  }
}

/** Returns the used and the available bytes, where the browser reports them. */
async function space(): Promise<{ readonly details?: Readonly<Record<string, unknown>> }> {
  try {
    const { usage, quota } = await navigator.storage.estimate();
    return { details: { usage, quota } };
  } catch {
    return {};
  }
}
