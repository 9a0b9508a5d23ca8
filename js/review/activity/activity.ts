/**
 * Counts the calls of agents: how many, how many failed or were refused, how long they took, and how many characters
 * they answered, for each agent and tool, over the run and the last hour. Nothing is kept of a single call, so the
 * memory is bounded: a fixed number of rows, and a histogram of durations in each.
 */
import { keepLast } from "../../schema/keep-last.ts";
import type { CallEnd } from "../../hooks/observer.ts";
import type { HistoryEntry } from "../../tools/lib/history-entry.ts";
import { ACTIVITY_NAMES, type ActivityRow, type ActivityView, type ReviewActivity } from "./activity-data.ts";
import { isRefusal } from "../refusals.ts";

/** The number of rows, one for each agent and tool. The calls of further ones are in one row for all others. */
const MAX_ROWS = 200;
/** The number of calls of people whose persons are kept, to count those that were undone. */
const MAX_PEOPLE_CALLS = 1000;
/** The names of agents and tools are at most this long, so that no caller can fill the memory with them. */
const MAX_NAME_CHARS = 100;
/** The length of an interval in milliseconds, and the number of intervals that make the last hour. */
const INTERVAL_MS = 5 * 60_000;
const HOUR_INTERVALS = 12;

/** The shortest duration with a bucket of its own, in milliseconds. */
const MIN_MS = 0.05;
/** The number of buckets in which a duration doubles, so a percentile is within 5 % of the true one. */
const BUCKETS_PER_DOUBLING = 8;
/** The number of buckets: up to 50 µs × 2^26, which is nearly an hour. */
const BUCKETS = 26 * BUCKETS_PER_DOUBLING;

/** The counters of one agent and tool. */
interface Counters {
  readonly agent: string | null;
  /** True for the calls that a person made, whose name is that of the agent. */
  readonly isPerson: boolean;
  readonly tool: string;
  calls: number;
  errors: number;
  refusals: number;
  changes: number;
  chars: number;
  maxMs: number;
  /** The number of calls whose duration is in each bucket. */
  readonly buckets: Uint32Array;
}

/** The counters of some time, by agent and tool. */
type Interval = Map<string, Counters>;

/** Counts calls. */
export interface ActivityCounter {
  /** Counts a call that has ended. */
  count(
    call: Pick<
      CallEnd,
      "tool" | "agent" | "by" | "call_id" | "ok" | "code" | "changes" | "duration_ms" | "text_chars" | "kept"
    >,
  ): void;
  /** Returns the counts. `history` has the changes that were undone, the newest first. */
  view(view: ActivityView, history: readonly HistoryEntry[]): ReviewActivity;
}

/** Creates a counter. `now` returns milliseconds since 1970. */
export function makeActivityCounter(now: () => number = Date.now): ActivityCounter {
  const began = now();
  const run: Interval = new Map();
  /** The intervals of the last hour, by the number of their time. */
  const hour = new Map<number, Interval>();
  /** The persons who made changes, by the ids of these calls. */
  const people = new Map<string, string>();

  const dropOld = (current: number): void => {
    for (const at of hour.keys()) if (at <= current - HOUR_INTERVALS) hour.delete(at);
  };

  return {
    count(call) {
      const current = Math.floor(now() / INTERVAL_MS);
      let interval = hour.get(current);
      if (interval === undefined) {
        dropOld(current);
        interval = new Map();
        hour.set(current, interval);
      }
      const person = call.by ?? call.kept?.by;
      add(run, call, person);
      add(interval, call, person);
      if (person === undefined || call.call_id === undefined) return;
      keepLast(people, call.call_id, shortName(person), MAX_PEOPLE_CALLS);
    },
    view({ over, by }, history) {
      const until = now();
      const current = Math.floor(until / INTERVAL_MS);
      dropOld(current);
      const intervals = over === "run" ? [run] : [...hour.values()];
      const since = over === "run" ? began : Math.max(began, (current - HOUR_INTERVALS + 1) * INTERVAL_MS);
      const undone = undoneCalls(history, since, people);
      const rows = groupCounters(intervals, by).map((one) => rowOf(one, undone, by));
      const [total] = groupCounters(intervals, "all");
      return {
        since,
        until,
        rows: rows.sort((a, b) => b.calls - a.calls),
        total: rowOf(total ?? emptyCounters(null, ACTIVITY_NAMES.every, false), undone, "all"),
      };
    },
  };
}

type CountedCall = Parameters<ActivityCounter["count"]>[0];

/** Adds a call to the counters of its agent, or of the person who made it, and its tool. */
function add(interval: Interval, call: CountedCall, person: string | undefined): void {
  const name = person ?? call.agent;
  const agent = name === undefined ? null : shortName(name);
  const tool = shortName(call.tool);
  const isPerson = person !== undefined;
  let counters = countersOf(interval, agent, tool, isPerson);
  if (counters === undefined) {
    counters =
      interval.size < MAX_ROWS
        ? newCounters(interval, agent, tool, isPerson)
        : (countersOf(interval, ACTIVITY_NAMES.others, ACTIVITY_NAMES.others, false) ??
          newCounters(interval, ACTIVITY_NAMES.others, ACTIVITY_NAMES.others, false));
  }
  counters.calls += 1;
  if (isRefusal(call.code)) counters.refusals += 1;
  else if (!call.ok) counters.errors += 1;
  if (call.ok && call.changes) counters.changes += 1;
  counters.chars += call.text_chars;
  counters.maxMs = Math.max(counters.maxMs, call.duration_ms);
  const bucket = bucketOf(call.duration_ms);
  counters.buckets[bucket] = (counters.buckets[bucket] ?? 0) + 1;
}

function shortName(name: string): string {
  return name.length > MAX_NAME_CHARS ? `${name.slice(0, MAX_NAME_CHARS - 1)}…` : name;
}

const keyOf = (agent: string | null, tool: string, isPerson: boolean): string =>
  `${agent === null ? "" : `${agent}\0`}${isPerson ? "\0" : ""}${tool}`;

function countersOf(
  interval: Interval,
  agent: string | null,
  tool: string,
  isPerson: boolean,
): Counters | undefined {
  return interval.get(keyOf(agent, tool, isPerson));
}

function newCounters(interval: Interval, agent: string | null, tool: string, isPerson: boolean): Counters {
  const counters = emptyCounters(agent, tool, isPerson);
  interval.set(keyOf(agent, tool, isPerson), counters);
  return counters;
}

function emptyCounters(agent: string | null, tool: string, isPerson: boolean): Counters {
  const counts = { calls: 0, errors: 0, refusals: 0, changes: 0, chars: 0, maxMs: 0 };
  return { agent, tool, isPerson, ...counts, buckets: new Uint32Array(BUCKETS) };
}

function bucketOf(ms: number): number {
  if (!(ms > MIN_MS)) return 0;
  return Math.min(BUCKETS - 1, Math.floor(Math.log2(ms / MIN_MS) * BUCKETS_PER_DOUBLING));
}

/** Adds up the counters of intervals, for each agent and tool, for each agent, for each tool, or all of them. */
function groupCounters(intervals: readonly Interval[], by: ActivityView["by"] | "all"): readonly Counters[] {
  const groups: Interval = new Map();
  for (const interval of intervals) {
    for (const one of interval.values()) {
      const hasAgent = by === "agent" || by === "both";
      const agent = hasAgent ? one.agent : null;
      const isPerson = hasAgent && one.isPerson;
      const tool = by === "tool" || by === "both" ? one.tool : ACTIVITY_NAMES.every;
      const sum = countersOf(groups, agent, tool, isPerson) ?? newCounters(groups, agent, tool, isPerson);
      sum.calls += one.calls;
      sum.errors += one.errors;
      sum.refusals += one.refusals;
      sum.changes += one.changes;
      sum.chars += one.chars;
      sum.maxMs = Math.max(sum.maxMs, one.maxMs);
      for (let at = 0; at < BUCKETS; at++) sum.buckets[at] = (sum.buckets[at] ?? 0) + (one.buckets[at] ?? 0);
    }
  }
  return [...groups.values()];
}

/** A change that was undone. */
interface UndoneCall {
  readonly agent: string | null;
  readonly isPerson: boolean;
  readonly tool: string;
}

/**
 * Returns the changes since a time that are undone now. `history` is in order, the newest first; `people` has the persons
 * who made changes, by the ids of these calls.
 */
function undoneCalls(
  history: readonly HistoryEntry[],
  since: number,
  people: ReadonlyMap<string, string>,
): readonly UndoneCall[] {
  const byId = new Map(history.map((entry) => [entry.callId, entry]));
  const undone = new Set<HistoryEntry>();
  for (const { undoOf } of history.toReversed()) {
    const target = undoOf === undefined ? undefined : byId.get(undoOf);
    if (target === undefined) continue;
    // An undo that is undone restores the change.
    const restored = target.undoOf === undefined ? undefined : byId.get(target.undoOf);
    if (restored === undefined) undone.add(target);
    else undone.delete(restored);
  }
  return [...undone]
    .filter(({ time }) => Date.parse(time) >= since)
    .map(({ callId, agent, tool }) => {
      const person = people.get(callId);
      const own = agent === undefined ? null : shortName(agent);
      return { agent: person ?? own, isPerson: person !== undefined, tool };
    });
}

function rowOf(one: Counters, undone: readonly UndoneCall[], by: ActivityView["by"] | "all"): ActivityRow {
  const { agent, tool, isPerson, calls, errors, refusals, changes, chars, maxMs, buckets } = one;
  const isOwn = (call: UndoneCall): boolean =>
    (by === "all" || by === "tool" || (call.agent === agent && call.isPerson === isPerson)) &&
    (by === "all" || by === "agent" || call.tool === tool);
  const percentile = (share: number): number => Math.min(maxMs, percentileOf(buckets, calls, share));
  return {
    agent,
    isPerson,
    tool,
    calls,
    errors,
    refusals,
    changes,
    undone: undone.filter(isOwn).length,
    chars,
    p50: percentile(0.5),
    p95: percentile(0.95),
    p99: percentile(0.99),
    max: maxMs,
  };
}

/** Returns the duration below which this share of the calls is: the middle of its bucket. */
function percentileOf(buckets: Uint32Array, calls: number, share: number): number {
  const rank = Math.max(1, Math.ceil(calls * share));
  let seen = 0;
  for (const [at, count] of buckets.entries()) {
    seen += count;
    if (seen >= rank) return MIN_MS * 2 ** ((at + 0.5) / BUCKETS_PER_DOUBLING);
  }
  return 0;
}
