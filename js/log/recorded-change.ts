/** The two ways in which a log makes a change: by steps, and as a list. They are loaded with the first change. */
import type { MaybePromise } from "../backends/backend.ts";
import type { Files } from "../backends/files.ts";
import type { FilesFound } from "../backends/transaction/step-maker.ts";
import {
  type FinalStates,
  pathsOfSteps,
  type RecordEntry,
  type RecordHeader,
} from "../backends/transaction/step.ts";
import { Transaction } from "../backends/transaction/transaction.ts";
import { nextTimestamp } from "./call-id.ts";
import { readFinalStates } from "./final-states.ts";
import type { ChangeFacts, Undoability } from "./log.ts";
import { type LogOptions, MAX_RECORDED_PATHS, TRANSACTION_LIMITS } from "./options.ts";
import type { RollbackRetries } from "./recovery.ts";
import type { OpenRecord } from "./store.ts";

export { changeAsList } from "./list-change.ts";

/** The log of which a change is recorded. */
interface ChangeRecorder {
  readonly options: LogOptions;
  readonly group: string;
  readonly retries: RollbackRetries;
  headerOf(about: ChangeFacts): RecordHeader;
  noteUnrecorded(about: ChangeFacts, paths?: readonly string[]): Promise<Undoability>;
  untilFinished(finished: Promise<void>, signal: AbortSignal | undefined): Promise<void>;
}

/** One change while it is made, and its record. */
export class RecordedChange {
  readonly #recorder: ChangeRecorder;
  readonly #fs: Files;
  readonly #about: ChangeFacts;
  readonly #transaction: Transaction;
  /** Undefined until the first step. */
  #record: OpenRecord | undefined;

  constructor(recorder: ChangeRecorder, fs: Files, about: ChangeFacts, found: FilesFound | undefined) {
    this.#recorder = recorder;
    this.#fs = fs;
    this.#about = about;
    const { keep, store, durable } = recorder.options;
    this.#transaction = new Transaction(fs, {
      ...TRANSACTION_LIMITS[about.rollback],
      required: about.rollback === "always",
      contents: keep,
      found,
      // A change without a record would never be seen by the one who is to review it.
      mustStore: about.unreviewed === true,
      sink: async (steps, notes) => {
        if (this.#record === undefined) {
          this.#record = await store.begin(about.callId);
          await this.#record.append({ entry: "begin", header: recorder.headerOf(about) }, false);
        }
        const told = notes.done.length + notes.dropped.length > 0 ? { notes } : {};
        await this.#record.append({ entry: "steps", steps, ...told }, durable);
      },
    });
  }

  /** The backend that records each change as a step. */
  get backend(): Files {
    return this.#transaction.backend;
  }

  /** Rolls the change back, and returns the error with what could not be restored. */
  async rolledBack(error: unknown): Promise<unknown> {
    const { retries, options } = this.#recorder;
    const change = { transaction: this.#transaction, log: this.#record, storage: options.storage };
    return retries.rollBack(change, error);
  }

  /** Ends the record of a change that was made. */
  async commit(): Promise<Undoability> {
    const { group, options } = this.#recorder;
    const { keep, durable } = options;
    const { steps, undoable } = this.#transaction;
    const record = this.#record;
    // Not even the first step was recorded: the content that it replaced was too large, or the store refuses it.
    if (record === undefined) {
      await this.#finished(() => undefined);
      return this.#notKept(undoable ? undefined : pathsOfSteps(steps));
    }
    let finals: FinalStates | null = null;
    try {
      if (undoable && keep) finals = await readFinalStates(this.#fs, this.#transaction, MAX_RECORDED_PATHS);
      const commit: RecordEntry = {
        entry: "commit",
        finals: finals ?? [],
        undoable: finals !== null,
        notes: this.#transaction.takeNotes(),
        at: nextTimestamp(),
      };
      await record.append(commit, durable);
    } catch (error) {
      const { rollback, unreviewed } = this.#about;
      if (rollback === "always" || unreviewed === true) throw await this.rolledBack(error);
      await this.#finished(() => record.close(null));
      return "nothing";
    }
    const kept = finals === null || steps.length === 0 ? null : group;
    const isClosed = await this.#finished(() => record.close(kept));
    if (finals === null) return this.#notKept(pathsOfSteps(steps, MAX_RECORDED_PATHS));
    return kept === null || !isClosed ? "nothing" : "undoable";
  }

  #notKept(paths: readonly string[] | undefined): Promise<Undoability> {
    return this.#recorder.noteUnrecorded(this.#about, paths);
  }

  /**
   * Removes the replaced entries, then closes the record. Returns false when the record is not closed: the change is made
   * all the same.
   */
  async #finished(close: () => MaybePromise<void>): Promise<boolean> {
    let isClosed = true;
    const closed = this.#transaction.finish().then(close);
    const finished = closed.catch(() => {
      isClosed = false;
    });
    await this.#recorder.untilFinished(finished, this.#about.signal);
    return isClosed;
  }
}
