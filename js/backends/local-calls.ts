/** Around the native calls of a local backend: failures at their path, flags, results. */
import { FilewrightError, fromEngine, makeError } from "../engine/errors.ts";
import { DURABILITY, TRANSFER_FLAGS, WRITE_FLAGS } from "../engine/roots.ts";
import { type Packed, unpack } from "../engine/unpack.ts";
import type { TreeCounts, WriteResult } from "./backend.ts";
import { failure } from "./failure.ts";
import type { LocalOptions, LocalTransferOptions, LocalWriteOptions } from "./local-options.ts";
import { fileIdOf, statOf } from "./local-unpack.ts";
import { checkPath } from "./paths.ts";

/** Whether a text can be a path at all. */
export function isPath(path: string): boolean {
  try {
    checkPath(path);
    return true;
  } catch {
    return false;
  }
}

/** An engine's failure, at the path that was asked for. */
function at(path: string, thrown: unknown): FilewrightError {
  const { code, message, hint, details, cause } = fromEngine(thrown);
  return makeError(code, message, { path, hint, details, cause });
}

/** Runs a native call; its failure names the path. */
export function guard<T>(path: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw at(path, error);
  }
}

/** Waits for a native call; its failure names the path. */
export function settle<T>(path: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw at(path, error);
  });
}

/** What a move or copy fails with because of what is, or comes, at its target. */
const IN_THE_WAY: ReadonlySet<string> = new Set(["ALREADY_EXISTS", "NOT_EMPTY", "NO_SPACE"]);

/** Waits for a move or copy; its failure names the target where that is what is in the way. */
export function transferred<T>(to: string, promise: Promise<T>): Promise<T> {
  return promise.catch((error: unknown) => {
    throw error instanceof FilewrightError && IN_THE_WAY.has(error.code) ? at(to, error) : error;
  });
}

/** What a write made. */
export function written(packed: Packed, path: string): WriteResult {
  const reader = unpack(packed);
  const { version } = statOf(reader, path);
  const made = resultOf(version as string);
  reader.flag(); // Whether the file is new.
  const otherNames = reader.num();
  const inPlace = reader.flag();
  if (otherNames === 0 && !inPlace) return made;
  return Object.freeze({
    ...made,
    ...(inPlace ? { inPlace } : {}),
    ...(otherNames > 0 ? { otherNames } : {}),
  });
}

/** What a write, copy or move made, from the version of the file. */
export function resultOf(version: string): WriteResult {
  return Object.freeze({ version, fileId: fileIdOf(version) });
}

/** The flags of a move or copy. */
export function transferFlags(options: LocalTransferOptions, backend: LocalOptions): number {
  return (
    (options.overwrite === true ? TRANSFER_FLAGS.overwrite : 0) |
    (options.createDirs === true ? TRANSFER_FLAGS.createDirs : 0) |
    (backend.preserve === "strict" ? TRANSFER_FLAGS.strict : 0)
  );
}

/** What an operation on a tree touched. */
export function countsOf(packed: Packed): TreeCounts {
  const { 0: files = 0, 1: directories = 0, 2: bytes = 0 } = packed.nums;
  return Object.freeze({ files, directories, bytes });
}

/** The number for how hard a change is pushed to the disk. */
export function durabilityOf(call: Pick<LocalOptions, "durability">, backend: LocalOptions): number {
  return DURABILITY[call.durability ?? backend.durability ?? "atomic"];
}

/** Checks permission bits. @throws INVALID_ARGUMENT */
export function checkMode(path: string, mode: number): void {
  if (!Number.isSafeInteger(mode) || mode < 0 || mode > 0o7777) {
    throw failure("INVALID_ARGUMENT", path, "mode must be permission bits, 0 to 0o7777");
  }
}

/** A write's options as they cross. */
export interface WriteManner {
  readonly ifVersion: string | undefined;
  readonly flags: number;
  readonly mode: number;
  readonly durability: number;
}

/** Turns the options of a write into what crosses. @throws INVALID_ARGUMENT for a mode that is none */
export function mannerOf(path: string, options: LocalWriteOptions, backend: LocalOptions): WriteManner {
  const { ifVersion, ifAbsent, createDirs, append, mode } = options;
  if (mode !== undefined) checkMode(path, mode);
  const flags =
    (ifAbsent === true ? WRITE_FLAGS.ifAbsent : 0) |
    (createDirs === true ? WRITE_FLAGS.createDirs : 0) |
    (append === true ? WRITE_FLAGS.append : 0) |
    (backend.preserve === "strict" ? WRITE_FLAGS.strict : 0);
  return { ifVersion, flags, mode: mode ?? -1, durability: durabilityOf(options, backend) };
}
