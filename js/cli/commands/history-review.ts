/** `history unreviewed` and `history keep`: the changes that were made without a question, and that a person keeps. */
import type { HistoryEntry, Workspace } from "../../workspace/index.ts";
import type { CommandReport } from "../command.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { personOf } from "../approve/server.ts";
import { requireByBeginning, type MissingWords } from "../past-ids.ts";
import { formatLocalTime, type Shell } from "../person/style.ts";
import { formatTable, widthOfOutput } from "../streams.ts";

/** Returns the table of the changes that nobody has kept. */
export async function reportUnreviewed(
  ws: Workspace,
  cellsOf: (entry: HistoryEntry) => readonly string[],
  shell: Shell,
): Promise<CommandReport> {
  const found = await ws.unreviewed();
  const lines =
    found.calls.length === 0
      ? ["Nothing is unreviewed."]
      : [formatTable(found.calls.map(cellsOf), widthOfOutput(shell))];
  if (found.forgottenBefore !== undefined)
    lines.push(
      `! the history has forgotten changes before ${formatLocalTime(found.forgottenBefore, "seconds")}`,
    );
  return { text: lines.join("\n"), data: found };
}

/** Keeps the changes with these ids, or their beginnings; with `--all` every unreviewed one. @throws UsageError, NOT_FOUND */
export async function reportKept(
  ws: Workspace,
  typed: readonly string[],
  { values }: Pick<ParsedCommandLine, "values">,
  { program }: Shell,
): Promise<CommandReport> {
  const isAll = values["all"] === true;
  if (isAll === typed.length > 0)
    throw new UsageError("history keep needs the ids of changes, or --all; history unreviewed lists them");
  const { calls } = await ws.unreviewed();
  const ids = isAll
    ? calls.map(({ callId }) => callId)
    : typed.map((id) => requireByBeginning(calls, id, NO_UNREVIEWED).callId);
  const by = String(values["by"] ?? personOf(program));
  const kept = ids.length === 0 ? [] : await ws.keep(ids, { by });
  const noun = kept.length === 1 ? "change" : "changes";
  return { text: `Kept ${kept.length} ${noun}.`, data: { kept, by } };
}

const NO_UNREVIEWED: MissingWords = {
  no: (id) => `There is no unreviewed change '${id}'`,
  list: "filewright history unreviewed",
};
