/** The last calls that needed an approval, by which a person sees what a wider answer would have covered. */
import type { GlobBases } from "../../policy/rule-globs.ts";
import { optionChecker } from "../../schema/option.ts";
import { APPROVAL_SCOPE, type ApprovalScope, compileScope, type ScopedCall, workOf } from "./scope.ts";

/** The number of calls that are remembered. */
const MAX_RECENT_CALLS = 100;

const checkScope = optionChecker("wouldHaveCovered", APPROVAL_SCOPE);

/** How many of the remembered calls a scope covers. */
export interface CoveredCalls {
  /** The number of calls that it covers. */
  readonly covered: number;
  /** The number of calls that are remembered, at most 100. */
  readonly calls: number;
}

/** The memory of the last calls. */
export interface RecentCalls {
  /** Remembers a call, and forgets the oldest one beyond the limit. */
  note(call: ScopedCall): void;
  /** Counts the calls that a scope covers. @throws FilewrightError INVALID_ARGUMENT, INVALID_GLOB */
  countCovered(scope: ApprovalScope, bases: GlobBases | undefined): CoveredCalls;
}

/** Creates an empty memory. */
export function makeRecentCalls(): RecentCalls {
  const calls: ScopedCall[] = [];
  return {
    note({ tool, places, effects, command, agent }) {
      calls.push({ tool, places, effects, command, agent });
      if (calls.length > MAX_RECENT_CALLS) calls.shift();
    },
    countCovered(scope, bases) {
      const covers = compileScope(
        checkScope(scope),
        bases,
        calls.map(({ tool }) => tool),
      );
      return { covered: calls.filter((call) => workOf(call).every(covers)).length, calls: calls.length };
    },
  };
}
