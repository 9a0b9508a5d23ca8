/** The data of the screen "Activity" and its server: counts of calls. */

/** The names of rows that stand for several agents or tools. */
export const ACTIVITY_NAMES = { every: "*", others: "others" } as const;

/** Selects the counts of the screen "Activity": the time that they cover, and what each row stands for. */
export interface ActivityView {
  /** `run`: since the page was opened. `hour`: the last hour, in steps of five minutes. */
  readonly over: "run" | "hour";
  /** Each row counts the calls of an agent, of a tool, or of an agent with a tool. */
  readonly by: "agent" | "tool" | "both";
}

/** The counts of an agent, of a tool, or of a tool of an agent. */
export interface ActivityRow {
  /** The agent; null for calls without one, and for all agents. */
  readonly agent: string | null;
  /** True when `agent` is the name of a person: these are undos, rewinds and what was kept, as on the review page. */
  readonly isPerson: boolean;
  /** The canonical name of the tool; `*` for all tools. */
  readonly tool: string;
  readonly calls: number;
  /** The number of failures that are no refusals. */
  readonly errors: number;
  /** The number of refusals by the policy, by rules, by grants, by hooks and by people. */
  readonly refusals: number;
  /** The number of calls that succeeded with a tool that changes files. */
  readonly changes: number;
  /** The number of changes that an agent or a person has undone. Changes that a rewind undid are not counted. */
  readonly undone: number;
  /** The length of all answers, in UTF-16 units. */
  readonly chars: number;
  /** Percentiles of the durations in milliseconds, within 5 %. */
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** The longest duration in milliseconds. */
  readonly max: number;
}

/** The counts of some time. */
export interface ReviewActivity {
  /** The time that is counted, in milliseconds since 1970. */
  readonly since: number;
  readonly until: number;
  /** The row with the most calls is the first. */
  readonly rows: readonly ActivityRow[];
  /** All calls. */
  readonly total: ActivityRow;
}
