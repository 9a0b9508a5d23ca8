/** Notifies observers of a call: its beginning, its effects and its end. */
import type { Location } from "../policy/index.ts";
import type { CallBegin, CallEffect, CallEnd, Observer } from "../hooks/observer.ts";
import { statOrNull } from "../tools/lib/contents.ts";
import type { Call, PathUse } from "../tools/lib/tool.ts";
import { currentContentHash } from "./guard.ts";
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
  /** What allowed the change; undefined where nobody is asked and nothing is reviewed. */
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
  const ends = observers.flatMap((observer) => [
    ignoringErrors(() => observer.begin?.(begin)),
    observer.end?.bind(observer),
  ]);
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
    for (const told of ends) ignoringErrors(() => told?.(end));
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

function callEndOf(
  begin: CallBegin,
  trace: ObservedCall,
  result: ToolResult | undefined,
  duration: number,
): CallEnd {
  const { tool, changes, callId, effects, lockWaitMs, kept, undoOf, allowedBy } = trace;
  const { call_id: _, ...begun } = begin;
  const code = result === undefined ? "HOOK_BLOCKED" : result.error?.code;
  const approval = result?.meta.approval ?? trace.refusal;
  const errorPath = result?.error?.path;
  const message = result?.error?.message;
  return {
    ...begun,
    ...(callId === "" ? {} : { call_id: callId }),
    tool,
    ok: result?.ok ?? false,
    ...(code === undefined ? {} : { code }),
    ...(message === undefined ? {} : { message }),
    duration_ms: duration,
    paths: kept?.paths ?? trace.locations.map(({ path }) => path),
    ...(errorPath === undefined ? {} : { error_path: errorPath }),
    changes,
    ...(effects === undefined ? {} : { effects }),
    ...(lockWaitMs === undefined ? {} : { lock_wait_ms: lockWaitMs }),
    ...(approval === undefined ? {} : { approval }),
    ...(allowedBy === undefined ? {} : { allowed_by: allowedBy }),
    ...(undoOf === undefined ? {} : { undo_of: undoOf }),
    ...(kept === undefined
      ? {}
      : { kept: { calls: kept.calls, ...(kept.by === undefined ? {} : { by: kept.by }) } }),
    text_chars: result?.text.length ?? 0,
    truncated: result?.meta.truncated ?? false,
  };
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
    if (stat === null || stat.isFile)
      found.set(path, stat === null ? null : await currentContentHash(call, path));
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
