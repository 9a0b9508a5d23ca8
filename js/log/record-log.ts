/**
 * A log whose records are in a store: in memory, in files, or in a store of the host. A record of it has the steps of a
 * change with the states before them; a mark and a list of kept changes are records without steps.
 */
import {
  type FinalStates,
  pathsOfSteps,
  readSteps,
  type RecordEntry,
  type RecordHeader,
  type Step,
} from "../backends/transaction/step.ts";
import { modeLeftBy } from "../backends/transaction/pre-image.ts";
import type { CallStage } from "../storage/staged/stage.ts";
import { isCallId, TIMESTAMP_STEP_MS, nextTimestamp } from "./call-id.ts";
import { beyondHistoryError } from "./errors.ts";
import { commitOf } from "./log.ts";
import type { HistoryRecord, KeptBy, LargestUndo, Log, LoggedChange, LogPlace } from "./log.ts";
import type { Mark, PastSteps, Reviews, StateBefore } from "./log.ts";
import { LARGEST_UNDO, type LogOptions } from "./options.ts";
import { Recorder } from "./recorder.ts";
import type { Rollbacks } from "./recovery.ts";
import type { StoredRecord } from "./store.ts";

/** A log whose records are in a store. */
export class RecordLog implements Log {
  readonly isOneCommit = false;
  readonly largestUndo: LargestUndo | undefined;
  /** The changes that are not finished: those of dead processes, and rollbacks that failed. */
  readonly rollbacks: Rollbacks;
  readonly #recorder: Recorder;
  readonly #stage: CallStage | undefined;

  /** `stage` is that of a call over a storage: the change of the call is committed before it counts as made. */
  constructor(recorder: Recorder, stage?: CallStage) {
    this.#recorder = recorder;
    this.#stage = stage;
    this.largestUndo = recorder.options.keep ? LARGEST_UNDO : undefined;
    this.rollbacks = recorder.rollbacks;
  }

  /** Returns the same log for the call on a stage. */
  on(stage: CallStage): Log {
    return new RecordLog(this.#recorder, stage);
  }

  readonly append: Log["append"] = (fs, about, run, planned) => {
    const stage = this.#stage;
    if (stage === undefined) return this.#recorder.change(fs, about, run, planned);
    const committed: typeof run = async (own, put) => {
      const result = await run(own, put);
      await stage.commitDraft(commitOf(about));
      return result;
    };
    return stage.draft(() => this.#recorder.change(fs, about, committed, planned));
  };

  async list(after?: LogPlace): Promise<readonly HistoryRecord[]> {
    const records = (await this.#past()).flatMap(changeIn);
    if (after === undefined) return records;
    const moment = momentOfPlace(after);
    if (moment < (await this.#completeSince())) throw beyondHistoryError();
    return records.filter(({ at }) => at > moment);
  }

  async get(callId: string): Promise<LoggedChange | undefined> {
    if (!isCallId(callId)) return undefined;
    const { group, options } = this.#recorder;
    const stored = await options.store.find(group, callId);
    const [record] = stored === null || stored.damaged ? [] : changeIn(stored);
    if (record !== undefined) return loggedChange(record, stored?.entries ?? []);
    // A change that is not kept has a record of its own, with the id of the call in its header. Of one whose contents are
    // damaged there are no steps, either.
    const named = (await this.list()).find(({ header }) => header.callId === callId);
    return named && loggedChange({ ...named, undoable: false }, []);
  }

  async marks(): Promise<readonly Mark[]> {
    return (await this.#past()).flatMap(({ entries }) => {
      const { mark, agent } = headerIn(entries) ?? {};
      return mark === undefined ? [] : [{ name: mark, at: momentOf(entries), agent }];
    });
  }

  async mark(name: string, agent: string | undefined): Promise<Mark | undefined> {
    const [last] = await this.#past();
    if ((await this.marks()).some((one) => one.name === name)) return undefined;
    // A mark is never before a change that it follows, even when the clock was set back.
    const at = Math.max(nextTimestamp(), last === undefined ? 0 : momentOf(last.entries) + TIMESTAMP_STEP_MS);
    await this.#recorder.note("mark", agent, { mark: name }, at);
    return { name, at, agent };
  }

  async reviews(): Promise<Reviews> {
    const past = await this.#past();
    return {
      records: past.flatMap(changeIn).filter(({ header }) => header.unreviewed === true),
      facts: past.flatMap(({ entries }) => headerIn(entries) ?? []),
      forgottenBefore: (await this.#completeSince()) || undefined,
    };
  }

  async keep(changes: readonly HistoryRecord[], { by, agent }: KeptBy): Promise<void> {
    const keeps = changes.map(({ header }) => header.callId);
    await this.#recorder.note("keep", agent, by === undefined ? { keeps } : { keeps, by }, nextTimestamp());
  }

  /** Returns the records that are not damaged, the newest commit first. */
  async #past(): Promise<readonly StoredRecord[]> {
    const { group, options } = this.#recorder;
    const records = (await options.store.history(group)).filter(({ damaged }) => !damaged);
    const moments = new Map(records.map((record) => [record, momentOf(record.entries)]));
    return records.sort((a, b) => (moments.get(b) as number) - (moments.get(a) as number));
  }

  /** Returns the moment since which no record was removed; 0 where all are there. */
  async #completeSince(): Promise<number> {
    const { group, options } = this.#recorder;
    return (await options.store.prunedUntil?.(group)) ?? 0;
  }
}

/** Creates the log of a workspace over a store. */
export function makeRecordLog(options: LogOptions): RecordLog {
  return new RecordLog(new Recorder(options));
}

/** Returns the header of a record; undefined for one without a beginning. */
function headerIn(entries: readonly RecordEntry[]): RecordHeader | undefined {
  const begin = entries.find((entry) => entry.entry === "begin");
  return begin?.header;
}

/** Returns the end of a record; undefined for one that was not finished. */
function commitIn(entries: readonly RecordEntry[]): (RecordEntry & { readonly entry: "commit" }) | undefined {
  return entries.find((entry) => entry.entry === "commit");
}

/** Returns the change of a record; empty for a mark, for a list of kept changes, and for a record without an end. */
function changeIn({ entries }: StoredRecord): readonly HistoryRecord[] {
  const [header, commit] = [headerIn(entries), commitIn(entries)];
  if (header === undefined || commit === undefined) return [];
  if (header.mark !== undefined || header.keeps !== undefined) return [];
  const { undoable, unrecorded = pathsOfSteps(readSteps(entries).steps) } = commit;
  return [{ header, at: momentOf(entries), paths: unrecorded, undoable }];
}

/** Returns the moment at which the change of a record was committed. */
function momentOf(entries: readonly RecordEntry[]): number {
  return commitIn(entries)?.at ?? headerIn(entries)?.time ?? 0;
}

/** Returns the moment after which changes are later than a place. */
function momentOfPlace(place: LogPlace): number {
  if ("before" in place) return place.before.at - TIMESTAMP_STEP_MS;
  return "mark" in place ? place.mark.at : place.moment;
}

function loggedChange(record: HistoryRecord, entries: readonly RecordEntry[]): LoggedChange {
  const finals: FinalStates = commitIn(entries)?.finals ?? [];
  const made: PastSteps = { ...readSteps(entries), finals };
  return { record, made, states: async () => statesBefore(made) };
}

/** Returns the state of each path before the first of the steps that touched it, and after the change. */
function statesBefore({ steps, finals }: PastSteps): readonly StateBefore[] {
  const found = new Map<string, StateBefore>();
  for (const step of steps.toReversed()) noteStateBefore(found, step);
  const after = new Map(finals);
  return [...found.values()].toReversed().map((one) => ({ ...one, after: after.get(one.path) }));
}

function noteStateBefore(found: Map<string, StateBefore>, step: Step): void {
  if (step.kind === "move") {
    found.set(step.to, { path: step.to, image: step.over });
    found.set(step.from, { path: step.from, image: step.moved, from: step.to });
  } else if (step.scratch !== true) {
    // The newest step of the path tells with which permission bits the change left it.
    const leftMode = found.has(step.path) ? found.get(step.path)?.leftMode : modeLeftBy(step);
    found.set(step.path, { path: step.path, image: step.before, leftMode });
  }
}
