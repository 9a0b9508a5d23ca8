/**
 * `filewright/files`: for authors of storages. It has the contract {@link Storage} with its types, and the rules that all
 * storages share: their errors, the checks of arguments and options, the meaning of a commit, and the merge of a fork.
 * `@filewright/storage` is built on this entry alone.
 *
 * @module filewright/files
 */
export * from "../storage/storage.ts";
export { probeStorage, type ProbeStorageOptions } from "../storage/probe.ts";

// Errors, in the one form that callers know.
export {
  checkAborted,
  type Code,
  type ErrorInit,
  FilewrightError,
  makeError,
  type Signalled,
} from "../engine/errors.ts";
export { backendError } from "../backends/failure.ts";
export { closedError, conflictError, fencedError, unknownVersionError } from "../storage/failure.ts";
export { counterError, unmetError, type UnmetRecord } from "../records/check.ts";

// Types, paths and modes.
export type { MaybePromise } from "../backends/backend.ts";
export { byteLength, compareCodePoints, isWithin, parentOf, sortCodePoints } from "../backends/paths.ts";
export { type Changed, DEFAULT_DIR_MODE, PERMISSION_BITS } from "../backends/entry.ts";

// The checks of a call before anything is done.
export { checkStorageCalls } from "../storage/call-options.ts";
export { checkOps, checkStoredPath, pathsOfOp, unmetBy } from "../storage/check.ts";
export { checkCount, checkLimit, checkRecordName, counterOf, jsonOfRecord } from "../records/check.ts";

// The options of the function that opens a storage.
export {
  anyText,
  callback,
  either,
  instance,
  integer,
  nullable,
  type Option,
  type OptionalOption,
  type OptionCheck,
  optionChecker,
  type Options,
  options,
  required,
  type RequiredOption,
  type Rows,
  text,
  urlOption,
} from "../schema/option.ts";
export { importPackage, type NeededPackage } from "../schema/optional-packages.ts";

// The meaning of a commit, the pages of changes, and the merge of a fork.
export {
  draftChanges,
  type DraftedChanges,
  type DraftOrigin,
  type EntrySource,
  type ReadyOp,
} from "../storage/draft.ts";
export { changePage, type LastChange } from "../storage/past.ts";
export {
  type MergeAttempt,
  mergeCommit,
  mergeFork,
  type MergePlan,
  type MergeSide,
  type MergeSides,
  toPlanned,
} from "../storage/merge.ts";
