/** The errors of the system as errors of the contract, with the codes and texts of `crates/fs/src/dir/errno.rs`. */
import { constants } from "node:os";
import { type Code, FilewrightError, makeError } from "../../engine/errors.ts";
import { nodePermissionError } from "../../engine/node-permission.ts";

/**
 * The code and the text for each error of the system, and where the text does not say it, why a file or directory of
 * Filewright's own cannot be made: its state directory, or the audit log.
 */
const ERRORS_BY_NAME: Readonly<Record<string, readonly [Code, string, reason?: string]>> = {
  ENOENT: ["NOT_FOUND", "no such file or directory", "it does not exist and cannot be created"],
  EACCES: ["PERMISSION_DENIED", "permission denied"],
  EPERM: ["PERMISSION_DENIED", "permission denied"],
  EROFS: ["READ_ONLY", "the file system is read-only"],
  EEXIST: ["ALREADY_EXISTS", "something is already there", "there is a file of that name"],
  EISDIR: ["IS_DIRECTORY", "is a directory", "it is a directory"],
  ENOTDIR: ["NOT_DIRECTORY", "not a directory", "part of its path is a file"],
  ENOTEMPTY: ["NOT_EMPTY", "directory is not empty"],
  ELOOP: ["LOOP", "too many symbolic links", "it is a symbolic link, or its path has too many"],
  ENAMETOOLONG: ["NAME_TOO_LONG", "file name is too long"],
  ENOSPC: ["NO_SPACE", "no space left on the disk"],
  EDQUOT: ["NO_SPACE", "the disk quota is used up"],
  EFBIG: ["TOO_LARGE", "larger than the file system allows"],
  ETXTBSY: ["PERMISSION_DENIED", "the file is a program that is running"],
  ENXIO: ["NOT_REGULAR_FILE", "neither a file nor a directory", "it is not a regular file"],
  EINVAL: ["INVALID_ARGUMENT", "the file system refuses the name or value"],
  EILSEQ: ["INVALID_ARGUMENT", "the file system refuses the bytes of the name"],
  ENOTSUP: ["UNSUPPORTED_OPERATION", "the file system does not support this"],
  EOPNOTSUPP: ["UNSUPPORTED_OPERATION", "the file system does not support this"],
  ENOSYS: ["UNSUPPORTED_OPERATION", "the file system does not support this"],
  EMFILE: ["IO_ERROR", "too many open files"],
  ENFILE: ["IO_ERROR", "too many open files"],
  EBUSY: ["IO_ERROR", "the file or directory is in use by the system"],
};

/** Returns the name of an error of the system, such as `ENOENT`; undefined for any other exception. */
export function systemErrorName(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof FilewrightError) return undefined;
  const { code, errno, syscall } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || syscall === undefined) return undefined;
  // libuv has no name for EDQUOT, so only the number tells it.
  return errno !== undefined && Math.abs(errno) === constants.errno.EDQUOT ? "EDQUOT" : code;
}

/** Returns why a file or directory of Filewright's own cannot be made, as a clause. `name` is that of the system's error. */
export function reasonOfSystemError(name: string): string {
  const [, text, reason = text] = ERRORS_BY_NAME[name] ?? [];
  return reason ?? name;
}

/** The errors of `fsync` on file systems that have none. */
const WITHOUT_FSYNC: ReadonlySet<string> = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

function noFsyncError(path: string): FilewrightError {
  const message = "the file system cannot make a change durable (fsync)";
  return makeError("UNSUPPORTED_OPERATION", message, { path, hint: 'use durability: "atomic"' });
}

/** The remedy where a process, or the system, has as many files open as it may. */
export const NO_DESCRIPTOR_HINT =
  "work on fewer paths in one call, or raise the limit of open files (ulimit -n)";

/** Returns true for the name of an error of a process, or of a system, that has as many files open as it may. */
export function isDescriptorError(name: string): boolean {
  return name === "EMFILE" || name === "ENFILE";
}

/** Returns an exception of `node:fs` as an error about a path. Any other exception is returned as it is. */
export function osError(error: unknown, path: string): unknown {
  const name = systemErrorName(error);
  if (name === undefined) return nodePermissionError(error, path) ?? error;
  const { errno: negative = 0, syscall } = error as NodeJS.ErrnoException;
  const errno = Math.abs(negative);
  if (syscall === "fsync" && WITHOUT_FSYNC.has(name)) return noFsyncError(path);
  const [code, reason] = ERRORS_BY_NAME[name] ?? ["IO_ERROR", "input/output failure"];
  const isOfMode = code !== "PERMISSION_DENIED" && (syscall === "fchmod" || syscall === "chmod");
  const message = isOfMode ? `its permission bits cannot be set: ${reason}` : reason;
  if (code === "IO_ERROR") {
    const hint = isDescriptorError(name) ? NO_DESCRIPTOR_HINT : undefined;
    return makeError(code, `${message} (os error ${errno})`, { path, hint, details: { errno } });
  }
  const details = code === "PERMISSION_DENIED" && name !== "ETXTBSY" ? { errno } : undefined;
  return makeError(code, message, { path, details });
}

/** Returns the error of a change that is made, and that the disk did not confirm: a crash may lose it. */
export function unconfirmedError(error: unknown, path: string): FilewrightError {
  const [, reason] = ERRORS_BY_NAME[systemErrorName(error) ?? ""] ?? ["IO_ERROR", "input/output failure"];
  // Any other code says that nothing was changed.
  return makeError("IO_ERROR", `the disk did not confirm the change: ${reason}`, {
    path,
    details: { reason: "flush" },
  });
}

/** Runs what follows a change that is made. @throws IO_ERROR of {@link unconfirmedError} for each exception of `node:fs` */
export function afterChange<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw systemErrorName(error) === undefined ? error : unconfirmedError(error, path);
  }
}

/** Runs calls of `node:fs`. Their exceptions become errors about `path`. */
export function withOsErrors<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw osError(error, path);
  }
}

/** The value of `details.reason` of the error of {@link pathChanged}. */
const PATH_CHANGED = "path_changed";

/**
 * Returns the error for a path that another program has changed since it was resolved: it is now a link, or leads
 * to another directory. The caller resolves the path again.
 */
export function pathChanged(path: string): FilewrightError {
  return makeError("CONFLICT", "the path is being changed by another program", {
    path,
    details: { reason: PATH_CHANGED },
  });
}

/** Returns true for the error of {@link pathChanged}. */
export function isPathChanged(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["reason"] === PATH_CHANGED;
}

/** Returns the error for a FIFO, socket or device where a regular file is needed. */
export function notRegular(path: string): FilewrightError {
  return makeError("NOT_REGULAR_FILE", "neither a file nor a directory", { path });
}

/** Returns the error for a file or entry that no longer has the expected version. */
export function versionConflict(
  path: string,
  message = "the file has changed since it was read",
): FilewrightError {
  return makeError("CONFLICT", message, { path, hint: "read the file again" });
}

/** Returns the error for an entry that cannot be renamed to be kept. Nothing has been changed. */
export function noAside(path: string): FilewrightError {
  return makeError("UNSUPPORTED_OPERATION", "the old entry cannot be set aside here", {
    path,
    details: { reason: "aside" },
  });
}
