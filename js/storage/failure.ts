/** The errors that every storage throws in the same form. */
import { type Code, FilewrightError } from "../engine/errors.ts";
import { backendError } from "../backends/failure.ts";
import type { UnmetRecord } from "../records/check.ts";
import type { UnmetExpect } from "./commit.ts";

/** Creates the error of a commit whose conditions did not hold. `details.conflicts` has every one of them. */
export function conflictError(conflicts: readonly (UnmetExpect | UnmetRecord)[]): FilewrightError {
  const [first] = conflicts;
  const path = first !== undefined && "path" in first ? first.path : undefined;
  return new FilewrightError("CONFLICT", "the storage has changed since it was read", {
    path,
    details: { conflicts },
  });
}

/** Creates the error of a commit whose locks another holder was given since. */
export function fencedError(): FilewrightError {
  return new FilewrightError("CONFLICT", "another holder was given the lock", {
    details: { conflicts: [], reason: "fenced" },
  });
}

/** Creates the error of a call after `close`. */
export function closedError(): FilewrightError {
  return new FilewrightError("UNSUPPORTED_OPERATION", "the storage is closed");
}

/** Creates the error of a version that no snapshot keeps. */
export function unknownVersionError(version: string): FilewrightError {
  return new FilewrightError("INVALID_ARGUMENT", `no state is kept with the version '${version}'`);
}

/** Creates the error of a directory that cannot be listed, with the code that its entry has. */
export function unlistedError(path: string, code: Code): FilewrightError {
  return backendError(code, path, "the directory cannot be listed");
}
