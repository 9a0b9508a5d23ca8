/** Budgets as counters in the records of a storage, so that all replicas spend the same one. */
import type { BudgetLimits, BudgetStore } from "../../pipeline/scheduling/budget.ts";
import type { Records } from "../../storage/storage.ts";
import { namePart } from "./names.ts";

/** Returns the budgets of a workspace in the records of its storage. */
export function recordBudgets(records: Records, scope: string): BudgetStore {
  const [calls, bytes] = [`budget-calls ${scope}`, `budget-bytes ${scope}`];
  const numberOf = async (kind: string, id: string): Promise<number> =>
    Number((await records.get(kind, id))?.value ?? 0);
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
    end(budget: string, amount: number, { outputBytes, forMs }: BudgetLimits) {
      const counted = records.add(bytes, namePart(budget), amount, undefined, { forMs }).then(
        () => undefined,
        // The answer is there and is given: what cannot be counted is not.
        () => undefined,
      );
      return outputBytes === undefined ? undefined : counted;
    },
    async spent(budget: string) {
      const id = namePart(budget);
      const [ofCalls, ofBytes] = await Promise.all([numberOf(calls, id), numberOf(bytes, id)]);
      return { calls: ofCalls, outputBytes: ofBytes };
    },
  });
}
