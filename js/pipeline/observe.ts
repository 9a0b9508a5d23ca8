/** Notifies observers of a call: its beginning, its effects and its end. */
import type { Location } from "../policy/index.ts";
import type { CallBegin, CallEffect, CallEnd, Observer } from "../hooks/observer.ts";
import { hashOfFile, statOrNull } from "../tools/lib/contents.ts";
import type { Call, PathUse } from "../tools/lib/tool.ts";
import type { ToolResult } from "./result.ts";

/** The facts about a call for its observers. */
export interface ObservedCall {
  tool: string;
  changes: boolean;
  /** The id under which the history records the call; empty for one that only reads. */
  callId: string;
  locations: readonly Location[];
  effects: readonly CallEffect[] | undefined;
  /** The time for which the call waited for locks, in milliseconds; undefined where it took none. */
  lockWaitMs: number | undefined;
  /** The answer by which a reviewer refused the call. */
  refusal: CallEnd["approval"];
  /** The reasons why the change was allowed; undefined where the workspace neither asks nor reviews. */
  allowedBy: CallEnd["allowed_by"];
  /** The call that a host has undone. */
  undoOf?: string;
  /** The calls that a person has kept, and their absolute paths. */
  kept?: {
    readonly calls: readonly string[];
    readonly by: string | undefined;
    readonly paths: readonly string[];
  };
}

/** The maximum number of files of one call whose hashes are reported. Further files are left out. */
const MAX_REPORTED_EFFECTS = 100;

const processStartId = Math.floor(performance.timeOrigin).toString(36);
let observedCallCount = 0;

/** Runs a call and notifies the observers. */
export async function runObserved(
  observers: readonly Observer[],
  about: Omit<CallBegin, "id" | "at">,
  run: (trace: ObservedCall) => Promise<ToolResult>,
): Promise<ToolResult> {
  observedCallCount += 1;
  const begin: CallBegin = Object.freeze({
    id: `${processStartId}-${observedCallCount}`,
    at: Date.now(),
    ...about,
  });
  const started = performance.now();
  const ends = observers.map((observer) => ignoringErrors(() => observer.begin?.(begin)));
  const trace: ObservedCall = {
    tool: about.tool,
    changes: false,
    callId: about.call_id ?? "",
    locations: [],
    effects: undefined,
    lockWaitMs: undefined,
    refusal: undefined,
    allowedBy: undefined,
  };
  let result: ToolResult | undefined;
  try {
    result = await runWithin(observers, begin, () => run(trace));
    return result;
  } finally {
    const end = Object.freeze(callEndOf(begin, trace, result, performance.now() - started));
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

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** Returns the end of a call. Each call pays for it, so the object is built by assignments, which copy nothing. */
function callEndOf(
  { id, at, called_as, agent, by }: CallBegin,
  { tool, changes, callId, locations, effects, lockWaitMs, refusal, allowedBy, undoOf, kept }: ObservedCall,
  result: ToolResult | undefined,
  duration: number,
): CallEnd {
  const { code, message, path } = result?.error ?? {};
  const approval = result?.meta.approval ?? refusal;
  const end = { id, at, tool } as Mutable<CallEnd>;
  if (called_as !== undefined) end.called_as = called_as;
  if (agent !== undefined) end.agent = agent;
  if (by !== undefined) end.by = by;
  if (callId !== "") end.call_id = callId;
  end.ok = result?.ok ?? false;
  if (result === undefined) end.code = "HOOK_BLOCKED";
  else if (code !== undefined) end.code = code;
  if (message !== undefined) end.message = message;
  end.duration_ms = duration;
  end.paths = kept?.paths ?? locations.map((location) => location.path);
  if (path !== undefined) end.error_path = path;
  end.changes = changes;
  if (effects !== undefined) end.effects = effects;
  if (lockWaitMs !== undefined) end.lock_wait_ms = lockWaitMs;
  if (approval !== undefined) end.approval = approval;
  if (allowedBy !== undefined) end.allowed_by = allowedBy;
  if (undoOf !== undefined) end.undo_of = undoOf;
  if (kept !== undefined)
    end.kept = kept.by === undefined ? { calls: kept.calls } : { calls: kept.calls, by: kept.by };
  end.text_chars = result?.text.length ?? 0;
  end.truncated = result?.meta.truncated ?? false;
  return end;
}

/** Runs a function of an observer. Its errors are ignored, so that it cannot affect the call. */
function ignoringErrors<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Returns the hashes of the files that a change concerns; null for a missing file. */
export async function hashesByPath(
  uses: readonly PathUse[],
  call: Pick<Call, "fs" | "locations" | "signal">,
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const [index, { path }] of call.locations.entries()) {
    if (uses[index]?.intent !== "write" || found.size >= MAX_REPORTED_EFFECTS) continue;
    const stat = await statOrNull(call.fs, path);
    if (stat === null || stat.isFile) found.set(path, stat === null ? null : await hashOfFile(call, path));
  }
  return found;
}

/** Returns the files whose hashes differ. */
export function effectsByHashes(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): readonly CallEffect[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((effect) => effect.before !== effect.after);
}
