/**
 * An object in the shape of the `fs` of Node: the methods of it that are used, its error codes, and the resolution
 * of links over it. Imitations resolve links differently: one resolves `..` in a target without looking at links,
 * another never returns from a loop. So they never get a path that contains a link.
 */
import { backendError } from "../../backends/failure.ts";
import { type Code, FilewrightError } from "../../engine/errors.ts";
import { resolveLinks, type FoundEntry } from "../../backends/fallback/links.ts";

/** The used properties of Node's `Stats`. */
export interface NodeStats {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
  readonly size: number | bigint;
  readonly mtimeMs: number | bigint;
  readonly ctimeMs?: number | bigint;
  readonly atimeMs?: number | bigint;
  readonly birthtimeMs?: number | bigint;
  readonly mode?: number | bigint;
  readonly nlink?: number | bigint;
}

/** The used methods of `fs.promises`. */
export interface NodeFsPromises {
  readFile(path: string): Promise<unknown>;
  writeFile(path: string, data: Uint8Array, options?: { flag?: string }): Promise<void>;
  stat(path: string): Promise<unknown>;
  readdir(path: string): Promise<unknown>;
  mkdir(path: string, options?: { recursive?: boolean }): Promise<unknown>;
  rmdir(path: string): Promise<void>;
  unlink(path: string): Promise<void>;
  lstat?(path: string): Promise<unknown>;
  rename?(from: string, to: string): Promise<void>;
  readlink?(path: string): Promise<unknown>;
  symlink?(target: string, path: string): Promise<void>;
  chmod?(path: string, mode: number): Promise<void>;
}

/** An object in the shape of Node's `fs`. */
export interface NodeFs {
  readonly promises: NodeFsPromises;
}

/** The error code here for each code of the file system of Node, which imitations use too. */
const CODE_BY_ERRNO: Readonly<Record<string, Code>> = {
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
export async function translateError<T>(path: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    if (error instanceof FilewrightError) throw error;
    throw backendError(CODE_BY_ERRNO[errnoCodeOf(error)] ?? "IO_ERROR", path, undefined, { cause: error });
  }
}

/** Returns a code such as `ENOENT`; empty without one. */
export function errnoCodeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

/** Options for {@link realPathOf}. */
export interface RealOptions {
  /** True to follow a link that is the last name of the path. */
  readonly follow: boolean;
  /**
   * With true, the missing end of a link that names a directory (`gone/`) is kept. Default: such a path is
   * NOT_FOUND.
   */
  readonly keepMissingDirectory?: boolean;
}

/**
 * Returns the real path of a normalised one. Missing names at its end are kept.
 *
 * @throws FilewrightError LOOP, NOT_DIRECTORY, NOT_FOUND (`..` after a missing name),
 * NAME_TOO_LONG
 */
export async function realPathOf(host: NodeFsPromises, path: string, options: RealOptions): Promise<string> {
  const { lstat, readlink } = host;
  if (lstat === undefined || readlink === undefined) return path;
  const look = async (at: string): Promise<FoundEntry | null> => {
    const stats = await lstat.call(host, at).catch((error: unknown) => {
      if (errnoCodeOf(error) === "ENOENT" || errnoCodeOf(error) === "ENOTDIR") return undefined;
      throw error;
    });
    if (stats === undefined) return null;
    const { isSymbolicLink, isDirectory } = stats as NodeStats;
    if (isSymbolicLink.call(stats)) return { type: "symlink", target: String(await readlink.call(host, at)) };
    return { type: isDirectory.call(stats) ? "dir" : "file" };
  };
  return resolveLinks(path, { ...options, look });
}
