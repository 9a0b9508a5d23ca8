/**
 * A change that is one written file: the disk writes the file and the record of the change in one step.
 *
 * The record has the entries that the same change has when it is made by steps, so that nothing else need know of this
 * way. Where a record cannot be begun, the old content is too large, or directories are missing, nothing has changed yet,
 * and the change is made by steps.
 */
import type { VersionedBytes, WriteOptions } from "../backends/backend.ts";
import type { Files } from "../backends/files.ts";
import { backendError, isUncertain } from "../backends/failure.ts";
import { imageOfFile, type PreImage } from "../backends/transaction/pre-image.ts";
import {
  type PutFile,
  type RecordedWrite,
  UNKNOWN_MOMENT,
  UNKNOWN_RESULT,
} from "../backends/transaction/recorded-write.ts";
import {
  type PathStep,
  type RecordEntry,
  type RecordHeader,
  type StepResult,
  toFrame,
  toStepResult,
} from "../backends/transaction/step.ts";
import { Transaction, type TransactionOptions } from "../backends/transaction/transaction.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { lastMoment, noteMoment } from "./call-id.ts";
import type { RollbackRetries } from "./recovery.ts";
import type { RecordOnDisk, RecordFiles } from "./store.ts";
import type { Made, OnePut } from "./log.ts";

/** The journal of a change by one put. */
interface PutJournal {
  readonly files: RecordFiles;
  readonly retries: RollbackRetries;
  readonly storage: string | undefined;
  readonly durable: boolean;
  readonly limits: Pick<TransactionOptions, "maxBytes" | "maxSteps">;
}

/** The parts of a change by one put. */
interface OnePutParts {
  readonly fs: Files;
  readonly write: RecordedWrite;
  /** The file to write, as the plan found it. */
  readonly put: OnePut;
  readonly header: RecordHeader;
  readonly place: PutJournal;
}

/** A put that was made, or may have been: its result is unknown then. */
interface MadePut {
  readonly step: PathStep;
  readonly given: StepResult | undefined;
  readonly record: RecordOnDisk;
}

/**
 * Makes a change whose one put writes the record as well, or else makes it by steps.
 * @throws any error of `run`, after the rollback
 */
export async function changeByOnePut<T>(
  parts: OnePutParts,
  run: (fs: Files, put: PutFile) => Promise<T>,
  bySteps: () => Promise<Made<T>>,
): Promise<Made<T>> {
  const change = new PutWithRecord(parts);
  let result: T;
  try {
    result = await run(parts.fs, change.put);
  } catch (error) {
    if (change.isForSteps) return bySteps();
    throw await change.rolledBack(error);
  }
  if (change.isUnseen) throw await change.rolledBack(unrecordedError(parts.put.path));
  return { result, undo: change.close() };
}

class PutWithRecord {
  /** True when nothing was changed, and the change has to be made by steps. */
  isForSteps = false;
  /** The put, once it was made or may have been. */
  #made: MadePut | undefined;
  #isWhole = false;
  readonly #parts: OnePutParts;

  constructor(parts: OnePutParts) {
    this.#parts = parts;
  }

  readonly put: PutFile = async (path, bytes, options) => {
    const step = await this.#stepOf(path, bytes, options);
    const record = step && this.#begin();
    if (step === undefined || record === undefined) return this.#leaveToSteps();
    const { header, put, write, place } = this.#parts;
    const entries: readonly RecordEntry[] = [
      { entry: "begin", header },
      { entry: "steps", steps: [step] },
      commitOf(step),
    ];
    const [begin, steps, commit] = entries.map((entry) => toFrame(entry).json);
    try {
      const { createDirs: _, ...conditions } = options;
      const { written, moment } = await write(path, bytes, conditions, {
        ...{ place: record.place, id: header.callId, durable: place.durable, last: lastMoment() },
        ...{ begin: begin as string, steps: steps as string, commit: commit as string },
        content: put.was?.bytes ?? NO_BYTES,
      });
      if (moment !== null) noteMoment(moment);
      this.#isWhole = moment !== null;
      this.#made = { step, given: toStepResult(written), record };
      return written;
    } catch (error) {
      return this.#refused(error, { step, options, record });
    }
  };

  /** True for a change to be reviewed after it was made, whose record has no end: no list would show it. */
  get isUnseen(): boolean {
    return this.#parts.header.unreviewed === true && this.#made !== undefined && !this.#isWhole;
  }

  /** Ends a change that was made. Returns whether it can be undone. */
  close(): "undoable" | "nothing" {
    if (this.#made !== undefined) this.#end(this.#made.record, this.#isWhole ? this.#parts.header.cwd : null);
    return this.#isWhole ? "undoable" : "nothing";
  }

  /** Rolls back the put that was made, or may have been, and returns the error to throw. */
  async rolledBack(error: unknown): Promise<unknown> {
    if (this.#made === undefined) return error;
    const { step, given, record: log } = this.#made;
    const { retries, storage, limits } = this.#parts.place;
    // Without a sink: the record may have its end already, and an entry after that would make it a damaged one.
    const transaction = new Transaction(this.#parts.fs, { ...limits, required: false, contents: true });
    transaction.adopt(step, given);
    return retries.rollBack({ transaction, log, storage }, error);
  }

  /** Returns the step that the write is; undefined for one that cannot be recorded as one. */
  async #stepOf(path: string, bytes: Uint8Array, options: WriteOptions): Promise<PathStep | undefined> {
    const { put, place } = this.#parts;
    if (path !== put.path || !isWriteOf(put.was, options, place.limits.maxBytes)) return undefined;
    const before = put.was === null ? null : imageOfFile(put.was);
    const hash = options.hash ?? (await engine().onThreads.sha256(bytes));
    const after: PreImage = withoutUndefined({ type: "file", size: bytes.length, hash, mode: options.mode });
    return { kind: before === null ? "create" : "write", path, before, after, id: 0 };
  }

  #begin(): RecordOnDisk | undefined {
    try {
      return this.#parts.place.files.beginFile(this.#parts.header.callId);
    } catch {
      return undefined; // The change by steps reports the error, if it has it as well.
    }
  }

  #leaveToSteps(): never {
    this.isForSteps = true;
    throw new FilewrightError("CONFLICT", "the change is made by steps");
  }

  /**
   * Keeps a record in the history of a group, or removes it. One that cannot be removed has no end, so it is no change of
   * the history.
   */
  #end(record: RecordOnDisk, group: string | null): void {
    try {
      record.close(group);
    } catch {
      // The file was changed, or the error of its write is the one to tell.
    }
  }

  /** Ends a write that failed. One that may have happened is rolled back. */
  #refused(
    error: unknown,
    { step, options, record }: { step: PathStep; options: WriteOptions; record: RecordOnDisk },
  ): never {
    if (isUncertain(error) && !isOfRecord(error)) {
      this.#made = { step, given: undefined, record };
      throw error;
    }
    this.#end(record, null);
    const needsParents = options.createDirs === true && codeOf(error) === "NOT_FOUND";
    if (isOfRecord(error) || needsParents) this.#leaveToSteps();
    throw error;
  }
}

/** Creates the error of a change whose record could not be ended, without which no review would show it. */
const unrecordedError = (path: string): FilewrightError =>
  backendError("IO_ERROR", path, "the change could not be recorded, so it is taken back");

const NO_BYTES = new Uint8Array();

/** Returns true for a write on the condition that the file is as the plan found it, with content that can be kept. */
function isWriteOf(
  was: VersionedBytes | null,
  { ifVersion, ifAbsent, mode, aside }: WriteOptions,
  maxBytes: number,
): boolean {
  if (aside !== undefined) return false;
  if (was === null) return ifAbsent === true;
  // A version need not cover the permission bits, which the undo of a write that sets them restores.
  const isModeKnown = mode === undefined || mode === was.stat.mode;
  return was.version === ifVersion && was.bytes.length <= maxBytes && isModeKnown;
}

/** Returns the last entry of the record, without what only the write tells. */
function commitOf({ id, path, after }: PathStep): RecordEntry {
  return {
    entry: "commit",
    finals: [[path, { ...(after as PreImage), ...UNKNOWN_RESULT }]],
    undoable: true,
    notes: { done: [[id, UNKNOWN_RESULT]], dropped: [] },
    at: UNKNOWN_MOMENT,
  };
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof FilewrightError ? error.code : undefined;

/** Returns true for an error after which nothing has changed, because the change could not be recorded. */
function isOfRecord(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["reason"] === "record";
}
