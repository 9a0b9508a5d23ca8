/** The budget of an agent: counts its calls and output, and refuses calls when it is spent. */
import { memoryRecords } from "../../records/memory.ts";
import type { RecordOp } from "../../records/records.ts";
import { plural } from "../../engine/escape.ts";
import { utf8Length } from "../../tools/lib/text.ts";
import type { Limits } from "../../tools/lib/limits.ts";
import { type ErrorData, type Failure, refusedFailure, type ToolResult } from "../result.ts";
import {
  type BudgetLimits,
  type BudgetRecords,
  budgetsIn,
  type Counted,
  type Spent,
} from "./budget-records.ts";

export type { Spent } from "./budget-records.ts";

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

/** Returns true when so many further calls are within the limits of a budget. */
function isWithinLimits(spent: Spent, calls: number, limits: BudgetLimits): boolean {
  const { calls: mostCalls = Number.POSITIVE_INFINITY, outputBytes: mostBytes = Number.POSITIVE_INFINITY } =
    limits;
  return spent.calls + calls <= mostCalls && spent.outputBytes < mostBytes;
}

/** Counts the calls and output of one agent. */
export interface Budget {
  /** The name of the budget in its records. */
  readonly name: string;
  /** Counts a call that begins. Returns a failure when the budget is spent; then the call must not run. */
  begin(args: unknown): Promise<Failure | undefined>;
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
  end(result: ToolResult): Promise<void>;
  spent(): Promise<Spent>;
}

/** The owner of a budget, and where it is counted. */
export interface BudgetOwner {
  /** The name of the agent that spends it. */
  readonly agent: string;
  /** The records. Default: in memory. */
  readonly records: BudgetRecords | undefined;
  /** The budget in which everything is counted as well. */
  readonly outer: Budget | undefined;
}

/** The parts of a budget that was never used. */
const NOTHING_SPENT: Spent = Object.freeze({ calls: 0, outputBytes: 0 });

/** Creates the budget of an agent, unspent unless the records say otherwise. */
export function makeBudget(options: BudgetOptions, { agent, records, outer }: BudgetOwner): Budget {
  const { name = outer === undefined ? agent : `${outer.name}/${agent}`, ...limits } = options;
  const counted = records ?? budgetsIn({ records: memoryRecords(), scope: "", commits: false });
  // What was spent when the records were asked last, by which an answer is limited.
  let known = NOTHING_SPENT;
  return Object.freeze({
    name,
    async begin(args: unknown) {
      const count = countedCalls(args);
      const { ok, spent }: Counted = await counted.begin(name, count, limits);
      known = spent;
      if (!ok) return spentFailure(spent, count, limits);
      const failure = await outer?.begin(args);
      if (failure !== undefined) await counted.begin(name, -count, limits);
      return failure;
    },
    inCommit(args: unknown) {
      const count = countedCalls(args);
      // One that was spent is asked before the call, so that nobody is asked about a change that it refuses.
      if (!isWithinLimits(known, count, limits)) return undefined;
      const own = counted.inCommit(name, count, limits);
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
    async end(result: ToolResult) {
      const { text, content = [] } = result;
      const images = content.reduce((sum, { source }) => sum + source.data.length, 0);
      await Promise.all([counted.end(name, utf8Length(text) + images, limits), outer?.end(result)]);
    },
    spent: () => counted.spent(name),
  });
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
