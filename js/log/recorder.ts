/**
 * Makes the changes of a workspace and their records, so that a change can be rolled back and undone.
 *
 * A change is a transaction whose steps are stored before they are made. When it fails, the steps are rolled back; when
 * the process ends, the next one that opens the same store rolls them back (`recovery.ts`); when it succeeds, the record
 * stays for `undo` where there is a history. Two kinds of changes are made in another way: a list of files that the disk
 * changes together with its record (`list-change.ts`), and a single operation without a history, which has no record. A
 * single operation beyond `TRANSACTION_LIMITS` is made without recorded steps and cannot be undone. The caller holds the
 * locks of the paths.
 */
import { shortcutsOf } from "../backends/abilities.ts";
import type { RecordHeader } from "../backends/transaction/step.ts";
import { lazilyEarly } from "../engine/lazy.ts";
import { untilAborted } from "../engine/threads.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { newCallId, nextTimestamp } from "./call-id.ts";
import { cannotBeReviewedError } from "./errors.ts";
import type { ChangeFacts, Log, Undoability } from "./log.ts";
import { type LogOptions, MAX_RECORDED_PATHS, TRANSACTION_LIMITS } from "./options.ts";
import { type RollbackRetries, type Rollbacks, recoverAll, rollbackRetriesOf } from "./recovery.ts";

const changing = lazilyEarly("records of changes", () => import("./recorded-change.ts"));

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
   * Makes a change and its record. A disk that can do so makes and records a change that is a list; every other one is
   * recorded by steps.
   */
  readonly change: Log["append"] = async (fs, about, run, planned) => {
    const { keep, files, storage, durable } = this.options;
    if (!keep && about.unreviewed === true) throw cannotBeReviewedError();
    const isTry = about.rollback === "try";
    // A single operation without an undo needs no record: it is atomic by itself.
    if (!keep && isTry) return { result: await run(fs), undo: "nothing" };
    const bySteps = () => this.#changeBySteps(fs, about, run, planned);
    const [commit, list] = [shortcutsOf(fs).recordedList(), planned?.list];
    if (!keep || files === undefined || commit === undefined || list === undefined) return bySteps();
    const limits = TRANSACTION_LIMITS[about.rollback];
    const place = { files, retries: this.retries, storage, durable, limits };
    const { changeAsList } = await changing();
    return changeAsList({ fs, commit, list, header: this.headerOf(about), place }, run, bySteps);
  };

  /** Runs a change on a backend that records each step. Rolls the steps back when it fails. */
  readonly #changeBySteps: Log["append"] = async (fs, about, run, planned) => {
    const { RecordedChange } = await changing();
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
