/** `history unreviewed` and `history keep`: the changes that were made without a question, and that a person keeps. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import type { Past, PastEntry } from "../past-roots.ts";
import type { CommandReport } from "../command.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { personOf } from "../approve/server.ts";
import { requireByBeginning, type MissingWords } from "../past-ids.ts";
import { formatLocalTime, type Shell } from "../person/style.ts";
import { formatTable, widthOfOutput } from "../streams.ts";

/** An unreviewed change, the workspace of its history, and how far back that reaches. */
async function unreviewedOf({ all }: Past): Promise<{
  readonly calls: readonly PastEntry[];
  readonly forgottenBefore: string | undefined;
}> {
  const found = await Promise.all(all.map(async (ws) => ({ ws, ...(await ws.unreviewed()) })));
  const calls = found.flatMap(({ ws, calls: own }) => own.map((entry): PastEntry => ({ ws, entry })));
  const times = found.flatMap(({ forgottenBefore }) => forgottenBefore ?? []).sort();
  return {
    calls: calls.sort((a, b) => Date.parse(b.entry.time) - Date.parse(a.entry.time)),
    forgottenBefore: times.at(-1),
  };
}

/** Returns the table of the changes that nobody has kept. */
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
  const entries = calls.map(({ entry }) => entry);
  const wanted = new Set(
    (isAll ? entries : typed.map((id) => requireByBeginning(entries, id, NO_UNREVIEWED))).map(
      ({ callId }) => callId,
    ),
  );
  const by = String(values["by"] ?? personOf(program));
  const kept: unknown[] = [];
  for (const ws of past.all) {
    const ids = calls.flatMap((one) =>
      one.ws === ws && wanted.has(one.entry.callId) ? [one.entry.callId] : [],
    );
    if (ids.length > 0) kept.push(...(await ws.keep(ids, { by })));
  }
  const noun = kept.length === 1 ? "change" : "changes";
  return { text: `Kept ${kept.length} ${noun}.`, data: { kept, by } };
}

const NO_UNREVIEWED: MissingWords = {
  no: (id) => `There is no unreviewed change '${id}'`,
  list: "filewright history unreviewed",
};
