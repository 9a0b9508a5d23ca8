/**
 * The journal: changes that are atomic, even when the process ends, and that can be undone.
 *
 * A change is a transaction whose steps are stored before they are made. When it fails, the steps
 * are rolled back; when the process ends, the next one that opens the same store rolls them back
 * (`recovery.ts`); when it succeeds, the record stays for `undo`. The caller holds the locks of
 * the paths.
 */
import type { RecordOp } from "../storage/storage.ts";
import type { FsBackend, MaybePromise } from "../backends/backend.ts";
import { lstatOrNull } from "../backends/fallback/fallback.ts";
import { backendError } from "../backends/failure.ts";
import { isWithin } from "../backends/paths.ts";
import { untilAborted, Yielder } from "../engine/yielder.ts";
import { engine } from "../engine/current.ts";
import { FilewrightError } from "../engine/errors.ts";
import { preImageOf, isPreImage, type PreImage } from "../backends/transaction/pre-image.ts";
import {
  type RunLocked,
  type Recovery,
  type RollbackRetries,
  recoverAll,
  rollbackRetriesOf,
} from "./recovery.ts";
import { toStepResult, rollBack } from "../backends/transaction/rollback.ts";
import {
  type RecordEntry,
  type FinalStates,
  type RecordHeader,
  pathsOfSteps,
  readSteps,
  type Step,
} from "../backends/transaction/step.ts";
import type { JournalStore, OpenRecord, StoredRecord } from "./store.ts";
import { Transaction, withOutcome } from "../backends/transaction/transaction.ts";

/** Options of a journal. */
export interface JournalOptions {
  readonly store: JournalStore;
  /** The working directory, which identifies the history. */
  readonly cwd: string;
  /** The id of the storage that the paths belong to; absent for the local disk. */
  readonly storage?: string | undefined;
  /** True when the records of finished changes are kept, so that they can be undone. */
  readonly keep: boolean;
  /** True when every record is flushed to the disk before the change goes on. */
  readonly durable: boolean;
}

/** What the journal records about a change, besides its steps. */
export interface ChangeFacts {
  readonly callId: string;
  readonly tool: string;
  /** The name of the agent that makes the change; absent for a caller without a name. */
  readonly agent?: string | undefined;
  readonly undoOf?: string;
  /**
   * `always`: a step that cannot be rolled back is refused, since the change has several
   * operations. `try`: one operation, made even when it cannot be rolled back.
   */
  readonly rollback: "always" | "try";
  /**
   * The signal of the call. Once the change is made, a cancelled call ends without waiting until
   * the old entries are removed from the disk.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Returns the shared records that change in the same moment. Called once the change is complete, where it is one
   * commit of a storage; otherwise not at all.
   */
  readonly records?: (() => readonly RecordOp[]) | undefined;
}

/** One change in the history. */
export interface HistoryRecord {
  readonly header: RecordHeader;
  readonly paths: readonly string[];
  readonly undoable: boolean;
}

/** The state of one path before a change. */
export interface StateBefore {
  readonly path: string;
  /** The entry before the change, with its content if that was recorded; null when there was none. */
  readonly image: PreImage | null;
  /**
   * The entry after the change, without its content; null when there is none, undefined when this is not recorded.
   */
  readonly after?: PreImage | null | undefined;
  /** The path to which the change moved it. */
  readonly from?: string;
}

/** The journal of a workspace. */
export interface Journal {
  /** Runs `run` on a backend that records each step. Rolls the steps back when it fails. */
  change<T>(fs: FsBackend, about: ChangeFacts, run: (fs: FsBackend) => Promise<T>): Promise<T>;
  /** Returns the recorded changes, the newest first. */
  history(): Promise<readonly HistoryRecord[]>;
  /** Returns the record of one change. @throws NOT_FOUND, UNSUPPORTED_OPERATION */
  record(callId: string): Promise<HistoryRecord>;
  /** Returns the state before a change of each path that the change touched. @throws NOT_FOUND */
  found(callId: string): Promise<readonly StateBefore[]>;
  /** Restores the state before a change. @throws CONFLICT when a path has changed since */
  undo(fs: FsBackend, undone: string, as: Pick<ChangeFacts, "callId" | "agent" | "signal">): Promise<void>;
  /**
   * Rolls back the unfinished changes of dead processes, and rollbacks of this process that failed
   * before. `mine` returns true for a path that this workspace may change; `locked` runs its action with
   * the paths locked.
   */
  recover(fs: FsBackend, mine: (path: string) => boolean, locked: RunLocked): Promise<Recovery>;
  /** Tries rollbacks of this process that failed before again, if they touch one of these paths. */
  retry(fs: FsBackend, paths: readonly { readonly path: string }[], locked: RunLocked): Promise<void>;
  /** Resolves when the replaced entries of all changes are removed, including those of cancelled calls. */
  settled(): Promise<void>;
}

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

/** Creates the journal of a workspace. */
export function makeJournal({ store, cwd, storage, keep, durable }: JournalOptions): Journal {
  const retries: RollbackRetries = rollbackRetriesOf(store);
  const group = storage === undefined ? cwd : `${storage}:${cwd}`;
  const logOf = async (callId: string): Promise<StoredRecord> => {
    const log = isCallId(callId) ? await store.find(group, callId) : null;
    if (log === null || log.damaged) throw unknownCallError(callId);
    return log;
  };
  const headerOf = ({ callId, tool, agent, undoOf, rollback }: ChangeFacts): RecordHeader => ({
    callId,
    tool,
    time: Date.now(),
    cwd: group,
    ...(storage === undefined ? {} : { storage }),
    ...(rollback === "always" ? { atomic: true } : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(undoOf === undefined ? {} : { undoOf }),
  });

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

  const change = async <T>(
    fs: FsBackend,
    about: ChangeFacts,
    run: (fs: FsBackend) => Promise<T>,
  ): Promise<T> => {
    const required = about.rollback === "always";
    // A single operation without an undo needs no record: it is atomic by itself.
    if (!keep && !required) return run(fs);
    let log: OpenRecord | undefined;
    const transaction = new Transaction(fs, {
      ...TRANSACTION_LIMITS[about.rollback],
      required,
      contents: keep,
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
      // The record stays as it is: if this process ends, the next one tries again.
      else retries.add(transaction, log);
      return withOutcome(error, outcome);
    };
    let result: T;
    try {
      result = await run(transaction.backend);
    } catch (error) {
      throw await failed(error);
    }
    if (log === undefined) return result;
    const { steps } = transaction;
    const finals = transaction.undoable && keep ? await readFinalStates(fs, transaction) : null;
    const notes = transaction.takeNotes();
    const commit: RecordEntry = { entry: "commit", finals: finals ?? [], undoable: finals !== null, notes };
    try {
      await (log as OpenRecord).append(commit, durable);
    } catch (error) {
      if (required) throw await failed(error);
      await finish(transaction, () => (log as OpenRecord).close(null), about.signal);
      return result;
    }
    const kept = finals === null || steps.length === 0 ? null : group;
    await finish(transaction, () => (log as OpenRecord).close(kept), about.signal);
    return result;
  };

  const undo: Journal["undo"] = async (fs, undone, as) => {
    const { entries } = await logOf(undone);
    const { steps, given } = readSteps(entries);
    const now = new Map(given);
    // If several steps touched a path, the undo must find the state after the last of them.
    const lastAt = new Map(steps.map((step) => [step.kind === "move" ? step.to : step.path, step]));
    const yielder = new Yielder({ signal: as.signal });
    for (const [path, image] of recordedFinalStates(entries)) {
      await yielder.yieldIfDue();
      const stat = await lstatOrNull(fs, path);
      if (!(await isPreImage(fs, path, stat, image))) {
        throw backendError("CONFLICT", path, "has changed since that call", {
          hint: "undo the later changes first",
        });
      }
      // Only the content counts, however it was restored: it must equal the state that the last step
      // left.
      const last = lastAt.get(path);
      if (last !== undefined && stat !== null) now.set(last.id, toStepResult(stat));
    }
    const about: ChangeFacts = { ...as, tool: "undo", undoOf: undone, rollback: "always" };
    await change(fs, about, async (recording) => {
      const { conflicts, failed } = await rollBack(
        recording,
        steps.map(withoutSetAsideFacts),
        now,
        as.signal,
      );
      const left = [...failed, ...conflicts][0];
      if (left !== undefined) throw backendError("CONFLICT", left, "could not be put back");
    });
  };

  return Object.freeze<Journal>({
    change,
    undo,
    async history() {
      const logs = await store.history(group);
      return logs.flatMap((log) => (log.damaged ? [] : historyRecordOf(log.entries)));
    },
    async record(callId) {
      const record = historyRecordOf((await logOf(callId)).entries)[0];
      if (record?.undoable === true) return record;
      throw new FilewrightError("UNSUPPORTED_OPERATION", `The call '${callId}' cannot be undone.`, {
        complete: true,
      });
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
      await retries.run(fs, (own) => own.some(touches), locked);
    },
    async settled() {
      await Promise.all(finishing);
    },
  });
}

/** Matches the id of a call, which is part of a file name. */
const CALL_ID_FORM = /^[0-9a-z]{1,20}-[0-9a-z]{1,40}$/u;

/** Returns true for a text that can be the id of a call. */
export function isCallId(text: string): boolean {
  return CALL_ID_FORM.test(text);
}

/** Creates the error of an id that no call of the history has. */
export function unknownCallError(callId: string): FilewrightError {
  return new FilewrightError("NOT_FOUND", `There is no call '${callId.slice(0, 80)}' in the history.`, {
    complete: true,
    hint: "history lists the calls that can be undone",
  });
}

/** Random bytes for many ids, drawn at once: every call has an id, and few are ever used. */
const randomBytePool = new Uint8Array(6 * 128);
let usedPoolBytes = randomBytePool.length;

/** Returns the id of a new call. Later ids sort after earlier ones. */
export function newCallId(): string {
  if (usedPoolBytes === randomBytePool.length) {
    crypto.getRandomValues(randomBytePool);
    usedPoolBytes = 0;
  }
  let tail = "";
  for (const end = usedPoolBytes + 6; usedPoolBytes < end; usedPoolBytes++)
    tail += HEX_OF_BYTE[randomBytePool[usedPoolBytes] as number];
  return `${Date.now().toString(36).padStart(9, "0")}-${tail}`;
}

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/**
 * Returns a step for use in an undo, without the paths of entries that were set aside and of directories, because
 * these may be gone or replaced.
 */
function withoutSetAsideFacts(step: Step): Step {
  const { aside: _aside, ...rest } = step;
  if (rest.kind === "move") {
    const { parents: _parents, below: _below, ...move } = rest;
    return move;
  }
  const { parent: _parent, ...path } = rest;
  return path;
}

/** Returns the state of each path before the first of the steps that touched it. */
function statesBefore(steps: readonly Step[]): readonly StateBefore[] {
  const found = new Map<string, StateBefore>();
  for (const step of steps.toReversed()) {
    if (step.kind === "move") {
      found.set(step.to, { path: step.to, image: step.over });
      found.set(step.from, { path: step.from, image: step.moved, from: step.to });
    } else if (step.scratch !== true) found.set(step.path, { path: step.path, image: step.before });
  }
  return [...found.values()].toReversed();
}

/** Returns the final states in the `commit` entry of a record; empty without one. */
function recordedFinalStates(entries: readonly RecordEntry[]): FinalStates {
  return entries.find((entry) => entry.entry === "commit")?.finals ?? [];
}

function historyRecordOf(entries: readonly RecordEntry[]): readonly HistoryRecord[] {
  const begin = entries.find((entry) => entry.entry === "begin");
  const commit = entries.find((entry) => entry.entry === "commit");
  if (begin === undefined || commit === undefined) return [];
  const { steps } = readSteps(entries);
  return [{ header: begin.header, paths: pathsOfSteps(steps), undoable: commit.undoable }];
}

/**
 * Returns a state without its permission bits: an undo compares types and contents, and the bits may have changed
 * since.
 */
function withoutMode({ mode: _mode, ...image }: PreImage): PreImage {
  return image;
}

/** Returns the state of every touched path after the change; null if there are too many paths to compare later. */
async function readFinalStates(fs: FsBackend, transaction: Transaction): Promise<FinalStates | null> {
  const known = new Map<string, PreImage>();
  for (const step of transaction.steps) {
    for (const path of pathsOfSteps([step])) known.delete(path);
    const given = transaction.given(step);
    // The version from the write makes another read unnecessary.
    if (step.kind !== "move" && step.after?.hash !== undefined && given !== undefined)
      known.set(step.path, { ...step.after, ...given });
  }
  const paths = pathsOfSteps(transaction.steps);
  if (paths.length > MAX_RECORDED_PATHS) return null;
  const finals: (readonly [string, PreImage | null])[] = [];
  const yielder = new Yielder({});
  for (const path of paths) {
    await yielder.yieldIfDue();
    const image = known.get(path);
    if (image !== undefined) {
      finals.push([path, image]);
      continue;
    }
    const stat = await lstatOrNull(fs, path);
    const hash =
      stat?.isFile === true && stat.version === undefined
        ? { hash: engine().sha256(await fs.readBytes(path)) }
        : {};
    finals.push([path, stat === null ? null : { ...withoutMode(preImageOf(stat)), ...hash }]);
  }
  return finals;
}
