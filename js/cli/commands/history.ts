/** The commands about the history of changes: list them, show one, undo one. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { resolve } from "node:path";
import { isWithin, relativeTo } from "../../backends/paths.ts";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import { escapeControls } from "../../engine/escape.ts";
import { makeError } from "../../engine/errors.ts";
import type { Preset } from "../../presets/preset.ts";
import type { Tool } from "../../tools/lib/tool.ts";
import { undoTool } from "../../tools/undo.ts";
import { type HistoryChange, type ToolDefinition, toolsFor, type Workspace } from "../../workspace/index.ts";
import { type Command, type CommandReport, SEVERAL_ROOTS_HELP } from "../command.ts";
import { reportKept, reportUnreviewed } from "./history-review.ts";
import { CALL_WORDS, changeText, type LineCounts, lineCounts } from "../change-text.ts";
import { allowedByInWords } from "../../review/past/past-words.ts";
import { singleToolPreset } from "../single-tool.ts";
import { requireByBeginning } from "../past-ids.ts";
import {
  directoriesOf,
  entriesOf,
  isShared,
  type Past,
  type PastEntry,
  pathsOf,
  touches,
} from "../past-roots.ts";
import { type ParsedCommandLine, UsageError } from "../../schema/command-line.node.ts";
import { formatTable, widthOfOutput } from "../streams.ts";
import { formatLocalTime } from "../person/style.ts";

/** The number of changes that are listed without `--limit`. */
const DEFAULT_SHOWN_CHANGES = 20;
/** The maximum number of paths that are named for one change. Further ones are counted. */
const MAX_SHOWN_PATHS = 4;

/** The commands `history` and `undo`. */
export const HISTORY_COMMANDS: readonly Command[] = [
  {
    name: "history",
    tool: "history",
    summary: "list the changes that can be undone, or show one",
    usage:
      "filewright history [show ID | unreviewed | keep ID... | keep --all] [--by NAME] [--agent NAME] [--path PATH] [--since WHEN] [--limit N]",
    about:
      "Newest first: the id for undo, the local time, the tool and the agent, the lines added and removed, the paths. Lists the changes of all programs with this working directory, and of servers that have it among several: each line then names its directory. Lines are counted if the contents are still known. show prints the diff of one change; the beginning of an ID suffices. unreviewed lists the changes that were made without a question and that nobody has kept; keep says that a person has looked at them.",
    help: [
      SEVERAL_ROOTS_HELP,
      ["--limit N", `how many (default: ${DEFAULT_SHOWN_CHANGES})`],
      ["--agent NAME", "only the changes of this agent"],
      ["--path PATH", "only changes of this file, or below this directory"],
      ["--all", "with keep: every unreviewed change"],
      ["--by NAME", "with keep: the person, for the log (default: the user)"],
      ["--since WHEN", "only later ones: 30m, 2h, 3d, a time of today (13:00), or a date"],
    ],
    examples: [
      ["filewright history", "the changes in this directory"],
      ["filewright history --since 2h --agent helper", "the changes of one agent in the last two hours"],
      ["filewright history show 0mf3k2p9a", "the diff of one change"],
      ["filewright history unreviewed", "the changes that nobody has kept"],
      ["filewright history keep --all", "keeps all of them"],
      ["filewright history --json", "for programs"],
    ],
    takes: [0, 1000],
    pages: true,
    async report(past, parsed, shell) {
      const { positionals, values } = parsed;
      const limit = Number(values["limit"] ?? DEFAULT_SHOWN_CHANGES);
      if (!(Number.isSafeInteger(limit) && limit > 0)) throw new UsageError("--limit must be 1 or more");
      const [verb, ...ids] = positionals;
      if (verb === "keep") return reportKept(past, ids, parsed, shell);
      if (values["all"] !== undefined || values["by"] !== undefined)
        throw new UsageError("--all and --by belong to history keep");
      if (positionals.length > 2) throw new UsageError("history takes one change");
      if (verb === "unreviewed" && ids.length === 0)
        return reportUnreviewed(past, (one) => rowOf(one, {}, past), shell);
      const all = await entriesOf(past);
      if (positionals[0] !== undefined) return showChange(past, all, positionals);
      const wanted = all.filter(changeFilterOf(parsed, past));
      const shown = wanted.slice(0, limit);
      const counts = await countsOf(shown);
      const lines =
        shown.length === 0
          ? []
          : [
              formatTable(
                shown.map((one) => rowOf(one, counts.get(one) ?? {}, past)),
                widthOfOutput(shell),
              ),
            ];
      if (wanted.length > shown.length)
        lines.push(`and ${wanted.length - shown.length} more; --limit shows them`);
      const none = all.length === 0 ? "Nothing to undo." : "No such change.";
      return {
        text: lines.join("\n") || none,
        data: shown.map((one) => ({ ...dataOf(one, past), ...counts.get(one) })),
      };
    },
  },
  {
    name: "undo",
    tool: "undo",
    summary: "undo a change",
    usage: "filewright undo [ID]",
    about:
      "Restores the content before a change, and shows the diff: of the last change in this directory, or of the one with this ID of history. Refused if a file has changed since. An undo is a change, too, and can be undone.",
    help: [SEVERAL_ROOTS_HELP],
    examples: [
      ["filewright undo", "the last change"],
      ["filewright undo 0mf3k2p9a-1b2c3d4e5f60", "an earlier one"],
    ],
    takes: [0, 1],
    sort: "asks",
    async report(past, { positionals: [typed] }) {
      const found = await undoneBy(past, typed);
      if (found === null) return nothingToUndo(past, "There is no change to undo in this directory.");
      const { ws, id } = found;
      const [undo] = toolsFor(ws, UNDO_PRESET);
      const result = await (undo as ToolDefinition).execute(id === undefined ? {} : { call_id: id });
      if (result.ok)
        return { text: result.text, data: { ...(result.data as object), callId: result.meta.call_id } };
      const { code, message, ...more } = result.error;
      if (code === "NOT_FOUND" && typed === undefined)
        return {
          text: `${message}${await redoAdvice(past)}`,
          data: { undone: null, paths: [] },
          nothing: true,
        };
      throw makeError(code, message, { ...more, complete: true });
    },
  },
];

/**
 * Returns the change that an undo means, and its workspace: the one with the typed id, wherever it is. Without one, the
 * last that is not undone in the directories of the command line, or null for none; for a directory with one history the
 * tool finds it.
 */
async function undoneBy(
  past: Past,
  typed: string | undefined,
): Promise<{ readonly ws: Workspace; readonly id: string | undefined } | null> {
  const [first] = past.all as [Workspace];
  if (typed === undefined && !isShared(past)) return { ws: first, id: undefined };
  const entries = await entriesOf(past);
  if (typed !== undefined) {
    const { ws, callId } = requireByBeginning(entries, typed);
    return { ws, id: callId };
  }
  const done = new Set(
    entries.flatMap(({ entry: { undoOf, undoes = [] } }) => [...undoes, ...[undoOf].filter(Boolean)]),
  );
  const here = entries.find(
    (one) => one.entry.undoOf === undefined && !done.has(one.entry.callId) && touches(one, past.directories),
  );
  return here === undefined ? null : { ws: here.ws, id: here.entry.callId };
}

/** Returns the report of an undo that finds nothing to undo. */
async function nothingToUndo(past: Past, message: string): Promise<CommandReport> {
  return { text: `${message}${await redoAdvice(past)}`, data: { undone: null, paths: [] }, nothing: true };
}

/** Returns how to redo what was undone last; empty when nothing was undone. */
async function redoAdvice(past: Past): Promise<string> {
  const last = (await entriesOf(past)).find(
    (one) =>
      (one.entry.undoOf !== undefined || one.entry.undoes !== undefined) &&
      (!isShared(past) || touches(one, past.directories)),
  );
  return last === undefined
    ? ""
    : ` What was undone last is made again by: filewright undo ${last.entry.callId}`;
}

/** The tool by which a person undoes a change of any caller. Rules and approvals apply to it. */
const UNDO_PRESET: Preset = singleToolPreset(undoTool(true) as unknown as Tool, "undo");

/**
 * Returns the facts about one change and its diff, for `show ID`. @throws UsageError, FilewrightError
 * NOT_FOUND
 */
async function showChange(
  past: Past,
  all: readonly PastEntry[],
  [verb, id]: readonly string[],
): Promise<CommandReport> {
  if (verb !== "show") throw new UsageError(`history can show one change, not '${verb}'`);
  if (id === undefined) throw new UsageError("show needs the id of a change; filewright history lists them");
  const one = requireByBeginning(all, id);
  const { ws, entry } = one;
  const changes = await ws.changes(entry.callId);
  const counts = countsOfChanges(changes);
  return {
    text: [
      rowOf(one, counts, past).filter(Boolean).join("  "),
      ...(entry.allowedBy ?? []).map(allowedLine),
      ...changes.map((change) => changeText(change, CALL_WORDS)),
    ].join("\n"),
    data: { ...dataOf(one, past), ...counts, files: changes.map(plainChange) },
  };
}

/** Returns a line that says what allowed a change, with the id of a lasting approval. */
function allowedLine(allowed: AllowedBy): string {
  const id = allowed.approval === undefined ? "" : ` (${escapeControls(allowed.approval.id)})`;
  return `Allowed by ${escapeControls(allowedByInWords(allowed))}${id}`;
}

/** Returns a change as data for `--json`, with its diff and what is known of contents that are no text. */
function plainChange(change: HistoryChange): object {
  const { display, diff, binary, ...facts } = { ...change, binary: change.binary };
  const shown = diff === "" ? {} : { diff, ...lineCounts([diff]) };
  return withoutUndefined({ ...facts, display, ...shown, binary });
}

/** Returns a function that selects changes by the options of a command line. @throws UsageError */
function changeFilterOf(
  { values: { agent, path, since } }: ParsedCommandLine,
  { directories }: Past,
): (one: PastEntry) => boolean {
  const begin = since === undefined ? undefined : parseSinceTime(String(since), Date.now());
  const within =
    path === undefined ? undefined : directories.map((directory) => resolve(directory, String(path)));
  return (one) =>
    (agent === undefined || one.entry.agent === agent) &&
    (begin === undefined || Date.parse(one.entry.time) >= begin) &&
    (within === undefined || touches(one, within));
}

/** Returns the numbers of added and removed lines of each of these changes. */
async function countsOf(entries: readonly PastEntry[]): Promise<ReadonlyMap<PastEntry, LineCounts>> {
  const found = new Map<PastEntry, LineCounts>();
  for (const one of entries)
    found.set(one, countsOfChanges(await one.ws.changes(one.entry.callId).catch(() => [])));
  return found;
}

function countsOfChanges(changes: readonly HistoryChange[]): LineCounts {
  return lineCounts(changes.flatMap(({ diff }) => (diff === "" ? [] : [diff])));
}

const MS_BY_UNIT = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/**
 * Returns a point in time, in milliseconds since 1970, that a person gives as an age (`2h`, `3d`), a time of
 * day or a date. `now` is the current time. @throws UsageError
 */
export function parseSinceTime(text: string, now: number): number {
  const [, figure, unit] = /^(\d+)([smhdw])$/u.exec(text) ?? [];
  if (figure !== undefined) return now - Number(figure) * MS_BY_UNIT[unit as keyof typeof MS_BY_UNIT];
  const [, hour, minute] = /^(\d\d?):(\d\d)$/u.exec(text) ?? [];
  if (hour !== undefined) return new Date(now).setHours(Number(hour), Number(minute), 0, 0);
  const time = Date.parse(text);
  if (!Number.isNaN(time)) return time;
  throw new UsageError(`--since takes 30m, 2h, 3d, 13:00 or a date such as 2026-01-31, not '${text}'`);
}

/** Returns the cells of a change. Where there are several directories, one names those of the change. */
function rowOf(one: PastEntry, { added, removed }: LineCounts, past: Past): readonly string[] {
  const { callId, tool, time, paths, agent, undoOf } = one.entry;
  const done = undoOf === undefined ? tool : `${tool} of ${undoOf}`;
  const what = agent === undefined ? done : `${done} by ${escapeControls(agent)}`;
  const counts = added === undefined ? "" : `+${added} -${removed}`;
  const cells = [callId, formatLocalTime(time, "seconds"), what, counts];
  const all = directoriesOf(past);
  if (all.length < 2) return [...cells, shortenedPathList(paths)];
  const changed = changedDirectories(one, all);
  const [only] = changed;
  // Paths within one directory are told from there; otherwise they are whole.
  const shown =
    changed.length === 1 && only !== undefined
      ? pathsOf(one).map((path) => relativeTo(path, only) ?? path)
      : pathsOf(one);
  return [...cells, changed.map(escapeControls).join(", "), shortenedPathList(shown)];
}

/** Returns a change as data for `--json`. Where there are several directories, with those of the change and whole paths. */
function dataOf(one: PastEntry, past: Past): object {
  const all = directoriesOf(past);
  if (all.length < 2) return one.entry;
  return { ...one.entry, paths: pathsOf(one), directories: changedDirectories(one, all) };
}

/** Returns the directories in which a change was made: for each path the deepest. */
function changedDirectories(one: PastEntry, all: readonly string[]): readonly string[] {
  const deepest = [...all].sort((a, b) => b.length - a.length);
  const found = pathsOf(one).map((path) => deepest.find((directory) => isWithin(path, directory)));
  return [...new Set(found.filter((directory) => directory !== undefined))];
}

function shortenedPathList(paths: readonly string[]): string {
  const names = paths.slice(0, MAX_SHOWN_PATHS).map(escapeControls).join(", ");
  return paths.length > MAX_SHOWN_PATHS ? `${names} and ${paths.length - MAX_SHOWN_PATHS} more` : names;
}
