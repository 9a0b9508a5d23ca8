/**
 * Carries out a plan of a rewind. An undo is the rewind of one record; it fails where a rewind would leave a path
 * (docs/decisions/0030).
 */
import type { Files } from "../../backends/files.ts";
import { backendError } from "../../backends/failure.ts";
import { parentOf } from "../../backends/paths.ts";
import { type Code, FilewrightError, makeError } from "../../engine/errors.ts";
import { rollBack } from "../../backends/transaction/rollback.ts";
import type { ChangeFacts, HistoryRecord, Log, LoggedChange, PastSteps } from "../log.ts";
import { planRewind, type RewindPlan } from "./plan.ts";
import type { JoinedSteps } from "./steps.ts";

/** Codes of failures whose cause is another state of the files. After any other one the same attempt may succeed later. */
const FILE_STATE_CODES: ReadonlySet<Code> = new Set<Code>([
  "NOT_FOUND",
  "LOOP",
  "NOT_REGULAR_FILE",
  "OUTSIDE_ALLOWED",
]);

/** The remedies for failures of the storage, which are not those of single paths. */
const REMEDY_BY_CODE: Partial<Readonly<Record<Code, string>>> = {
  NO_SPACE: "try again once there is room",
  READ_ONLY: "try again once it can be written",
  PERMISSION_DENIED: "try again once it can be written",
  IO_ERROR: "try again once the storage works again",
};

/** Rolls back the steps of a plan. @throws CONFLICT with a path that cannot be put back, or the error of the storage */
export async function rollBackPlan(
  fs: Files,
  { steps, given }: JoinedSteps,
  signal: AbortSignal | undefined,
  hint?: string,
): Promise<void> {
  const { conflicts, failed, failure } = await rollBack(fs, steps, given, { undo: { signal } });
  const [left] = [...failed, ...conflicts];
  if (failure !== null && !FILE_STATE_CODES.has(failure.code)) throw storageFailure(left, failure, hint);
  if (left !== undefined) throw backendError("CONFLICT", left, "could not be put back", { hint });
}

/**
 * Returns the error of a storage that could not restore a path, with `otherwise` where its code has no remedy of its own.
 * One that names its own place stays as it is.
 */
function storageFailure(
  path: string | undefined,
  failure: FilewrightError,
  otherwise: string | undefined,
): FilewrightError {
  if (failure.complete) return failure;
  const { code, message, details, hint = REMEDY_BY_CODE[code] ?? otherwise } = failure;
  return makeError(code, message, { path, hint, details, cause: failure });
}

/** The facts that the caller gives about the change that an undo is itself. */
type UndoFacts = Pick<ChangeFacts, "callId" | "agent" | "signal" | "unreviewed" | "allowedBy">;

/** Plans the undo of a change. @throws CONFLICT when a path has changed since */
export async function planUndo(
  { isOneCommit }: Log,
  fs: Files,
  { record, made }: LoggedChange,
  signal: AbortSignal | undefined,
): Promise<RewindPlan> {
  const records = [record];
  const steps = async (): Promise<PastSteps> => made;
  const plan = await planRewind({ fs, records, steps, isUndone: () => true, isOneCommit, signal });
  const [changed] = plan.left;
  if (changed !== undefined) throw changedSinceError(changed.path);
  return plan;
}

/** Restores the state before a change, by another change. @throws CONFLICT when a path has changed since */
export async function undoChange(log: Log, fs: Files, change: LoggedChange, as: UndoFacts): Promise<void> {
  const { isOneCommit } = log;
  const { signal } = as;
  const { record } = change;
  const about: ChangeFacts = { ...as, tool: "undo", undoOf: record.header.callId, rollback: "always" };
  await log
    .append(fs, about, async (recording) => {
      if (isOneCommit) await makeDirectoriesOf(recording, record);
      await rollBackPlan(recording, await planUndo(log, recording, change, signal), signal);
    })
    .catch((error: unknown) => {
      // A storage finds out at its commit that a directory holds what others have made meanwhile.
      const isInUse = isOneCommit && error instanceof FilewrightError && error.code === "NOT_EMPTY";
      throw isInUse ? changedSinceError(error.path ?? "/") : error;
    });
}

function changedSinceError(path: string): FilewrightError {
  const hint = "undo the later changes first";
  return backendError("CONFLICT", path, "has changed since that call", { hint });
}

/** Makes the missing parents of all changed paths, as a storage does. Where the undo fails, its draft drops them. */
async function makeDirectoriesOf(fs: Files, { paths }: HistoryRecord): Promise<void> {
  const own = new Set(paths);
  for (const directory of new Set(paths.map(parentOf)))
    if (!own.has(directory)) await fs.mkdir(directory, { parents: true, existOk: true });
}
