/** The budget of an agent: counts its calls and output, and refuses calls when it is spent. */
import type { MaybePromise } from "../../backends/backend.ts";
import type { RecordOp } from "../../storage/storage.ts";
import { callback, instance, type Options, required } from "../../schema/option.ts";
import { utf8Length, plural } from "../../tools/lib/text.ts";
import type { Limits } from "../../tools/lib/limits.ts";
import { type ErrorData, type Failure, refusedFailure, type ToolResult } from "../result.ts";

/** The limits of an agent. An omitted limit does not apply. */
export interface BudgetOptions {
  /** The maximum number of calls, including failed ones. A batch counts as its operations. */
  readonly calls?: number | undefined;
  /**
   * The maximum size of all answers, in UTF-8 bytes. Calls that run at the same time may each use the whole
   * remainder.
   */
  readonly outputBytes?: number | undefined;
  /**
   * The name of what is spent, where budgets are shared with other processes: agents with the same name spend the
   * same budget. Default: the name of the agent, behind those of the agents that it belongs to.
   */
  readonly name?: string | undefined;
  /**
   * The time after which the budget begins anew, from its first call, in milliseconds. Default: never, but a
   * budget that is not shared ends with its agent.
   */
  readonly forMs?: number | undefined;
}

/** The part of the budget that an agent has used. */
export interface Spent {
  /** The number of calls. */
  readonly calls: number;
  /** The UTF-8 bytes of answers. */
  readonly outputBytes: number;
}

/** The limits of a budget, and its time. */
export type BudgetLimits = Pick<BudgetOptions, "calls" | "outputBytes" | "forMs">;

/** A store of what was spent, which several processes may share. A budget is its name. */
export interface BudgetStore {
  /**
   * Counts calls that begin, in one step for all processes: none of them if they would exceed `limits.calls`, or if
   * the answers have used up `limits.outputBytes`. The result has what was spent, these calls included. A negative
   * number takes calls back.
   */
  begin(
    budget: string,
    calls: number,
    limits: BudgetLimits,
  ): MaybePromise<{ readonly ok: boolean; readonly spent: Spent }>;
  /**
   * Returns the changes of records that count calls, for a store in the records of the storage that commits a change
   * of files: they are part of that commit. Undefined where that is not possible.
   */
  inCommit?(budget: string, calls: number, limits: BudgetLimits): readonly RecordOp[] | undefined;
  /** Counts the bytes of an answer. Without a limit for them they may be counted later. */
  end(budget: string, outputBytes: number, limits: BudgetLimits): MaybePromise<void>;
  /** Returns what was spent. */
  spent(budget: string): MaybePromise<Spent>;
}

/** The description of a store of budgets: any object with these methods. */
export const BUDGET_STORE: Options<BudgetStore> = instance<BudgetStore>("BudgetStore", "a store of budgets", {
  begin: required(callback()),
  inCommit: callback(),
  end: required(callback()),
  spent: required(callback()),
});

/** The parts of a budget that was never used. */
const NOTHING_SPENT: Spent = Object.freeze({ calls: 0, outputBytes: 0 });

/** Creates a store of budgets in memory, for workspaces of one process. `now` returns milliseconds. */
export function memoryBudgets(now: () => number = Date.now): BudgetStore {
  const kept = new Map<string, { spent: Spent; readonly until: number }>();
  const find = (budget: string): { spent: Spent } | undefined => {
    const found = kept.get(budget);
    return found === undefined || found.until > now() ? found : undefined;
  };
  const add = (budget: string, { forMs }: BudgetLimits, calls: number, outputBytes: number): Spent => {
    const found = find(budget);
    const before = found?.spent ?? NOTHING_SPENT;
    const spent = Object.freeze({
      calls: before.calls + calls,
      outputBytes: before.outputBytes + outputBytes,
    });
    if (found === undefined) kept.set(budget, { spent, until: now() + (forMs ?? Number.POSITIVE_INFINITY) });
    else found.spent = spent;
    return spent;
  };
  return Object.freeze({
    begin(budget: string, calls: number, limits: BudgetLimits) {
      const spent = find(budget)?.spent ?? NOTHING_SPENT;
      if (calls > 0 && !isWithinLimits(spent, calls, limits)) return { ok: false, spent };
      return { ok: true, spent: add(budget, limits, calls, 0) };
    },
    end: (budget: string, outputBytes: number, limits: BudgetLimits) =>
      void add(budget, limits, 0, outputBytes),
    spent: (budget: string) => find(budget)?.spent ?? NOTHING_SPENT,
  });
}

/** Returns true when so many further calls are within the limits of a budget. */
function isWithinLimits(spent: Spent, calls: number, limits: BudgetLimits): boolean {
  const { calls: mostCalls = Number.POSITIVE_INFINITY, outputBytes: mostBytes = Number.POSITIVE_INFINITY } =
    limits;
  return spent.calls + calls <= mostCalls && spent.outputBytes < mostBytes;
}

/** Counts the calls and output of one agent. Promises are returned only where the store is one of promises. */
export interface Budget {
  /** The name of the budget in its store. */
  readonly name: string;
  /** Counts a call that begins. Returns a failure when the budget is spent; then the call must not run. */
  begin(args: unknown): MaybePromise<Failure | undefined>;
  /**
   * Returns the changes of records that count a call with the commit of its change, instead of `begin`; undefined
   * where it has to be counted before.
   */
  inCommit(args: unknown): readonly RecordOp[] | undefined;
  /** Returns the failure of a call whose commit was refused because of such a change; undefined for another error. */
  refusal(error: ErrorData): Failure | undefined;
  /** Returns the limits of a call that begins now. */
  limits(limits: Limits): Limits;
  /** Counts an answer. */
  end(result: ToolResult): MaybePromise<void>;
  spent(): MaybePromise<Spent>;
}

/** The place of a budget. */
export interface BudgetPlace {
  /** The name of the agent that spends it. */
  readonly agent: string;
  /** The store. Default: in memory. */
  readonly store?: BudgetStore | undefined;
  /** The budget in which everything is counted as well. */
  readonly outer?: Budget | undefined;
}

/** Creates the budget of an agent, unspent unless the store says otherwise. */
export function makeBudget(
  options: BudgetOptions,
  { agent, store = memoryBudgets(), outer }: BudgetPlace,
): Budget {
  const { name = outer === undefined ? agent : `${outer.name}/${agent}`, ...limits } = options;
  // What was spent when the store was asked last, by which an answer is limited.
  let known = NOTHING_SPENT;
  const begun = (args: unknown, { ok, spent }: { ok: boolean; spent: Spent }, count: number) => {
    known = spent;
    if (!ok) return spentFailure(spent, count, limits);
    const refusal = outer?.begin(args);
    if (refusal === undefined) return undefined;
    return after(refusal, (failure) =>
      failure === undefined ? undefined : after(store.begin(name, -count, limits), () => failure),
    );
  };
  return Object.freeze({
    name,
    begin(args: unknown) {
      const count = countedCalls(args);
      return after(store.begin(name, count, limits), (answer) => begun(args, answer, count));
    },
    inCommit(args: unknown) {
      const count = countedCalls(args);
      // One that was spent is asked before the call, so that nobody is asked about a change that it refuses.
      if (!isWithinLimits(known, count, limits)) return undefined;
      const own = store.inCommit?.(name, count, limits);
      const others = outer === undefined ? [] : outer.inCommit(args);
      return own === undefined || others === undefined ? undefined : [...own, ...others];
    },
    refusal({ code, details = {} }: ErrorData) {
      const { record, now, most } = details;
      if (code !== "LIMIT_EXCEEDED" || record === undefined) return undefined;
      const spent = { calls: Number(now), outputBytes: known.outputBytes };
      if (most === limits.calls) known = spent;
      return spentFailure(spent, 1, { calls: Number(most) });
    },
    limits(given: Limits): Limits {
      const all = outer?.limits(given) ?? given;
      const left = Math.max(1, (limits.outputBytes ?? Number.POSITIVE_INFINITY) - known.outputBytes);
      return left >= all.outputBytes ? all : { ...all, outputBytes: left };
    },
    end(result: ToolResult): MaybePromise<void> {
      const { text, content = [] } = result;
      const images = content.reduce((sum, { source }) => sum + source.data.length, 0);
      const own = store.end(name, utf8Length(text) + images, limits);
      const others = outer?.end(result);
      return own instanceof Promise || others instanceof Promise
        ? Promise.all([own, others]).then(() => undefined)
        : undefined;
    },
    spent: () => store.spent(name),
  });
}

/** Applies a function to a value, once it is there. */
function after<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

function spentFailure({ calls, outputBytes }: Spent, count: number, limits: BudgetLimits): Failure {
  const isCalls = calls + count > (limits.calls ?? Number.POSITIVE_INFINITY);
  const what = isCalls
    ? `${calls} of ${plural(limits.calls ?? 0, "call")}`
    : `${outputBytes} of ${plural(limits.outputBytes ?? 0, "byte")} of answers`;
  return refusedFailure(
    "LIMIT_EXCEEDED",
    `The budget of this agent is spent: ${what}. Finish with what is known, or ask the user for more.`,
  );
}

/** Returns the number of calls that a call counts as: a batch counts as its operations. */
function countedCalls(args: unknown): number {
  const operations = (args as { readonly operations?: unknown } | null | undefined)?.operations;
  return Array.isArray(operations) ? Math.max(1, operations.length) : 1;
}
