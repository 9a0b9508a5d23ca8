/** Makes several calls of a tool that takes one path, for a command line with several paths. */
import { withoutUndefined } from "../schema/without-undefined.ts";
import { grep } from "../tools/grep.ts";
import { grepText } from "../tools/grep/text.ts";
import type { Arguments } from "../tools/lib/schema.ts";
import { NAMES_FOR_PEOPLE } from "../tools/lib/tool.ts";
import type { CheckedArgs } from "../tools/generated/internal.ts";
import type { GrepData } from "../tools/index.ts";
import type { ToolResult } from "../workspace/index.ts";
import type { Shell } from "./person/style.ts";
import { callOf, type Command, type PathResult, type SeveralPaths, type ToolCall } from "./command.ts";
import { budgetOf } from "./pages.ts";
import { type ParsedCommandLine, UsageError } from "../schema/command-line.node.ts";

/**
 * Returns the calls for a command line with several paths; undefined for any other command line. @throws
 * UsageError
 */
export async function callsOfPaths(
  command: Command,
  { positionals, values }: ParsedCommandLine,
  shell: Shell,
): Promise<readonly Omit<PathResult, "result">[] | undefined> {
  const { several } = command;
  if (several === undefined) return undefined;
  const paths = positionals.slice(several.from);
  if (paths.length < 2) return undefined;
  const refused = several.refuses?.find((name) => values[name] !== undefined);
  if (refused !== undefined) throw new UsageError(`--${refused} goes with one path`);
  const before = positionals.slice(0, several.from);
  return Promise.all(
    paths.map(async (path) => ({
      path,
      call: (await callOf(command, { values, positionals: [...before, path] }, shell)) as ToolCall,
    })),
  );
}

/** Makes the calls one after the other, and returns their results. */
export async function callInTurn(
  calls: readonly Omit<PathResult, "result">[],
  run: (call: ToolCall) => Promise<ToolResult>,
): Promise<readonly PathResult[]> {
  const results: PathResult[] = [];
  for (const one of calls) {
    const result = await run(one.call);
    results.push({ ...one, result });
    if (isCancelled(result)) break;
  }
  return results;
}

/** Returns true for a call that was cancelled. */
export const isCancelled = (result: ToolResult): boolean => !result.ok && result.error.code === "CANCELLED";

/**
 * Searches the paths one after the other, and returns the result as that of one search: the limit and the
 * counts apply to all paths together.
 */
export const mergeSearches: NonNullable<SeveralPaths["merge"]> = async (calls, run) => {
  const [first] = calls as [(typeof calls)[number]];
  const given = first.call.args as Record<string, unknown>;
  const { left: most } = budgetOf(first.call);
  const failed: PathResult[] = [];
  const searched: GrepData[] = [];
  let left = most;
  let duration = 0;
  for (const [index, one] of calls.entries()) {
    // When the limit is reached, one more match is searched for, to know whether there are more.
    const limit = Math.max(1, left);
    const result = await run(limitedCall(one.call, limit));
    duration += result.meta.duration_ms;
    if (!result.ok) {
      failed.push({ ...one, result });
      if (isCancelled(result)) return [failed.at(-1) as PathResult];
      continue;
    }
    const data = result.data as GrepData;
    const isBeyond = left === 0 && data.total_matches > 0;
    const isLast = index === calls.length - 1;
    const isCut = data.truncated || data.incomplete_reason === "max_results";
    searched.push(isBeyond ? withoutResults(data) : isCut && !isLast ? asUnfinished(data) : data);
    if (isBeyond || isCut) break;
    left -= resultCountOf(data);
  }
  if (searched.length === 0) return failed;
  const data = mergeGrepData(searched);
  const text = grepText(data, grep.parse(given) as CheckedArgs["grep"], NAMES_FOR_PEOPLE);
  const meta = { duration_ms: duration, truncated: data.truncated, undoable: false };
  return [{ ...first, result: { ok: true, text, display: text, data, meta } }, ...failed];
};

/** Returns a call that gives at most this many results. */
function limitedCall({ tool, args }: ToolCall, limit: number): ToolCall {
  const given = args as Record<string, unknown>;
  return { tool, args: Number.isFinite(limit) ? { ...given, max_results: limit } : given };
}

/** Returns the sentence about searches that found nothing, in any of their paths. */
export function nothingFoundIn(command: Command, results: readonly PathResult[]): string {
  const [first] = results as [PathResult];
  if (results.length === 1 || command.several?.merge === undefined) return first.result.text;
  const data = mergeGrepData(results.map(({ result }) => result.data as GrepData));
  const notes = (data.warnings ?? []).map((warning) => `\n[${warning}]`).join("");
  return `${grepText(data, grep.parse(first.call.args as Arguments) as CheckedArgs["grep"], NAMES_FOR_PEOPLE)}${notes}`;
}

const resultCountOf = ({ matches, files, counts }: GrepData): number =>
  (matches ?? files ?? counts ?? []).length;

/** Returns the data of a search that ended before the last path. */
function asUnfinished(data: GrepData): GrepData {
  return { ...data, truncated: true, complete: false };
}

/** Returns the data with counts only, for a search whose results exceed the limit. */
function withoutResults(data: GrepData): GrepData {
  const { matches, files, counts, ...summary } = data;
  const none = matches !== undefined ? { matches: [] } : files !== undefined ? { files: [] } : { counts: [] };
  const more = { truncated: true, complete: false, incomplete_reason: "max_results" };
  return { ...summary, ...none, ...more } as GrepData;
}

/** How certain a search is to have seen the current files, least certain first. */
const FRESHNESS_ORDER = ["watch", "sweep", "scan"] as const;

function mergeGrepData(all: readonly GrepData[]): GrepData {
  const [{ next_cursor: _, as_text: __, warnings: ___, ...first }] = all as [GrepData];
  const sum = (count: (data: GrepData) => number): number =>
    all.reduce((total, one) => total + count(one), 0);
  const [fresh] = all
    .map((one) => one.fresh)
    .sort((a, b) => FRESHNESS_ORDER.indexOf(a) - FRESHNESS_ORDER.indexOf(b));
  const reason = all.find((one) => one.incomplete_reason !== undefined)?.incomplete_reason;
  const total = sum((one) => one.total_matches);
  const asText = total > 0 ? undefined : all.find((one) => one.as_text !== undefined)?.as_text;
  const warnings = [...new Set(all.flatMap((one) => one.warnings ?? []))];
  const joined = <T>(has: unknown, list: (data: GrepData) => readonly T[] | undefined) =>
    has === undefined ? undefined : all.flatMap((one) => list(one) ?? []);
  return withoutUndefined({
    ...first,
    matches: joined(first.matches, (one) => one.matches),
    files: joined(first.files, (one) => one.files),
    counts: joined(first.counts, (one) => one.counts),
    total_matches: total,
    files_with_matches: sum((one) => one.files_with_matches),
    files_searched: sum((one) => one.files_searched),
    skipped_binary: sum((one) => one.skipped_binary),
    skipped_large: sum((one) => one.skipped_large),
    unreadable: sum((one) => one.unreadable),
    truncated: all.some((one) => one.truncated),
    complete: all.every((one) => one.complete),
    incomplete_reason: reason,
    fresh,
    as_text: asText,
    warnings: warnings.length === 0 ? undefined : warnings,
  }) as unknown as GrepData;
}
