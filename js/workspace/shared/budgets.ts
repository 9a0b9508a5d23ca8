/**
 * Budgets as counters in the records of a storage, so that all replicas spend the same one. Bytes of answers without a
 * limit are only for the record: a replica counts them by itself and adds them up from time to time.
 */
import type { BudgetLimits, BudgetStore } from "../../pipeline/scheduling/budget.ts";
import type { Records } from "../../storage/storage.ts";
import { namePart } from "./names.ts";

/** The number of bytes that a replica counts by itself before it adds them to the record. */
const MAX_UNCOUNTED_BYTES = 256 * 1024;

/** Returns the budgets of a workspace in the records of its storage. */
export function recordBudgets(records: Records, scope: string): BudgetStore {
  const [calls, bytes] = [`budget-calls ${scope}`, `budget-bytes ${scope}`];
  const uncounted = new Map<string, number>();
  const numberOf = async (kind: string, id: string): Promise<number> =>
    Number((await records.get(kind, id))?.value ?? 0);
  const addBytes = async (id: string, amount: number, { forMs }: BudgetLimits): Promise<void> => {
    const sum = amount + (uncounted.get(id) ?? 0);
    uncounted.delete(id);
    // The answer is there and is given: what cannot be counted is not.
    if (sum > 0) await records.add(bytes, id, sum, undefined, { forMs }).catch(() => undefined);
  };
  return Object.freeze({
    async begin(budget: string, amount: number, { calls: mostCalls, outputBytes, forMs }: BudgetLimits) {
      const id = namePart(budget);
      const most = amount > 0 ? mostCalls : undefined;
      const [counted, spentBytes] = await Promise.all([
        records.add(calls, id, amount, most, { forMs }),
        outputBytes === undefined ? 0 : numberOf(bytes, id),
      ]);
      const ok = counted.ok && (amount <= 0 || spentBytes < (outputBytes ?? Number.POSITIVE_INFINITY));
      // The calls were counted although the answers had used the budget up.
      const now = counted.ok && !ok ? (await records.add(calls, id, -amount)).now : counted.now;
      return { ok, spent: { calls: now, outputBytes: spentBytes } };
    },
    inCommit(budget: string, amount: number, { calls: most, outputBytes, forMs }: BudgetLimits) {
      // A commit gives a counter no time, and does not answer how many bytes were counted.
      if (outputBytes !== undefined || forMs !== undefined) return undefined;
      return [{ kind: calls, id: namePart(budget), add: amount, ...(most === undefined ? {} : { most }) }];
    },
    end(budget: string, amount: number, limits: BudgetLimits) {
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
      const [ofCalls, ofBytes] = await Promise.all([numberOf(calls, id), numberOf(bytes, id)]);
      return { calls: ofCalls, outputBytes: ofBytes };
    },
  });
}
