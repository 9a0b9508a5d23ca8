/**
 * Rolls back changes late: those of processes that ended in the middle of a change, and those of this process
 * whose rollback failed, such as on a full disk.
 */
import type { Files } from "../backends/files.ts";
import { isWithin } from "../backends/paths.ts";
import { withOutcome } from "../backends/transaction/outcome.ts";
import { pathsOfSteps } from "../backends/transaction/step.ts";
import { type Code, FilewrightError } from "../engine/errors.ts";
import { lazily } from "../engine/lazy.ts";
import type { RecordTask, RunLocked } from "./recover-record.ts";
import type { JournalStore, OpenRecord } from "./store.ts";
import type { Transaction } from "../backends/transaction/transaction.ts";

/** An error of a recovery that will not pass by itself. */
export interface RecoveryProblem {
  /** The code of the error. */
  readonly code: Code;
  /** The message of the error. It may hold paths of this machine. */
  readonly message: string;
}

/** The result of the recovery when a store was opened. */
export interface Recovery {
  /** The number of interrupted changes that were rolled back. */
  readonly rolledBack: number;
  /** The number of records without any authentic part, which were left alone. */
  readonly ignored: number;
  /**
   * The number of damaged records: the part before the damage was rolled back, and the record was
   * moved aside.
   */
  readonly damaged: number;
  /**
   * Paths that another process changed after the interruption, or whose directory it moved, removed or replaced, and
   * that were left unchanged.
   */
  readonly conflicts: readonly string[];
  /**
   * The first error that kept a change from being looked for or rolled back; the next workspace tries again. Undefined
   * without one, and for a lock of another process or a full disk, which pass.
   */
  readonly problem: RecoveryProblem | undefined;
}

/** The codes of what passes: another process holds a lock, or the disk is full. */
const PASSING_CODES: ReadonlySet<string> = new Set(["LOCK_TIMEOUT", "NO_SPACE"] satisfies Code[]);

/** Returns the problem that an error makes for a recovery; undefined for one that passes. */
export function recoveryProblemOf(error: unknown): RecoveryProblem | undefined {
  if (!(error instanceof FilewrightError))
    return Object.freeze({ code: "INTERNAL", message: "the recovery failed unexpectedly" });
  const { code, message } = error;
  return PASSING_CODES.has(code) ? undefined : Object.freeze({ code, message });
}

/** The result of a recovery that has found nothing to do. */
export const NO_RECOVERY: Recovery = Object.freeze({
  rolledBack: 0,
  ignored: 0,
  damaged: 0,
  conflicts: Object.freeze([]),
  problem: undefined,
});

/** The changes of a log that are not finished. */
export interface Rollbacks {
  /**
   * Rolls back the unfinished changes of dead processes, and rollbacks of this process that failed
   * before. `mine` returns true for a path that this workspace may change; `locked` runs its action with
   * the paths locked.
   */
  recover(fs: Files, mine: (path: string) => boolean, locked: RunLocked): Promise<Recovery>;
  /** Tries rollbacks of this process that failed before again, if they touch one of these paths. */
  retry(fs: Files, paths: readonly { readonly path: string }[], locked: RunLocked): Promise<void>;
  /** Resolves when the replaced entries of all changes are removed, including those of cancelled calls. */
  settled(): Promise<void>;
}

/** A rollback of this process that failed before its end. */
interface UnfinishedRollback {
  readonly transaction: Transaction;
  readonly log: Pick<OpenRecord, "close"> | undefined;
  /** The id of the storage of its paths; undefined for the local disk. */
  readonly storage: string | undefined;
}

/** The failed rollbacks of this process, shared by all workspaces of one store. */
export class RollbackRetries {
  readonly #unfinished = new Set<UnfinishedRollback>();

  /**
   * Rolls a change back that has failed, and returns its error with the paths that could not be restored. Their rollback is
   * tried again later, and the record stays: if this process ends, the next one tries.
   */
  async rollBack(change: UnfinishedRollback, error: unknown): Promise<unknown> {
    const outcome = await change.transaction.rollBack();
    if (outcome.failed.length === 0) await removeRecord(change);
    else this.#unfinished.add(change);
    return withOutcome(error, outcome);
  }

  /** Tries the rollbacks in a storage again that touch one of these paths, or what is above or below it. */
  async touching(
    at: { readonly fs: Files; readonly storage: string | undefined },
    paths: readonly { readonly path: string }[],
    locked: RunLocked,
  ): Promise<void> {
    if (this.#unfinished.size === 0) return;
    const touches = (one: string): boolean =>
      paths.some(({ path }) => isWithin(one, path) || isWithin(path, one));
    await this.run(at, (own) => own.some(touches), locked);
  }

  /**
   * Tries the rollbacks in a storage again for whose paths `isMeant` returns true. One that fails again stays for the
   * next time.
   */
  async run(
    { fs, storage }: { readonly fs: Files; readonly storage: string | undefined },
    isMeant: (paths: readonly string[]) => boolean,
    locked: RunLocked,
  ): Promise<void> {
    for (const each of [...this.#unfinished]) {
      const own = pathsOfSteps(each.transaction.steps);
      if (each.storage !== storage || !isMeant(own)) continue;
      this.#unfinished.delete(each);
      try {
        const { failed } = await locked(own, () => each.transaction.rollBack(0, fs));
        if (failed.length > 0) this.#unfinished.add(each);
        else await removeRecord(each);
      } catch {
        this.#unfinished.add(each); // Another process holds a lock.
      }
    }
  }
}

/** Removes the record of a change that was rolled back. The error of the change is the one to tell, not one of this. */
async function removeRecord({ log }: UnfinishedRollback): Promise<void> {
  try {
    await log?.close(null);
  } catch {
    // The record stays. The steps of the change are rolled back already.
  }
}

const retriesByStore = new WeakMap<JournalStore, RollbackRetries>();

/** Returns the failed rollbacks of a store. */
export function rollbackRetriesOf(store: JournalStore): RollbackRetries {
  const known = retriesByStore.get(store) ?? new RollbackRetries();
  retriesByStore.set(store, known);
  return known;
}

const records = lazily("unfinished changes", () => import("./recover-record.ts"));

/** The dependencies of a recovery. */
interface RecoveryTask extends RecordTask {
  readonly store: JournalStore;
  readonly retries: RollbackRetries;
}

/** Rolls back the unfinished changes whose paths this workspace may write, and returns what was done. */
export async function recoverAll(task: RecoveryTask): Promise<Recovery> {
  const { store, retries, mine, locked } = task;
  await retries.run(task, (paths) => paths.every(mine), locked);
  let [rolledBack, ignored, damaged] = [0, 0, 0];
  const conflicts: string[] = [];
  let problem: RecoveryProblem | undefined;
  for (const log of await store.unfinished()) {
    const begin = log.entries.find((entry) => entry.entry === "begin");
    if (log.damaged && begin === undefined) {
      ignored += 1;
      log.leave();
      continue;
    }
    try {
      const { recoverRecord } = await records();
      const outcome = await recoverRecord(log, begin?.header, task);
      if (outcome === undefined) {
        log.leave(); // It belongs to another workspace.
        continue;
      }
      if (log.damaged) damaged += 1;
      if (outcome.rolledBack) rolledBack += 1;
      conflicts.push(...outcome.conflicts);
    } catch (error) {
      log.leave(); // The next process to open the store tries again.
      problem ??= recoveryProblemOf(error);
    }
  }
  return Object.freeze({ rolledBack, ignored, damaged, conflicts: Object.freeze(conflicts), problem });
}
