/** The budget of an agent: counts its calls and output, and refuses calls when it is spent. */
import { utf8Length } from "../../tools/lib/text.ts";
import type { Limits } from "../../tools/lib/limits.ts";
import { type Failure, refusedFailure, type ToolResult } from "../result.ts";

/** The limits of an agent until the workspace is closed. An omitted limit does not apply. */
export interface BudgetOptions {
  /** The maximum number of calls, including failed ones. A batch counts as its operations. */
  readonly calls?: number | undefined;
  /**
   * The maximum size of all answers, in UTF-8 bytes. Calls that run at the same time may each use the whole
   * remainder.
   */
  readonly outputBytes?: number | undefined;
}

/** The part of the budget that an agent has used. */
export interface Spent {
  /** The number of calls. */
  readonly calls: number;
  /** The UTF-8 bytes of answers. */
  readonly outputBytes: number;
}

/** Counts the calls and output of one agent. */
export interface Budget {
  /** Counts a call that begins. Returns a failure when the budget is spent; then the call must not run. */
  begin(args: unknown): Failure | undefined;
  /** Returns the limits of a call that begins now. */
  limits(limits: Limits): Limits;
  /** Counts an answer. */
  end(result: ToolResult): void;
  spent(): Spent;
}

/** Creates an unspent budget. What it counts is also counted in `outer`. */
export function makeBudget(options: BudgetOptions, outer?: Budget): Budget {
  const { calls: mostCalls = Number.POSITIVE_INFINITY, outputBytes: mostBytes = Number.POSITIVE_INFINITY } =
    options;
  let [calls, outputBytes] = [0, 0];
  const over = (what: string): Failure =>
    refusedFailure(
      "LIMIT_EXCEEDED",
      `The budget of this agent is spent: ${what}. Finish with what is known, or ask the user for more.`,
    );
  return Object.freeze({
    begin(args: unknown): Failure | undefined {
      const count = countedCalls(args);
      if (calls + count > mostCalls) return over(`${calls} of ${mostCalls} calls`);
      if (outputBytes >= mostBytes) return over(`${outputBytes} of ${mostBytes} bytes of answers`);
      const refusal = outer?.begin(args);
      if (refusal === undefined) calls += count;
      return refusal;
    },
    limits(given: Limits): Limits {
      const limits = outer?.limits(given) ?? given;
      const left = Math.max(1, mostBytes - outputBytes);
      return left >= limits.outputBytes ? limits : { ...limits, outputBytes: left };
    },
    end(result: ToolResult): void {
      outer?.end(result);
      const { text, content = [] } = result;
      const images = content.reduce((sum, { source }) => sum + source.data.length, 0);
      outputBytes += utf8Length(text) + images;
    },
    spent: () => Object.freeze({ calls, outputBytes }),
  });
}

/** Returns the number of calls that a call counts as: a batch counts as its operations. */
function countedCalls(args: unknown): number {
  const operations = (args as { readonly operations?: unknown } | null | undefined)?.operations;
  return Array.isArray(operations) ? Math.max(1, operations.length) : 1;
}
