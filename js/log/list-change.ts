/**
 * A change that is a list of files: the disk makes the list and the record of the change in one job.
 *
 * The record has the entries that the same list has when it is made by steps, so that nothing else need know of this way.
 * What the disk refuses before anything has changed is made by steps: a record that cannot be begun, a path through a
 * link. Where it turns out later that one step cannot be made in this way, the list is rolled back, and its caller plans
 * again.
 */
import type { Files } from "../backends/files.ts";
import { backendError, isUncertain } from "../backends/failure.ts";
import { bitsOfWrite, imageOfFile, type PreImage } from "../backends/transaction/pre-image.ts";
import {
  type CommitList,
  type CommitRecorded,
  type ListedChange,
  type ListedPut,
  type ListOptions,
  type ListOutcome,
  MAX_LISTED,
  markOf,
  type RecordedList,
  UNKNOWN_MOMENT,
} from "../backends/transaction/recorded-list.ts";
import {
  type PathStep,
  type RecordEntry,
  type RecordHeader,
  readSteps,
  type Step,
  type StepNotes,
  type StepResult,
  toFrame,
  toStepResult,
} from "../backends/transaction/step.ts";
import { withOutcome } from "../backends/transaction/outcome.ts";
import { Transaction, type TransactionOptions } from "../backends/transaction/transaction.ts";
import { parentOf } from "../backends/paths.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { lastMoment, noteMoment } from "./call-id.ts";
import { needsStepsError } from "./errors.ts";
import type { RollbackRetries } from "./recovery.ts";
import type { RecordOnDisk, RecordFiles } from "./store.ts";
import type { Made } from "./log.ts";

/** The journal of a list. */
interface ListJournal {
  readonly files: RecordFiles;
  readonly retries: RollbackRetries;
  readonly storage: string | undefined;
  readonly durable: boolean;
  readonly limits: Pick<TransactionOptions, "maxBytes" | "maxSteps">;
}

/** The parts of a change that is a list. */
interface ListParts {
  readonly fs: Files;
  readonly commit: CommitRecorded;
  readonly list: readonly ListedChange[];
  readonly header: RecordHeader;
  readonly place: ListJournal;
}

/** A list whose steps were made, or may have been. */
interface BegunList {
  readonly plan: PlannedList;
  /** The results of its first steps; undefined for one that may have been made. The steps after them were not. */
  readonly given: readonly (StepResult | undefined)[];
  readonly record: RecordOnDisk;
}

/**
 * Makes a change whose list writes the record as well, or else makes it by steps.
 * @throws any error of `run`, after the rollback; {@link needsSteps} for a list that was begun and has to be made by steps,
 *   with another plan: a restored file has another version
 */
export async function changeAsList<T>(
  parts: ListParts,
  run: (fs: Files, commit: CommitList) => Promise<T>,
  bySteps: () => Promise<Made<T>>,
): Promise<Made<T>> {
  const change = new ListWithRecord(parts);
  let result: T;
  try {
    result = await run(parts.fs, change.commit);
  } catch (error) {
    const left = await change.rolledBack(error);
    if (change.isForSteps && !change.hasBegun) return bySteps();
    throw left;
  }
  return { result, undo: change.close() };
}

class ListWithRecord {
  /** True for a change that has to be made by steps. */
  isForSteps = false;
  /** The list, once it was made or may have been. */
  #begun: BegunList | undefined;
  #isWhole = false;
  readonly #parts: ListParts;

  constructor(parts: ListParts) {
    this.#parts = parts;
  }

  /** True when steps were made, or may have been. */
  get hasBegun(): boolean {
    return this.#begun !== undefined;
  }

  readonly commit: CommitList = async (options) => {
    const list = await withHashes(this.#parts.list);
    const made = await this.#make(list, options);
    if (!("missing" in made.end)) return this.#outcomeOf(list, made);
    const whole = withDirectories(list, made.end.missing);
    if (whole.length > MAX_LISTED) return this.#leaveToSteps();
    const again = await this.#make(whole, options);
    // Another program removes directories meanwhile.
    return "missing" in again.end ? this.#leaveToSteps() : this.#outcomeOf(whole, again);
  };

  /** Ends a change that was made. Returns whether it can be undone. */
  close(): "undoable" | "nothing" {
    if (this.#begun !== undefined)
      endRecord(this.#begun.record, this.#isWhole ? this.#parts.header.cwd : null);
    return this.#isWhole ? "undoable" : "nothing";
  }

  /**
   * Rolls back the steps that were made, or may have been, and returns the error to throw. A list that is whole stays in the
   * history: the replaced files are gone, and only the notes about the change can have failed.
   */
  async rolledBack(error: unknown): Promise<unknown> {
    if (this.#begun === undefined) return error;
    if (this.#isWhole) {
      this.close();
      const failed = this.#parts.list.map(({ path }) => path);
      return withOutcome(error, { conflicts: [], failed, remade: [] });
    }
    const { plan, given, record: log } = this.#begun;
    const { retries, storage, limits } = this.#parts.place;
    // Without a sink: the record may have its end already, and an entry after that would make it a damaged one.
    const transaction = new Transaction(this.#parts.fs, { ...limits, required: false, contents: true });
    const recorded = recordedSteps(log);
    for (const [at, result] of given.entries())
      transaction.adopt(recorded.get(at) ?? unrecordedStep(plan, at), result);
    return retries.rollBack({ transaction, log, storage }, error);
  }

  /** Lets the disk make a list. Nothing of it was made where directories are missing. */
  async #make(list: readonly ListedChange[], options: ListOptions): Promise<RecordedList> {
    const { commit, header, place } = this.#parts;
    const isAtomic = header.atomic === true;
    const asides = isAtomic ? list.map((change) => this.#asideOf(change)) : [];
    const plan = { list, asides, isAtomic };
    const record = this.#begin();
    let made: RecordedList;
    try {
      made = await commit(list, options, {
        ...{ place: record.place, asides, durable: place.durable, last: lastMoment() },
        lines: [header.callId, ...entriesOf(plan, header).map((entry) => toFrame(entry).json)],
      });
    } catch (error) {
      return this.#refused(error, plan, record);
    }
    const { steps, end } = made;
    if ("missing" in end) endRecord(record, null);
    else {
      const count = "at" in end ? Math.min(end.at, steps.length) : steps.length;
      const isPerhapsMade = "at" in end && steps.length > count && isUncertain(end.error);
      const given = steps.slice(0, count).map(toStepResult);
      if (count > 0 || isPerhapsMade)
        this.#begun = { plan, given: isPerhapsMade ? [...given, undefined] : given, record };
      else endRecord(record, null);
    }
    if ("moment" in end) {
      noteMoment(end.moment);
      this.#isWhole = true;
    }
    return made;
  }

  /** Returns the outcome for the caller, who knows nothing of directories that were added to the list. */
  #outcomeOf(list: readonly ListedChange[], { steps, end }: RecordedList): ListOutcome {
    if ("moment" in end && list.length === this.#parts.list.length) return { results: steps };
    const { header } = this.#parts;
    const paths = this.#parts.list.map(({ path }) => path);
    if ("at" in end && end.at < list.length) {
      if (isForSteps(end.error, list[end.at])) this.#leaveToSteps();
      const failed = list.slice(end.at).find(({ path }) => paths.includes(path));
      return { at: paths.indexOf(failed?.path ?? ""), error: end.error };
    }
    // No list of changes would show one without its end, which is to be reviewed, and a crash would take back an atomic one.
    if ("at" in end && (header.atomic === true || header.unreviewed === true))
      return { at: 0, error: unrecordedError(paths[0] ?? "/") };
    const results = new Map(list.map(({ path }, at) => [path, steps[at] ?? {}]));
    return { results: paths.map((path) => results.get(path) ?? {}) };
  }

  /** Returns where the file stays that a change replaces or removes. */
  #asideOf(change: ListedChange): string | undefined {
    const isReplacing = change.do === "remove" || (change.do === "put" && change.was !== null);
    return isReplacing ? this.#parts.fs.asidePath(change.path) : undefined;
  }

  #begin(): RecordOnDisk {
    try {
      return this.#parts.place.files.beginFile(this.#parts.header.callId);
    } catch {
      return this.#leaveToSteps(); // The change by steps reports the error, if it has it as well.
    }
  }

  #leaveToSteps(): never {
    this.isForSteps = true;
    throw needsStepsError();
  }

  /** Ends a list of which the disk does not say what was made: all steps may have been, unless the error excludes it. */
  #refused(error: unknown, plan: PlannedList, record: RecordOnDisk): never {
    if (isUncertain(error) && !isOfRecord(error)) {
      this.#begun = { plan, given: plan.list.map(() => undefined), record };
      throw error;
    }
    endRecord(record, null);
    if (isOfRecord(error)) this.#leaveToSteps();
    throw error;
  }
}

/** A list, and where its replaced files stay. */
interface PlannedList {
  readonly list: readonly ListedChange[];
  readonly asides: readonly (string | undefined)[];
  /** True when steps name the directories of their paths, for a rollback. */
  readonly isAtomic: boolean;
}

/** Returns the list with the hashes of all contents. */
async function withHashes(list: readonly ListedChange[]): Promise<readonly ListedChange[]> {
  const hashed: ListedChange[] = [];
  for (const change of list) {
    const isKnown = change.do !== "put" || change.hash !== undefined;
    hashed.push(isKnown ? change : { ...change, hash: await engine().onThreads.sha256(change.bytes) });
  }
  return hashed;
}

/** Returns the list with missing directories, each right before the first file that needs it. */
function withDirectories(list: readonly ListedChange[], missing: readonly string[]): readonly ListedChange[] {
  const left = new Set(missing);
  return list.flatMap((change) => {
    const own: string[] = [];
    for (let at = parentOf(change.path); left.delete(at); at = parentOf(at)) own.push(at);
    return [...own.reverse().map((path) => ({ do: "mkdir", path, parents: false }) as const), change];
  });
}

/** Returns the entries of the record, with marks for what is only known once a step is made. */
function entriesOf(plan: PlannedList, header: RecordHeader): readonly RecordEntry[] {
  const entries: RecordEntry[] = [{ entry: "begin", header }];
  const finals: (readonly [string, PreImage | null])[] = [];
  for (const [at, change] of plan.list.entries()) {
    const facts = { parent: markOf<string>("parent", at), before: markOf<PreImage>("before", at) };
    const told = { entry: "steps", steps: [stepOf(change, { ...facts, plan, at })] } as const;
    entries.push(at === 0 ? told : { ...told, notes: notesOf(at - 1) });
    finals.push([change.path, finalOf(change, at)]);
  }
  const notes = notesOf(plan.list.length - 1);
  entries.push({ entry: "commit", finals, undoable: true, notes, at: UNKNOWN_MOMENT });
  return entries;
}

/** Returns the notes with the result of a step. */
function notesOf(step: number): StepNotes {
  return { done: [[step, markOf<StepResult>("given", step)]], dropped: [] };
}

/** Returns the state that a change leaves, as `readFinalStates` has it. */
function finalOf(change: ListedChange, at: number): PreImage | null {
  const fileId = markOf<string>("fileId", at);
  if (change.do === "remove") return null;
  if (change.do === "mkdir") return { type: "dir", fileId };
  return { ...afterOf(change), version: markOf<string>("version", at), fileId };
}

function afterOf({ bytes, hash, mode }: ListedPut): PreImage {
  return withoutUndefined({ type: "file", size: bytes.length, hash, mode: bitsOfWrite(mode).mode });
}

/** Returns the step of a change, as `StepMaker` has it. */
function stepOf(
  change: ListedChange,
  {
    plan: { asides, isAtomic },
    at,
    parent,
    before,
  }: {
    readonly plan: PlannedList;
    readonly at: number;
    readonly parent: string | undefined;
    readonly before: PreImage | null;
  },
): PathStep {
  const { path } = change;
  const facts = withoutUndefined({ parent: isAtomic ? parent : undefined, aside: asides[at], id: at });
  if (change.do === "mkdir") return { kind: "mkdir", path, before: null, after: { type: "dir" }, ...facts };
  if (change.do === "remove") return { kind: "delete", path, before, after: null, ...facts };
  const was = change.was === null ? null : imageOfFile(change.was);
  return { kind: was === null ? "create" : "write", path, before: was, after: afterOf(change), ...facts };
}

/** Returns the steps of a record by their ids: none of one that cannot be read. */
function recordedSteps(record: RecordOnDisk): ReadonlyMap<number, Step> {
  try {
    return new Map(readSteps(record.read()).steps.map((step) => [step.id, step]));
  } catch {
    return new Map();
  }
}

/** Returns the step of a change without what only the record has. */
function unrecordedStep(plan: PlannedList, at: number): PathStep {
  const change = plan.list[at] as ListedChange;
  const version = change.do === "remove" ? change.version : undefined;
  return stepOf(change, { plan, at, parent: undefined, before: withoutUndefined({ type: "file", version }) });
}

/**
 * Keeps a record in the history of a group, or removes it. One that cannot be removed has no end, so it is no change of the
 * history.
 */
function endRecord(record: RecordOnDisk, group: string | null): void {
  try {
    record.close(group);
  } catch {
    // The files were changed, or the error of their change is the one to tell.
  }
}

/** Creates the error of a change whose record could not be ended. */
const unrecordedError = (path: string): FilewrightError =>
  backendError("IO_ERROR", path, "the change could not be recorded, so it is taken back");

/** Returns true for an error after which the list is made by steps, once what was made of it is taken back. */
function isForSteps(error: FilewrightError, change: ListedChange | undefined): boolean {
  const isThere = change?.do === "mkdir" && error.code === "ALREADY_EXISTS";
  return isThere || isOfRecord(error) || error.details?.["reason"] === "aside";
}

/** Returns true for an error after which nothing has changed, because the change could not be recorded. */
function isOfRecord(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["reason"] === "record";
}
