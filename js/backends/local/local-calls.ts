/** Helpers around the native calls of a local backend: error paths, flags, results. */
import { FilewrightError, fromEngine, makeError } from "../../engine/errors.ts";
import {
  CHANGE_FLAGS,
  DURABILITY_WORDS,
  decodeTreeCounts,
  decodeWrittenFile,
} from "../../engine/generated/records.ts";
import { type Packed, unpack } from "../../engine/wire/unpack.ts";
import type { TreeCounts, WriteResult } from "../backend.ts";
import { backendError } from "../failure.ts";
import type { LocalOptions, LocalTransferOptions, LocalWriteOptions } from "./local-options.ts";
import { fileIdOf } from "./local-unpack.ts";
import { checkPath } from "../paths.ts";

/** Returns true when a text can be a path. */
export function isPath(path: string): boolean {
  try {
    checkPath(path);
    return true;
  } catch {
    return false;
  }
}

/** Returns an error of the engine with the path that the caller gave. */
function errorAt(path: string, thrown: unknown): FilewrightError {
  const { code, message, hint, details, cause } = fromEngine(thrown);
  return makeError(code, message, { path, hint, details, cause });
}

/** Runs a native call. Its error names the path that the caller gave. */
export function withPathInError<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw errorAt(path, error);
  }
}

/** Awaits a native call. Its error names the path that the caller gave. */
export function withPathInRejection<T>(path: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw errorAt(path, error);
  });
}

/** Error codes of a move or copy that are about the target. */
const TARGET_ERRORS: ReadonlySet<string> = new Set(["ALREADY_EXISTS", "NOT_EMPTY", "NO_SPACE"]);

/** Awaits a move or copy. If the target is the cause of an error, the error names it. */
export function withTargetInError<T>(to: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw error instanceof FilewrightError && TARGET_ERRORS.has(error.code) ? errorAt(to, error) : error;
  });
}

/** Decodes the result of a write. */
export function decodeWriteResult(packed: Packed): WriteResult {
  const { version, otherNames, inPlace } = decodeWrittenFile(unpack(packed));
  const made = resultOf(version);
  if (otherNames === 0 && !inPlace) return made;
  return Object.freeze({
    ...made,
    ...(inPlace ? { inPlace } : {}),
    ...(otherNames > 0 ? { otherNames } : {}),
  });
}

/** Returns the result of a write, copy or move for the version of its file. */
export function resultOf(version: string): WriteResult {
  return Object.freeze({ version, fileId: fileIdOf(version) });
}

/** Encodes the flags of a move or copy. */
export function transferFlags(options: LocalTransferOptions, backend: LocalOptions): number {
  return (
    (options.overwrite === true ? CHANGE_FLAGS.overwrite : 0) |
    (options.createDirs === true ? CHANGE_FLAGS.createDirs : 0) |
    (backend.preserve === "strict" ? CHANGE_FLAGS.strict : 0)
  );
}

/** Decodes the counts of an operation on a tree. */
export function decodeTreeResult(packed: Packed): TreeCounts {
  return Object.freeze(decodeTreeCounts(unpack(packed)));
}

/** Returns the durability of a call as the number that the addon takes. */
export function nativeDurability(call: Pick<LocalOptions, "durability">, backend: LocalOptions): number {
  return DURABILITY_WORDS.indexOf(call.durability ?? backend.durability ?? "atomic");
}

/** Checks permission bits. @throws INVALID_ARGUMENT */
export function checkMode(path: string, mode: number): void {
  if (!Number.isSafeInteger(mode) || mode < 0 || mode > 0o7777) {
    throw backendError("INVALID_ARGUMENT", path, "mode must be permission bits, 0 to 0o7777");
  }
}

/** The options of a write in the form the binding takes. */
export interface NativeWriteOptions {
  readonly ifVersion: string | undefined;
  readonly flags: number;
  readonly mode: number;
  readonly durability: number;
}

/** Converts the options of a write for the binding. @throws INVALID_ARGUMENT for an invalid mode */
export function nativeWriteOptions(
  path: string,
  options: LocalWriteOptions,
  backend: LocalOptions,
): NativeWriteOptions {
  const { ifVersion, ifAbsent, createDirs, append, mode } = options;
  if (mode !== undefined) checkMode(path, mode);
  const flags =
    (ifAbsent === true ? CHANGE_FLAGS.ifAbsent : 0) |
    (createDirs === true ? CHANGE_FLAGS.createDirs : 0) |
    (append === true ? CHANGE_FLAGS.append : 0) |
    (backend.preserve === "strict" ? CHANGE_FLAGS.strict : 0);
  return { ifVersion, flags, mode: mode ?? -1, durability: nativeDurability(options, backend) };
}
