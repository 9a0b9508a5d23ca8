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
import { FilewrightError } from "../engine/errors.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { lastMoment, noteMoment } from "./call-id.ts";
import { needsSteps, needsStepsError } from "./errors.ts";
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
    if (left instanceof FilewrightError && needsSteps(left) && !change.hasBegun) return bySteps();
    throw left;
  }
  return { result, undo: change.close() };
}

class ListWithRecord {
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
    if (whole.length > MAX_LISTED) throw needsStepsError();
    const again = await this.#make(whole, options);
    // Another program removes directories meanwhile.
    if ("missing" in again.end) throw needsStepsError();
    return this.#outcomeOf(whole, again);
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
    refuseTrees(list, isAtomic);
    const asides = isAtomic ? list.map((change) => this.#asideOf(change)) : [];
    const plan = { list, asides, isAtomic };
    const record = this.#begin();
    let made: RecordedList;
    try {
      made = await commit(list, options, {
        place: record.place,
        asides,
        durable: place.durable,
        last: lastMoment(),
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
      if (isForSteps(end.error, list[end.at])) throw needsStepsError();
      const failed = list.slice(end.at).find(({ path }) => paths.includes(path));
      return { at: paths.indexOf(failed?.path ?? ""), error: end.error };
    }
    // All changes are made, and the record has no end. Such a list stays, without an undo, unless it is to be reviewed, as no
    // list of changes would show it, or a crash would take it back.
    if ("at" in end && (header.atomic === true || header.unreviewed === true))
      return { at: 0, error: unrecordedError(paths[0] ?? "/") };
    const results = new Map(list.map(({ path }, at) => [path, steps[at] ?? {}]));
    return { results: paths.map((path) => results.get(path) ?? {}) };
  }

  /** Returns where the file stays that a change replaces or removes. */
  #asideOf(change: ListedChange): string | undefined {
    return isReplacing(change) ? this.#parts.fs.asidePath(change.path) : undefined;
  }

  #begin(): RecordOnDisk {
    try {
      return this.#parts.place.files.beginFile(this.#parts.header.callId);
    } catch {
      throw needsStepsError(); // The change by steps reports the error, if it has it as well.
    }
  }

  /** Ends a list of which the disk does not say what was made: all steps may have been, unless the error excludes it. */
  #refused(error: unknown, plan: PlannedList, record: RecordOnDisk): never {
    if (isUncertain(error) && !isOfRecord(error)) {
      this.#begun = { plan, given: plan.list.map(() => undefined), record };
      throw error;
    }
    endRecord(record, null);
    if (isOfRecord(error)) throw needsStepsError();
    throw error;
  }
}

/** A list, and where its replaced files stay. */
interface PlannedList {
  readonly list: readonly ListedChange[];
  readonly asides: readonly (string | undefined)[];
  /** True when a crash takes the list back, too, for which the steps name the directories of their paths. */
  readonly isAtomic: boolean;
}

/** Returns the list with the hashes of all contents, once they are computed. */
async function withHashes(list: readonly ListedChange[]): Promise<readonly ListedChange[]> {
  const hashed: ListedChange[] = [];
  for (const change of list) {
    const isLater = change.do === "put" && typeof change.hash !== "string";
    hashed.push(isLater ? { ...change, hash: await change.hash } : change);
  }
  return hashed;
}

/** Returns true for a change that replaces or removes a file. */
function isReplacing(change: ListedChange): boolean {
  if (change.do === "put") return change.was !== null;
  return change.do === "remove" || (change.do !== "mkdir" && change.isOver);
}

/**
 * Refuses a moved directory that may be taken back: by steps, the record names all that is in it.
 * @throws {@link needsSteps}
 */
function refuseTrees(list: readonly ListedChange[], isAtomic: boolean): void {
  if ((isAtomic || list.length > 1) && list.some(isDirectoryMove)) throw needsStepsError();
}

function isDirectoryMove(change: ListedChange): boolean {
  return change.do === "move" && change.version === undefined;
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
    const steps = [stepOf(change, { facts: markedFacts(at), plan, at })];
    entries.push(at === 0 ? { entry: "steps", steps } : { entry: "steps", steps, notes: notesOf(at - 1) });
    if (change.do === "move") finals.push([change.from, null]);
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
  if (change.do !== "put") return markOf<PreImage>("left", at);
  return afterOf(change, markOf("version", at), fileId);
}

/** Returns the state that a put leaves, with the facts about its file that are known. */
function afterOf({ bytes, hash, mode }: ListedPut, version?: string, fileId?: string): PreImage {
  return withoutUndefined({
    type: "file",
    size: bytes.length,
    hash: typeof hash === "string" ? hash : undefined,
    mode: bitsOfWrite(mode).mode,
    version,
    fileId,
  });
}

/** The facts of a step that are found out when it is made; undefined for an unknown one. */
interface StepFacts {
  readonly parents: readonly [from: string | undefined, of: string | undefined];
  /** The file that is removed, or replaced by a transfer. */
  readonly before: PreImage;
  /** The entry that is moved. */
  readonly moved: PreImage;
  /** The file that is copied, as the copy is expected. */
  readonly copied: Omit<PreImage, "source"> & { readonly version: string };
}

/** Returns marks in the places of the facts. */
function markedFacts(at: number): StepFacts {
  return {
    parents: [markOf("parentFrom", at), markOf("parent", at)],
    before: markOf("before", at),
    moved: markOf("moved", at),
    copied: {
      type: "file",
      size: markOf("size", at),
      mode: markOf("mode", at),
      version: markOf("sourceVersion", at),
    },
  };
}

/** Returns the step of a change, as `StepMaker` has it. */
function stepOf(
  change: ListedChange,
  { facts, plan, at }: { readonly facts: StepFacts; readonly plan: PlannedList; readonly at: number },
): Step {
  const { path } = change;
  const { asides, isAtomic } = plan;
  const [parentFrom, parent] = isAtomic ? facts.parents : [];
  const aside = asides[at];
  if (change.do === "move") {
    const { from, isOver } = change;
    const parents = [parentFrom ?? null, parent ?? null] as const;
    const { moved, before } = facts;
    const over = isOver ? before : null;
    return withoutUndefined({ kind: "move", from, to: path, parents, moved, over, aside, id: at });
  }
  const { kind, before, after } = pathStepOf(change, facts);
  return withoutUndefined({ kind, path, before, after, parent, aside, id: at });
}

/** Returns the step of a change of one path, without what every such step has. */
function pathStepOf(
  change: Exclude<ListedChange, { readonly do: "move" }>,
  facts: StepFacts,
): Omit<PathStep, "id"> {
  const { path } = change;
  switch (change.do) {
    case "mkdir":
      return { kind: "mkdir", path, before: null, after: { type: "dir" } };
    case "remove":
      return { kind: "delete", path, before: facts.before, after: null };
    case "copy": {
      const { version, ...copied } = facts.copied;
      const after = { ...copied, source: { path: change.from, version } };
      return change.isOver
        ? { kind: "write", path, before: facts.before, after }
        : { kind: "create", path, before: null, after };
    }
    default: {
      const was = change.was === null ? null : imageOfFile(change.was);
      return { kind: was === null ? "create" : "write", path, before: was, after: afterOf(change) };
    }
  }
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
function unrecordedStep(plan: PlannedList, at: number): Step {
  const change = plan.list[at] as ListedChange;
  const version = "version" in change ? change.version : undefined;
  const file: PreImage = withoutUndefined({ type: "file", version });
  const facts: StepFacts = {
    parents: [undefined, undefined],
    before: change.do === "remove" ? file : { type: "file" },
    moved: isDirectoryMove(change) ? { type: "dir" } : file,
    copied: { type: "file", version: version ?? "" },
  };
  return stepOf(change, { facts, plan, at });
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

/** Returns true for the error of a step that was not made because it could not be recorded. */
function isOfRecord(error: unknown): boolean {
  return error instanceof FilewrightError && error.details?.["reason"] === "record";
}
