/**
 * The journal: changes that are atomic, even when the process ends, and that can be undone.
 *
 * A change is a transaction whose steps are stored before they are made. When it fails, the steps
 * are rolled back; when the process ends, the next one that opens the same store rolls them back
 * (`recovery.ts`); when it succeeds, the record stays for `undo`. The caller holds the locks of
 * the paths.
 */
import type { FsBackend, MaybePromise } from "../backends/backend.ts";
import { hashVia, lstatOrNull } from "../backends/fallback/fallback.ts";
import { isWithin } from "../backends/paths.ts";
import { untilAborted, Yielder } from "../engine/yielder.ts";
import { FilewrightError } from "../engine/errors.ts";
import {
  beyondHistoryError,
  isCallId,
  markExistsError,
  TIMESTAMP_STEP_MS,
  newCallId,
  nextTimestamp,
  unknownCallError,
} from "./call-id.ts";
import { modeLeftBy, preImageOf, type PreImage, withoutMode } from "../backends/transaction/pre-image.ts";
import { type RollbackRetries, recoverAll, rollbackRetriesOf } from "./recovery.ts";
import {
  type RecordEntry,
  type FinalStates,
  type RecordHeader,
  pathsOfSteps,
  readSteps,
  type Step,
} from "../backends/transaction/step.ts";
import { cannotBeReviewedError, reviewedCalls } from "./reviewed.ts";
import { type OpenRecord, prunedUntil, type StoredRecord } from "./store.ts";
import type {
  ChangeFacts,
  HistoryPlace,
  HistoryRecord,
  Journal,
  JournalMark,
  JournalOptions,
  LargestUndo,
  Undoability,
  StateBefore,
} from "./types.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import { Transaction, withOutcome } from "../backends/transaction/transaction.ts";
import { hasTrait } from "../schema/tool-facts.ts";

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

/** The records that the history keeps of one call. */
const LARGEST_UNDO: LargestUndo = Object.freeze({
  bytes: TRANSACTION_LIMITS.try.maxBytes,
  words: [
    `at most ${TRANSACTION_LIMITS.try.maxBytes / BYTES_PER_MIB} MiB of what it replaced or removed, `,
    `${TRANSACTION_LIMITS.try.maxSteps.toLocaleString("en-US")} steps and ${MAX_RECORDED_PATHS.toLocaleString("en-US")} paths`,
  ].join(""),
});

/** Creates the journal of a workspace. */
export function makeJournal({ store, cwd, storage, keep, durable }: JournalOptions): Journal {
  const retries: RollbackRetries = rollbackRetriesOf(store);
  const group = storage === undefined ? cwd : `${storage}:${cwd}`;
  const logOf = async (callId: string): Promise<StoredRecord> => {
    const log = isCallId(callId) ? await store.find(group, callId) : null;
    if (log !== null && !log.damaged) return log;
    throw missingCallError(callId, isCallId(callId) ? (await past()).flatMap(recordsOf) : []);
  };
  const headerOf = (facts: ChangeFacts): RecordHeader => recordHeaderOf(facts, group, storage);

  const finishing = new Set<Promise<void>>();
  /** Removes the replaced entries of a change that has been made, then closes its record. */
  const finish = async (
    transaction: Transaction,
    close: () => MaybePromise<void>,
    signal: AbortSignal | undefined,
  ): Promise<void> => {
    const finished = transaction.finish().then(close);
    const remembered = finished.catch(() => undefined).finally(() => finishing.delete(remembered));
    finishing.add(remembered);
    // The change is made, so a cancellation ends the wait and not the call.
    await untilAborted(signal, finished).catch((error: unknown) => {
      if (signal?.aborted !== true) throw error;
    });
  };

  const change: Journal["change"] = async (fs, about, run, found) => {
    const required = about.rollback === "always";
    if (!keep && about.unreviewed === true) throw cannotBeReviewedError();
    // A single operation without an undo needs no record: it is atomic by itself.
    if (!keep && !required) return { result: await run(fs), undo: "nothing" };
    let log: OpenRecord | undefined;
    const transaction = new Transaction(fs, {
      ...TRANSACTION_LIMITS[about.rollback],
      required,
      contents: keep,
      found,
      sink: async (steps, notes) => {
        if (log === undefined) {
          log = await store.begin(about.callId);
          await log.append({ entry: "begin", header: headerOf(about) }, false);
        }
        const told = notes.done.length + notes.dropped.length > 0 ? { notes } : {};
        await log.append({ entry: "steps", steps, ...told }, durable);
      },
    });
    const failed = async (error: unknown): Promise<unknown> => {
      const outcome = await transaction.rollBack();
      if (outcome.failed.length === 0) await log?.close(null);
      else retries.add({ transaction, log, storage }); // The record stays: if this process ends, the next one tries again.
      return withOutcome(error, outcome);
    };
    let result: Awaited<ReturnType<typeof run>>;
    try {
      result = await run(transaction.backend);
    } catch (error) {
      throw await failed(error);
    } finally {
      // A command that failed may have changed files all the same.
      await noteUnrecorded(about, about.unrecorded);
    }
    if (log === undefined) {
      // Not even the first step was recorded: the content that it replaced was too large.
      const paths = transaction.undoable ? undefined : pathsOfSteps(transaction.steps);
      return { result, undo: await noteUnrecorded(about, paths) };
    }
    const { steps } = transaction;
    const finals = transaction.undoable && keep ? await readFinalStates(fs, transaction) : null;
    const notes = transaction.takeNotes();
    const commit: RecordEntry = {
      entry: "commit",
      finals: finals ?? [],
      undoable: finals !== null,
      notes,
      at: nextTimestamp(),
    };
    try {
      await (log as OpenRecord).append(commit, durable);
    } catch (error) {
      if (required) throw await failed(error);
      await finish(transaction, () => (log as OpenRecord).close(null), about.signal);
      return { result, undo: "nothing" };
    }
    const kept = finals === null || steps.length === 0 ? null : group;
    await finish(transaction, () => (log as OpenRecord).close(kept), about.signal);
    if (finals === null) return { result, undo: await noteUnrecorded(about, recordedPathsOf(steps)) };
    return { result, undo: kept === null ? "nothing" : "undoable" };
  };

  /** Adds a record without steps to the history. */
  const note = async (header: RecordHeader, unrecorded: readonly string[], at: number): Promise<void> => {
    const log = await store.begin(newCallId());
    await log.append({ entry: "begin", header }, false);
    await log.append({ entry: "commit", finals: [], undoable: false, unrecorded, at }, durable);
    await log.close(group);
  };
  /** Names a change in the history that cannot be undone. The change is made, so a failure to note it is none of it. */
  const noteUnrecorded = async (about: ChangeFacts, paths?: readonly string[]): Promise<Undoability> => {
    if (!keep || paths === undefined) return "nothing";
    await note(headerOf(about), paths.slice(0, MAX_RECORDED_PATHS), nextTimestamp()).catch(() => undefined);
    return "too_large";
  };
  /** Returns the records of the history that are not damaged, the newest commit first. */
  const past = async (): Promise<readonly StoredRecord[]> => {
    const logs = (await store.history(group)).filter(({ damaged }) => !damaged);
    const moments = new Map(logs.map((log) => [log, momentOf(log.entries)]));
    return logs.sort((a, b) => (moments.get(b) as number) - (moments.get(a) as number));
  };
  const marks = async (): Promise<readonly JournalMark[]> =>
    (await past()).flatMap(({ entries }) => {
      const begin = entries.find((entry) => entry.entry === "begin");
      if (begin?.header.mark === undefined) return [];
      return [{ name: begin.header.mark, at: momentOf(entries), agent: begin.header.agent }];
    });

  const unreviewed = async (): Promise<readonly HistoryRecord[]> => {
    const headers: RecordHeader[] = [];
    const records: HistoryRecord[] = [];
    for (const { entries } of await past()) {
      const begin = entries.find((entry) => entry.entry === "begin");
      if (begin !== undefined) headers.push(begin.header);
      records.push(...historyRecordOf(entries));
    }
    const done = reviewedCalls(headers);
    return records.filter(({ header }) => header.unreviewed === true && !done.has(header.callId));
  };

  return Object.freeze<Journal>({
    largestUndo: keep ? LARGEST_UNDO : undefined,
    isOneCommit: false,
    change,
    async unreviewed() {
      const forgottenBefore = await prunedUntil(store, group);
      return { records: await unreviewed(), forgottenBefore: forgottenBefore || undefined };
    },
    async keep(callIds, { by, agent }) {
      const known = new Set((await past()).flatMap(({ entries }) => callIdOf(entries)));
      const unknown = callIds.find((callId) => !known.has(callId));
      if (unknown !== undefined) throw unknownCallError(unknown);
      const wanted = new Set(callIds);
      const kept = (await unreviewed()).filter(({ header }) => wanted.has(header.callId));
      if (kept.length === 0) return kept;
      const header = headerOf({ callId: newCallId(), tool: "keep", agent, rollback: "try" });
      const keeps = kept.map(({ header: { callId } }) => callId);
      await note({ ...header, keeps, ...(by === undefined ? {} : { by }) }, [], nextTimestamp());
      return kept;
    },
    async history(all = false) {
      return (await past()).flatMap(recordsOf).filter(({ undoable }) => all || undoable);
    },
    async since(place) {
      const records = (await past()).flatMap(recordsOf);
      const moment = momentOfPlace(place, records);
      if (moment < (await prunedUntil(store, group))) throw beyondHistoryError();
      return records.filter(({ at }) => at > moment);
    },
    async steps(callId) {
      const { entries } = await logOf(callId);
      return { ...readSteps(entries), finals: recordedFinalStates(entries) };
    },
    marks,
    async mark(name, agent) {
      const known = await past();
      if ((await marks()).some((one) => one.name === name)) throw markExistsError(name);
      // A mark is never before a change that it follows, even when the clock was set back.
      const at = Math.max(
        nextTimestamp(),
        ...known.slice(0, 1).map(({ entries }) => momentOf(entries) + TIMESTAMP_STEP_MS),
      );
      const header = headerOf({ callId: newCallId(), tool: "mark", agent, rollback: "try" });
      await note({ ...header, mark: name }, [], at);
      return { name, at, agent };
    },
    async record(callId) {
      const [record] = recordsOf(await logOf(callId));
      if (record?.undoable === true) return record;
      throw notKeptError(callId, record?.header.tool ?? "");
    },
    async found(callId) {
      const { entries } = await logOf(callId);
      const finals = new Map(recordedFinalStates(entries));
      return statesBefore(readSteps(entries).steps).map((one) => ({ ...one, after: finals.get(one.path) }));
    },
    recover: (fs, mine, locked) => recoverAll({ store, storage, retries, fs, mine, locked }),
    async retry(fs, paths, locked) {
      if (retries.isEmpty) return;
      const touches = (one: string): boolean =>
        paths.some(({ path }) => isWithin(one, path) || isWithin(path, one));
      await retries.run({ fs, storage }, (own) => own.some(touches), locked);
    },
    async settled() {
      await Promise.all(finishing);
    },
  });
}

/** Returns the header of a record. `group` identifies the history, `storage` the storage unless it is the local disk. */
function recordHeaderOf(facts: ChangeFacts, group: string, storage: string | undefined): RecordHeader {
  const { callId, tool, agent, undoOf, rollback, unreviewed, allowedBy = [], undoes = [] } = facts;
  return withoutUndefined({
    callId,
    tool,
    time: Date.now(),
    cwd: group,
    storage,
    atomic: rollback === "always" ? true : undefined,
    agent,
    undoOf,
    unreviewed: unreviewed === true ? true : undefined,
    allowedBy: allowedBy.length === 0 ? undefined : allowedBy,
    undoes: undoes.length === 0 ? undefined : undoes,
  });
}

/** Returns the paths that a record without steps names. */
function recordedPathsOf(steps: readonly Step[]): readonly string[] {
  return pathsOfSteps(steps, MAX_RECORDED_PATHS);
}

/** Returns the state of each path before the first of the steps that touched it. */
function statesBefore(steps: readonly Step[]): readonly StateBefore[] {
  const found = new Map<string, StateBefore>();
  for (const step of steps.toReversed()) {
    if (step.kind === "move") {
      found.set(step.to, { path: step.to, image: step.over });
      found.set(step.from, { path: step.from, image: step.moved, from: step.to });
    } else if (step.scratch !== true) {
      // The newest step of the path tells with which permission bits the change left it.
      const leftMode = found.has(step.path) ? found.get(step.path)?.leftMode : modeLeftBy(step);
      found.set(step.path, { path: step.path, image: step.before, leftMode });
    }
  }
  return [...found.values()].toReversed();
}

/** Returns the final states in the `commit` entry of a record; empty without one. */
function recordedFinalStates(entries: readonly RecordEntry[]): FinalStates {
  return entries.find((entry) => entry.entry === "commit")?.finals ?? [];
}

/** Returns the change of a record; empty for a mark, for a list of kept changes, and for a record without an end. */
function historyRecordOf(entries: readonly RecordEntry[]): readonly HistoryRecord[] {
  const begin = entries.find((entry) => entry.entry === "begin");
  const commit = entries.find((entry) => entry.entry === "commit");
  if (begin === undefined || commit === undefined || isNoChange(begin.header)) return [];
  const { steps } = readSteps(entries);
  const { undoable, unrecorded } = commit;
  return [
    { header: begin.header, at: momentOf(entries), paths: unrecorded ?? pathsOfSteps(steps), undoable },
  ];
}

const recordsOf = ({ entries }: StoredRecord): readonly HistoryRecord[] => historyRecordOf(entries);

/**
 * Creates the error of a call that the history cannot undo, or does not have. A change that is not kept has a record of
 * its own, with the id of the call in its header.
 */
function missingCallError(callId: string, records: readonly HistoryRecord[]): FilewrightError {
  const named = records.find(({ header }) => header.callId === callId);
  return named === undefined ? unknownCallError(callId) : notKeptError(callId, named.header.tool);
}

/** Creates the error of a call of which the history has only the name and the paths. */
function notKeptError(callId: string, tool: string): FilewrightError {
  const reason = hasTrait(tool, "runsCommands")
    ? "what a command changes is not recorded"
    : `of one call the history keeps ${LARGEST_UNDO.words}, and it was larger`;
  return new FilewrightError("UNSUPPORTED_OPERATION", `The call '${callId}' cannot be undone: ${reason}.`, {
    complete: true,
  });
}

/** Returns the moment of a place. @throws NOT_FOUND, UNSUPPORTED_OPERATION for a call that the history cannot undo */
function momentOfPlace(place: HistoryPlace, records: readonly HistoryRecord[]): number {
  if (!("before" in place)) return "mark" in place ? place.mark.at : place.moment;
  const found = records.find(({ header, undoable }) => undoable && header.callId === place.before);
  if (found === undefined) throw missingCallError(place.before, records);
  return found.at - TIMESTAMP_STEP_MS;
}

/** Returns true for a record that is no change. */
function isNoChange({ mark, keeps }: RecordHeader): boolean {
  return mark !== undefined || keeps !== undefined;
}

/** Returns the id of the change of a record; empty for one that is no change. */
function callIdOf(entries: readonly RecordEntry[]): readonly string[] {
  return historyRecordOf(entries).map(({ header }) => header.callId);
}

/** Returns the moment at which the change of a record was committed. */
function momentOf(entries: readonly RecordEntry[]): number {
  const [begin] = entries;
  const commit = entries.find((entry) => entry.entry === "commit");
  return commit?.at ?? (begin?.entry === "begin" ? begin.header.time : 0);
}

/** Returns the state of every touched path after the change; null if there are too many paths to compare later. */
async function readFinalStates(fs: FsBackend, transaction: Transaction): Promise<FinalStates | null> {
  const yielder = new Yielder({});
  await yielder.yieldIfDue();
  const paths = pathsOfSteps(transaction.steps, MAX_RECORDED_PATHS + 1);
  if (paths.length > MAX_RECORDED_PATHS) return null;
  const known = new Map<string, PreImage>();
  for (const step of transaction.steps) {
    await yielder.yieldIfDue();
    for (const path of pathsOfSteps([step])) known.delete(path);
    // What was below a moved directory is elsewhere now.
    if (step.kind === "move")
      for (const path of known.keys())
        if (isWithin(path, step.from) || isWithin(path, step.to)) known.delete(path);
    const given = transaction.given(step);
    // The version from the write makes another read unnecessary.
    if (step.kind !== "move" && step.after?.hash !== undefined && given !== undefined)
      known.set(step.path, { ...step.after, ...given });
  }
  const finals: (readonly [string, PreImage | null])[] = [];
  for (const path of paths) {
    await yielder.yieldIfDue();
    const image = known.get(path);
    if (image !== undefined) {
      finals.push([path, image]);
      continue;
    }
    finals.push([path, await readFinalState(fs, path)]);
  }
  return finals;
}

/** Returns the state of a path. Without an id, only its content tells that a moved and restored file is the same. */
async function readFinalState(fs: FsBackend, path: string): Promise<PreImage | null> {
  const stat = await lstatOrNull(fs, path);
  if (stat === null) return null;
  const image = withoutMode(preImageOf(stat));
  if (!stat.isFile || (stat.version !== undefined && stat.fileId !== undefined)) return image;
  // The change is made, and one that cannot be read stays known by its version.
  const hash = await hashVia(fs.trusted?.() ?? fs, path).catch(() => undefined);
  return hash === undefined ? image : { ...image, hash };
}
