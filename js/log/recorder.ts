/**
 * Makes the changes of a workspace and their records, so that a change can be rolled back and undone.
 *
 * A change is a transaction whose steps are stored before they are made. When it fails, the steps are rolled back; when
 * the process ends, the next one that opens the same store rolls them back (`recovery.ts`); when it succeeds, the record
 * stays for `undo` where the history is kept. Two kinds of changes are made in another way: one file that the disk writes
 * together with its record (`one-put.ts`), and a single operation without a history, which has no record. A single
 * operation beyond `TRANSACTION_LIMITS` is made without recorded steps and cannot be undone. The caller holds the
 * locks of the paths.
 */
import { shortcutsOf } from "../backends/abilities.ts";
import type { Files } from "../backends/files.ts";
import type { FilesFound } from "../backends/transaction/step-maker.ts";
import { pathsOfSteps, type RecordEntry, type RecordHeader } from "../backends/transaction/step.ts";
import { Transaction } from "../backends/transaction/transaction.ts";
import { untilAborted } from "../engine/threads.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { newCallId, nextTimestamp } from "./call-id.ts";
import { cannotBeReviewedError } from "./errors.ts";
import { readFinalStates } from "./final-states.ts";
import type { ChangeFacts, LargestUndo, Log, Undoability } from "./log.ts";
import { type RollbackRetries, type Rollbacks, recoverAll, rollbackRetriesOf } from "./recovery.ts";
import { changeByOnePut } from "./one-put.ts";
import type { JournalStore, OpenRecord, RecordFiles } from "./store.ts";

const BYTES_PER_MIB = 1024 * 1024;
/**
 * The limits of the recorded contents and steps: `try` for a single operation, which is made unrecorded beyond
 * them; `always` for a change that must be atomic, which is refused.
 */
const TRANSACTION_LIMITS = Object.freeze({
  try: { maxBytes: 64 * BYTES_PER_MIB, maxSteps: 2000 },
  always: { maxBytes: 256 * BYTES_PER_MIB, maxSteps: 20_000 },
});
/** The maximum number of paths whose final state is recorded; a change of more paths cannot be undone. */
const MAX_RECORDED_PATHS = 5000;

/** The largest record that the history keeps of one call. */
export const LARGEST_UNDO: LargestUndo = Object.freeze({
  bytes: TRANSACTION_LIMITS.try.maxBytes,
  words: [
    `at most ${TRANSACTION_LIMITS.try.maxBytes / BYTES_PER_MIB} MiB of what it replaced or removed, `,
    `${TRANSACTION_LIMITS.try.maxSteps.toLocaleString("en-US")} steps and ${MAX_RECORDED_PATHS.toLocaleString("en-US")} paths`,
  ].join(""),
});

/** The options of a log whose records are in a store. */
export interface LogOptions {
  readonly store: JournalStore;
  /** The working directory, which identifies the history. */
  readonly cwd: string;
  /** The id of the storage that the paths belong to; absent for the local disk. */
  readonly storage?: string | undefined;
  /** True when the records of finished changes are kept, so that they can be undone. */
  readonly keep: boolean;
  /** True when every record is flushed to the disk before the next step. */
  readonly durable: boolean;
  /** The same store, where the disk may write its records together with the change. */
  readonly files?: RecordFiles | undefined;
}

/** Makes the changes of a workspace, and writes their records to a store. */
export class Recorder {
  readonly options: LogOptions;
  /** The name of the history in the store. */
  readonly group: string;
  readonly retries: RollbackRetries;
  /** The changes that are not finished. */
  readonly rollbacks: Rollbacks;
  readonly #finishing = new Set<Promise<void>>();

  constructor(options: LogOptions) {
    const { store, cwd, storage } = options;
    const retries = rollbackRetriesOf(store);
    this.options = options;
    this.group = storage === undefined ? cwd : `${storage}:${cwd}`;
    this.retries = retries;
    this.rollbacks = {
      recover: (fs, mine, locked) => recoverAll({ store, storage, retries, fs, mine, locked }),
      retry: (fs, paths, locked) => retries.touching({ fs, storage }, paths, locked),
      settled: async () => void (await Promise.all(this.#finishing)),
    };
  }

  /**
   * Makes a change and its record. A disk that can do so records a change that is one put; every other one is recorded by
   * steps.
   */
  readonly change: Log["append"] = async (fs, about, run, planned) => {
    const { keep, files, storage, durable } = this.options;
    if (!keep && about.unreviewed === true) throw cannotBeReviewedError();
    const isTry = about.rollback === "try";
    // A single operation without an undo needs no record: it is atomic by itself.
    if (!keep && isTry) return { result: await run(fs), undo: "nothing" };
    const bySteps = () => this.#changeBySteps(fs, about, run, planned);
    const [write, put] = [shortcutsOf(fs).recordedWrite(), planned?.onePut];
    if (!isTry || files === undefined || write === undefined || put === undefined) return bySteps();
    const place = { files, retries: this.retries, storage, durable, limits: TRANSACTION_LIMITS.try };
    return changeByOnePut({ fs, write, put, header: this.headerOf(about), place }, run, bySteps);
  };

  /** Runs a change on a backend that records each step. Rolls the steps back when it fails. */
  readonly #changeBySteps: Log["append"] = async (fs, about, run, planned) => {
    const recorded = new RecordedChange(this, fs, about, await planned?.found());
    let result: Awaited<ReturnType<typeof run>>;
    try {
      result = await run(recorded.backend);
    } catch (error) {
      throw await recorded.rolledBack(error);
    } finally {
      // A command that failed may have changed files all the same.
      await this.noteUnrecorded(about, about.unrecorded);
    }
    return { result, undo: await recorded.commit() };
  };

  /** Adds a record without steps that is no change, such as a mark. */
  note(
    tool: string,
    agent: string | undefined,
    facts: Pick<RecordHeader, "mark" | "keeps" | "by">,
    at: number,
  ): Promise<void> {
    const header = this.headerOf({ callId: newCallId(), tool, agent, rollback: "try" });
    return this.#addUnrecorded({ ...header, ...facts }, [], at);
  }

  /** Names a change in the history that cannot be undone. The change is made, so a failure to note it is none of it. */
  async noteUnrecorded(about: ChangeFacts, paths?: readonly string[]): Promise<Undoability> {
    if (!this.options.keep || paths === undefined) return "nothing";
    const named = paths.slice(0, MAX_RECORDED_PATHS);
    await this.#addUnrecorded(this.headerOf(about), named, nextTimestamp()).catch(() => undefined);
    return "too_large";
  }

  async #addUnrecorded(header: RecordHeader, unrecorded: readonly string[], at: number): Promise<void> {
    const { store, durable } = this.options;
    const record = await store.begin(newCallId());
    await record.append({ entry: "begin", header }, false);
    await record.append({ entry: "commit", finals: [], undoable: false, unrecorded, at }, durable);
    await record.close(this.group);
  }

  /** Waits for the end of a made change, unless its call is cancelled. */
  async untilFinished(finished: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    const remembered = finished.catch(() => undefined).finally(() => this.#finishing.delete(remembered));
    this.#finishing.add(remembered);
    // The change is made, so a cancellation ends the wait and not the call.
    await untilAborted(signal, finished).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  }

  /** Returns the header of the record of a change. */
  headerOf(about: ChangeFacts): RecordHeader {
    const { callId, tool, agent, undoOf, rollback, unreviewed, allowedBy, undoes } = about;
    return withoutUndefined({
      callId,
      tool,
      time: Date.now(),
      cwd: this.group,
      storage: this.options.storage,
      atomic: rollback === "always" ? true : undefined,
      agent,
      undoOf,
      unreviewed: unreviewed === true ? true : undefined,
      allowedBy: allowedBy?.length === 0 ? undefined : allowedBy,
      undoes: undoes?.length === 0 ? undefined : undoes,
    });
  }
}

/** One change while it is made, and its record. */
class RecordedChange {
  readonly #recorder: Recorder;
  readonly #fs: Files;
  readonly #about: ChangeFacts;
  readonly #transaction: Transaction;
  /** Undefined until the first step. */
  #record: OpenRecord | undefined;

  constructor(recorder: Recorder, fs: Files, about: ChangeFacts, found: FilesFound | undefined) {
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
    // Not even the first step was recorded: the content that it replaced was too large.
    if (record === undefined) return this.#notKept(undoable ? undefined : pathsOfSteps(steps));
    const finals =
      undoable && keep ? await readFinalStates(this.#fs, this.#transaction, MAX_RECORDED_PATHS) : null;
    const commit: RecordEntry = {
      entry: "commit",
      finals: finals ?? [],
      undoable: finals !== null,
      notes: this.#transaction.takeNotes(),
      at: nextTimestamp(),
    };
    try {
      await record.append(commit, durable);
    } catch (error) {
      const { rollback, unreviewed } = this.#about;
      if (rollback === "always" || unreviewed === true) throw await this.rolledBack(error);
      await this.#close(record, null);
      return "nothing";
    }
    const kept = finals === null || steps.length === 0 ? null : group;
    await this.#close(record, kept);
    if (finals === null) return this.#notKept(pathsOfSteps(steps, MAX_RECORDED_PATHS));
    return kept === null ? "nothing" : "undoable";
  }

  #notKept(paths: readonly string[] | undefined): Promise<Undoability> {
    return this.#recorder.noteUnrecorded(this.#about, paths);
  }

  /** Removes the replaced entries, then closes the record. */
  #close(record: OpenRecord, group: string | null): Promise<void> {
    const finished = this.#transaction.finish().then(() => record.close(group));
    return this.#recorder.untilFinished(finished, this.#about.signal);
  }
}
