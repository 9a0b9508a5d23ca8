/**
 * Counts calls, their durations and sizes, and refusals. The counters stay in this process and exist only on
 * request.
 */
import type { CallEnd, Observer } from "./observer.ts";

/** Counters of one tool. */
export interface ToolUsage {
  readonly calls: number;
  readonly failures: number;
  /** The total duration of all calls, in milliseconds. */
  readonly duration_ms: number;
  /** The duration of the longest call, in milliseconds. */
  readonly slowest_ms: number;
  readonly text_chars: number;
}

/** Counters of a workspace. */
export interface Usage {
  readonly calls: number;
  readonly failures: number;
  readonly tools: Readonly<Record<string, ToolUsage>>;
  /** The number of failures by code. */
  readonly codes: Readonly<Record<string, number>>;
  /** The number of calls of each agent with a name. */
  readonly agents: Readonly<Record<string, number>>;
  /** The number of refusals. */
  readonly security: {
    /** Refused paths: outside the roots, or on the deny list. */
    readonly outside: number;
    readonly protected: number;
    readonly grants_denied: number;
    readonly approvals_denied: number;
    readonly hooks_blocked: number;
  };
}

/** Counters that can be read at any time. */
export interface UsageCounter extends Observer {
  /** Returns the current counters. */
  read(): Usage;
  reset(): void;
}

/** The counter of each error code that is a refusal. */
const SECURITY_COUNTERS = {
  OUTSIDE_ALLOWED: "outside",
  PROTECTED_PATH: "protected",
  READ_ONLY: "protected",
  GRANT_DENIED: "grants_denied",
  APPROVAL_DENIED: "approvals_denied",
  HOOK_BLOCKED: "hooks_blocked",
} as const;

interface MutableCounts {
  calls: number;
  failures: number;
  duration_ms: number;
  slowest_ms: number;
  text_chars: number;
}

/**
 * Creates an observer that counts calls.
 *
 * @example
 * const usage = usageCounter();
 * const ws = await openWorkspace({ root: "/repo", observers: [usage] });
 * usage.read().tools.grep?.calls;
 */
export function usageCounter(): UsageCounter {
  const tools = new Map<string, MutableCounts>();
  const codes = new Map<string, number>();
  const agents = new Map<string, number>();
  const more = (counts: Map<string, number>, key: string): void => {
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };
  return Object.freeze({
    end(call: CallEnd): void {
      let counting = tools.get(call.tool);
      if (counting === undefined) {
        counting = { calls: 0, failures: 0, duration_ms: 0, slowest_ms: 0, text_chars: 0 };
        tools.set(call.tool, counting);
      }
      counting.calls += 1;
      counting.failures += call.ok ? 0 : 1;
      counting.duration_ms += call.duration_ms;
      counting.slowest_ms = Math.max(counting.slowest_ms, call.duration_ms);
      counting.text_chars += call.text_chars;
      if (call.code !== undefined) more(codes, call.code);
      if (call.agent !== undefined) more(agents, call.agent);
    },
    read(): Usage {
      const security = { outside: 0, protected: 0, grants_denied: 0, approvals_denied: 0, hooks_blocked: 0 };
      for (const [code, kind] of Object.entries(SECURITY_COUNTERS)) security[kind] += codes.get(code) ?? 0;
      const all = [...tools.values()];
      return {
        calls: all.reduce((sum, { calls }) => sum + calls, 0),
        failures: all.reduce((sum, { failures }) => sum + failures, 0),
        tools: Object.fromEntries([...tools].map(([name, counting]) => [name, { ...counting }])),
        codes: Object.fromEntries(codes),
        agents: Object.fromEntries(agents),
        security,
      };
    },
    reset(): void {
      tools.clear();
      codes.clear();
      agents.clear();
    },
  });
}
