/** Notifies observers of a call: its beginning, its effects and its end. */
import { hashOf } from "../backends/fallback/fallback.ts";
import type { CallBegin, CallEffect, CallEnd, Observer } from "../hooks/observer.ts";
import { statOrNull } from "../tools/lib/contents.ts";
import { withoutUndefined } from "../schema/without-undefined.ts";
import type { Call, PathUse } from "../tools/lib/tool.ts";
import type { Facts } from "./facts.ts";
import type { ToolResult } from "./result.ts";

/** The maximum number of files of one call whose hashes are reported. Further files are left out. */
const MAX_REPORTED_EFFECTS = 100;

let observedCallCount = 0;

/** A call that observers are told of. */
export interface ObservedCall {
  readonly about: Omit<CallBegin, "id" | "at">;
  /** True when what was called changes something. */
  readonly changes: boolean;
}

/** Runs a call and notifies the observers of its beginning and, from its facts, of its end. */
export async function runObserved(
  observers: readonly Observer[],
  { about, changes }: ObservedCall,
  facts: Facts,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  observedCallCount += 1;
  const begin: CallBegin = Object.freeze({
    id: `${Math.floor(performance.timeOrigin).toString(36)}-${observedCallCount}`,
    at: Date.now(),
    ...about,
  });
  const started = performance.now();
  const ends = observers.map((observer) => ignoringErrors(() => observer.begin?.(begin)));
  let result: ToolResult | undefined;
  try {
    result = await runWithin(observers, begin, run);
    return result;
  } finally {
    const end = Object.freeze(callEndOf({ begin, changes }, facts, result, performance.now() - started));
    for (const [at, observer] of observers.entries()) {
      ignoringErrors(() => ends[at]?.(end));
      ignoringErrors(() => observer.end?.(end));
    }
  }
}

/** Runs a call in the contexts of the observers, the first one outermost, and exactly once whatever they do. */
function runWithin<T>(observers: readonly Observer[], begin: CallBegin, run: () => Promise<T>): Promise<T> {
  let running: Promise<T> | undefined;
  let inner = (): void => {
    running ??= run();
  };
  for (const observer of observers.toReversed()) {
    if (observer.within === undefined) continue;
    const enter = inner;
    inner = () => ignoringErrors(() => observer.within?.(begin, enter));
  }
  inner();
  return running ?? run();
}

/** Returns the end of a call, by its facts. */
function callEndOf(
  { begin, changes }: { readonly begin: CallBegin; readonly changes: boolean },
  facts: Facts,
  result: ToolResult | undefined,
  duration: number,
): CallEnd {
  const { id, at, tool, called_as, agent, by, call_id } = begin;
  const [meant, changed, kept] = [facts.last("meant"), facts.last("changed"), facts.last("kept")];
  return withoutUndefined({
    id,
    at,
    tool: meant?.tool.name ?? tool,
    called_as,
    agent,
    by,
    call_id: meant === undefined ? call_id : meant.callId || undefined,
    ok: result?.ok === true,
    code: result === undefined ? "HOOK_BLOCKED" : result.error?.code,
    message: result?.error?.message,
    duration_ms: duration,
    paths: kept?.paths ?? facts.last("located")?.locations.map(({ path }) => path) ?? [],
    error_path: result?.error?.path,
    changes: meant === undefined ? changes : meant.tool.kind !== "read",
    effects: changed?.effects,
    lock_wait_ms: facts.waitedMs("lock"),
    approval: result?.meta.approval ?? facts.last("failed")?.by,
    allowed_by: changed?.allowedBy,
    undo_of: facts.last("undid")?.call,
    kept: kept && withoutUndefined({ calls: kept.calls, by: kept.by }),
    text_chars: result?.text.length ?? 0,
    truncated: result?.meta.truncated === true,
  });
}

/** Runs a function of an observer. Its errors are ignored, so that it cannot affect the call. */
function ignoringErrors<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/**
 * Notes the hashes of the files that a change concerns. Returns the function that says, once the change is made, which of
 * them it has changed; undefined where they cannot be read. The change is made then, so neither a cancellation nor an
 * error of a read makes it a failure.
 */
export async function effectsFrom(
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<() => Promise<readonly CallEffect[] | undefined>> {
  const before = await hashesByPath(uses, call);
  return async () => {
    try {
      return effectsByHashes(before, await hashesByPath(uses, { ...call, signal: undefined }));
    } catch {
      return undefined;
    }
  };
}

/** Returns the hashes of the files that a change concerns; null for a missing file. */
async function hashesByPath(
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const [index, { path }] of call.locations.entries()) {
    if (uses[index]?.intent !== "write" || found.size >= MAX_REPORTED_EFFECTS) continue;
    const stat = await statOrNull(call.fs, path);
    if (stat === null || stat.isFile)
      found.set(path, stat === null ? null : await hashOf(call.fs, path, call.signal));
  }
  return found;
}

/** Returns the files whose hashes differ. */
function effectsByHashes(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): readonly CallEffect[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((effect) => effect.before !== effect.after);
}
