/** Maps the error codes of Node's file system, which its imitations share, to those of this package. */
import { failure } from "../../backends/failure.ts";
import { type Code, FilewrightError } from "../../engine/errors.ts";

const CODE_OF_ERRNO: Readonly<Record<string, Code>> = {
  ENOENT: "NOT_FOUND",
  EEXIST: "ALREADY_EXISTS",
  EISDIR: "IS_DIRECTORY",
  ENOTDIR: "NOT_DIRECTORY",
  ENOTEMPTY: "NOT_EMPTY",
  EACCES: "PERMISSION_DENIED",
  EPERM: "PERMISSION_DENIED",
  ELOOP: "LOOP",
  ENAMETOOLONG: "NAME_TOO_LONG",
  EROFS: "READ_ONLY",
  ENOSPC: "NO_SPACE",
  EDQUOT: "NO_SPACE",
  ENOSYS: "UNSUPPORTED_OPERATION",
  ENOTSUP: "UNSUPPORTED_OPERATION",
};

/** Runs one operation on a path, and converts its error. */
export async function translated<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof FilewrightError) throw error;
    throw failure(CODE_OF_ERRNO[codeOf(error)] ?? "IO_ERROR", path, undefined, { cause: error });
  }
}

/** Returns a code such as `ENOENT`; empty without one. */
export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}
