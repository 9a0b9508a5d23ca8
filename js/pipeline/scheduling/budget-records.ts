/**
 * Budgets as counters in records, so that all processes that share them spend the same one. Bytes of answers without a
 * limit are only for the record: a process counts them by itself and adds them up from time to time.
 */
import { FilewrightError } from "../../engine/errors.ts";
import { namePart } from "../../records/names.ts";
import type { RecordOp, Records } from "../../records/records.ts";

/** The part of the budget that an agent has used. */
export interface Spent {
  /** The number of calls. */
  readonly calls: number;
  /** The UTF-8 bytes of answers. */
  readonly outputBytes: number;
}

/** The limits of a budget, and its time. */
export interface BudgetLimits {
  readonly calls?: number | undefined;
  readonly outputBytes?: number | undefined;
  readonly forMs?: number | undefined;
}

/** The records of the budgets of a workspace. */
export interface BudgetPlace {
  readonly records: Records;
  /** The scope of the workspace, by which its records differ from those of others. */
  readonly scope: string;
  /** True where the commit of a change of files changes these records, too. */
  readonly commits: boolean;
}

/** The answer about calls that begin. */
export interface Counted {
  /** False when the budget is spent: then the calls are not counted. */
  readonly ok: boolean;
  /** What was spent, these calls included. */
  readonly spent: Spent;
}

/** What was spent of the budgets of a workspace. A budget is its name. */
export interface BudgetRecords {
  /**
   * Counts calls that begin, in one step for all processes: none of them if they would exceed `limits.calls`, or if
   * the answers have used up `limits.outputBytes`. A negative number takes calls back.
   */
  begin(budget: string, calls: number, limits: BudgetLimits): Promise<Counted>;
  /** Returns the changes of records that count calls within the commit of a change; undefined where that is impossible. */
  inCommit(budget: string, calls: number, limits: BudgetLimits): readonly RecordOp[] | undefined;
  /** Counts the bytes of an answer. Without a limit for them they may be counted later. */
  end(budget: string, outputBytes: number, limits: BudgetLimits): Promise<void>;
  /** Returns what was spent. */
  spent(budget: string): Promise<Spent>;
}

/** The number of bytes that a process counts by itself before it adds them to the record. */
const MAX_UNCOUNTED_BYTES = 256 * 1024;

/** Returns the budgets of a workspace in records. */
export function budgetsIn({ records, scope, commits }: BudgetPlace): BudgetRecords {
  const [calls, bytes] = [`budget-calls ${scope}`, `budget-bytes ${scope}`];
  const uncounted = new Map<string, number>();
  const addBytes = async (id: string, amount: number, { forMs }: BudgetLimits): Promise<void> => {
    const sum = amount + (uncounted.get(id) ?? 0);
    uncounted.delete(id);
    if (sum === 0) return;
    try {
      await records.add(bytes, id, sum, { forMs });
    } catch {
      // The answer is there and is given: what cannot be counted is not.
    }
  };
  return Object.freeze({
    async begin(budget: string, amount: number, { calls: mostCalls, outputBytes, forMs }: BudgetLimits) {
      const id = namePart(budget);
      const [counted, spentBytes] = await Promise.all([
        records.add(calls, id, amount, { most: amount > 0 ? mostCalls : undefined, forMs }),
        outputBytes === undefined ? 0 : numberOf(records, bytes, id),
      ]);
      const ok = counted.ok && (amount <= 0 || spentBytes < (outputBytes ?? Number.POSITIVE_INFINITY));
      // The calls were counted although the answers had used the budget up.
      const now = counted.ok && !ok ? (await records.add(calls, id, -amount)).now : counted.now;
      return { ok, spent: { calls: now, outputBytes: spentBytes } };
    },
    inCommit(budget: string, amount: number, { calls: most, outputBytes, forMs }: BudgetLimits) {
      // A commit gives a counter no time, and does not answer how many bytes were counted.
      if (!commits || outputBytes !== undefined || forMs !== undefined) return undefined;
      return [{ kind: calls, id: namePart(budget), add: amount, most }];
    },
    async end(budget: string, amount: number, limits: BudgetLimits) {
      const id = namePart(budget);
      if (limits.outputBytes !== undefined || limits.forMs !== undefined) return addBytes(id, amount, limits);
      const sum = amount + (uncounted.get(id) ?? 0);
      uncounted.set(id, sum);
      if (sum > MAX_UNCOUNTED_BYTES) void addBytes(id, 0, limits);
      return undefined;
    },
    async spent(budget: string) {
      const id = namePart(budget);
      await addBytes(id, 0, {});
      const [ofCalls, ofBytes] = await Promise.all([
        numberOf(records, calls, id),
        numberOf(records, bytes, id),
      ]);
      return { calls: ofCalls, outputBytes: ofBytes };
    },
  });
}

/** Returns the number of a counter. @throws FilewrightError for a value that is no number, so that nothing is spent */
async function numberOf(records: Records, kind: string, id: string): Promise<number> {
  const value = (await records.get(kind, id))?.value ?? 0;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new FilewrightError("INVALID_ARGUMENT", `the record ${kind} ${id} is no counter`);
}
