/** `history unreviewed` and `history keep`: the changes that were made without a question, and that a person keeps. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { newestFirst, type Past, type PastEntry } from "../past-roots.ts";
import type { CommandReport } from "../command.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { personOf } from "../approve/server.ts";
import { requireByBeginning, type MissingWords } from "../past-ids.ts";
import { formatLocalTime, type Shell } from "../person/style.ts";
import { formatTable, widthOfOutput } from "../streams.ts";
import { plural } from "../../engine/escape.ts";

/** Returns the unreviewed changes, the newest first, and the time before which a history has forgotten some. */
async function unreviewedOf(past: Past): Promise<{
  readonly calls: readonly PastEntry[];
  readonly forgottenBefore: string | undefined;
}> {
  const times: string[] = [];
  const calls = await newestFirst(past, async (ws) => {
    const { calls: own, forgottenBefore } = await ws.unreviewed();
    if (forgottenBefore !== undefined) times.push(forgottenBefore);
    return own;
  });
  return { calls, forgottenBefore: times.sort().at(-1) };
}

/** Returns the table of the unreviewed changes. */
export async function reportUnreviewed(
  past: Past,
  cellsOf: (one: PastEntry) => readonly string[],
  shell: Shell,
): Promise<CommandReport> {
  const { calls, forgottenBefore } = await unreviewedOf(past);
  const lines =
    calls.length === 0 ? ["Nothing is unreviewed."] : [formatTable(calls.map(cellsOf), widthOfOutput(shell))];
  if (forgottenBefore !== undefined)
    lines.push(`! the history has forgotten changes before ${formatLocalTime(forgottenBefore, "seconds")}`);
  const data = withoutUndefined({ calls: calls.map(({ entry }) => entry), forgottenBefore });
  return { text: lines.join("\n"), data };
}

/** Keeps the changes with these ids, or their beginnings; with `--all` every unreviewed one. @throws UsageError, NOT_FOUND */
export async function reportKept(
  past: Past,
  typed: readonly string[],
  { values }: Pick<ParsedCommandLine, "values">,
  { program }: Shell,
): Promise<CommandReport> {
  const isAll = values["all"] === true;
  if (isAll === typed.length > 0)
    throw new UsageError("history keep needs the ids of changes, or --all; history unreviewed lists them");
  const { calls } = await unreviewedOf(past);
  const wanted = new Set(isAll ? calls : typed.map((id) => requireByBeginning(calls, id, NO_UNREVIEWED)));
  const by = String(values["by"] ?? personOf(program));
  const kept: unknown[] = [];
  for (const ws of past.all) {
    const ids = calls.filter((one) => one.ws === ws && wanted.has(one)).map(({ callId }) => callId);
    if (ids.length > 0) kept.push(...(await ws.keep(ids, { by })));
  }
  return { text: `Kept ${plural(kept.length, "change")}.`, data: { kept, by } };
}

const NO_UNREVIEWED: MissingWords = {
  no: (id) => `There is no unreviewed change '${id}'`,
  list: "filewright history unreviewed",
};
