/** Telling observers of a call: what it was, what it did, how it ended. */
import type { Location } from "../access/index.ts";
import type { CallBegin, CallEffect, CallEnd, Observer } from "../hooks/observer.ts";
import { statOrNull } from "../tools/contents.ts";
import type { Call, PathUse } from "../tools/tool.ts";
import { contentHash } from "./guard.ts";
import type { ToolResult } from "./result.ts";

/** What a call leaves behind for its observers. */
export interface Trace {
  tool: string;
  changes: boolean;
  locations: readonly Location[];
  effects: readonly CallEffect[] | undefined;
}

/** Files of one call whose hashes are told. */
const MOST_EFFECTS = 100;

const life = Math.floor(performance.timeOrigin).toString(36);
let calls = 0;

/** Runs a call under the eyes of observers. */
export async function observed(
  observers: readonly Observer[],
  about: Omit<CallBegin, "id" | "at">,
  run: (trace: Trace) => Promise<ToolResult>,
): Promise<ToolResult> {
  calls += 1;
  const begin: CallBegin = Object.freeze({ id: `${life}-${calls}`, at: Date.now(), ...about });
  const started = performance.now();
  const ends = observers.flatMap((observer) => [
    guarded(() => observer.begin?.(begin)),
    observer.end?.bind(observer),
  ]);
  const trace: Trace = { tool: about.tool, changes: false, locations: [], effects: undefined };
  let result: ToolResult | undefined;
  try {
    result = await run(trace);
    return result;
  } finally {
    const end = Object.freeze(endOf(begin, trace, result, performance.now() - started));
    for (const told of ends) guarded(() => told?.(end));
  }
}

function endOf(begin: CallBegin, trace: Trace, result: ToolResult | undefined, duration: number): CallEnd {
  const { tool, changes, effects } = trace;
  const code = result === undefined ? "HOOK_BLOCKED" : result.error?.code;
  const approval = result?.meta.approval;
  return {
    ...begin,
    tool,
    ok: result?.ok ?? false,
    ...(code === undefined ? {} : { code }),
    duration_ms: duration,
    paths: trace.locations.map(({ path }) => path),
    changes,
    ...(effects === undefined ? {} : { effects }),
    ...(approval === undefined ? {} : { approval }),
    text_chars: result?.text.length ?? 0,
    truncated: result?.meta.truncated ?? false,
  };
}

/** An observer that fails changes nothing. */
function guarded<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** The contents that a change is about, by their hashes. */
export async function hashesOf(
  uses: readonly PathUse[],
  call: Call,
): Promise<ReadonlyMap<string, string | null>> {
  const found = new Map<string, string | null>();
  for (const [index, { path }] of call.locations.entries()) {
    if (uses[index]?.intent !== "write" || found.size >= MOST_EFFECTS) continue;
    const stat = await statOrNull(call.fs, path);
    if (stat === null || stat.isFile) found.set(path, stat === null ? null : await contentHash(call, path));
  }
  return found;
}

/** What became of them. */
export function effectsOf(
  before: ReadonlyMap<string, string | null>,
  after: ReadonlyMap<string, string | null>,
): readonly CallEffect[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths
    .map((path) => ({ path, before: before.get(path) ?? null, after: after.get(path) ?? null }))
    .filter((effect) => effect.before !== effect.after);
}
