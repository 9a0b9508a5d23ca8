/** The commands about the history of changes: list them, show one, undo one. */
import { withoutUndefined } from "../../schema/without-undefined.ts";
import { resolve } from "node:path";
import type { AllowedBy } from "../../backends/transaction/step.ts";
import { escapeControls } from "../../engine/escape.ts";
import { makeError } from "../../engine/errors.ts";
import type { Preset } from "../../presets/preset.ts";
import type { Tool } from "../../tools/lib/tool.ts";
import { undoTool } from "../../tools/undo.ts";
import {
  type HistoryChange,
  type HistoryEntry,
  type ToolDefinition,
  toolsFor,
  type Workspace,
} from "../../workspace/index.ts";
import { type Command, type CommandReport, FLAG_OPTION, VALUE_OPTION } from "../command.ts";
import { reportKept, reportUnreviewed } from "./history-review.ts";
import { CALL_WORDS, changeText, type LineCounts, lineCounts } from "../change-text.ts";
import { allowedByInWords } from "../../review/past/past-words.ts";
import { type ChangeDetail, changeDetailsOf } from "../history-details.ts";
import { singleToolPreset } from "../single-tool.ts";
import { requireByBeginning } from "../past-ids.ts";
import { directoryOf, sharedCwdOf, touches } from "../past-roots.ts";
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
      "Newest first: the id for undo, the local time, the tool and the agent, the lines added and removed, the paths. Lists the changes of all programs with this working directory. Lines are counted if the contents are still known. show prints the diff of one change; the beginning of an ID suffices. unreviewed lists the changes that were made without a question and that nobody has kept; keep says that a person has looked at them.",
    options: {
      limit: VALUE_OPTION,
      path: VALUE_OPTION,
      since: VALUE_OPTION,
      all: FLAG_OPTION,
      by: VALUE_OPTION,
    },
    help: [
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
    async report(ws, parsed, shell) {
      const { positionals, values } = parsed;
      const limit = Number(values["limit"] ?? DEFAULT_SHOWN_CHANGES);
      if (!(Number.isSafeInteger(limit) && limit > 0)) throw new UsageError("--limit must be 1 or more");
      const [verb, ...ids] = positionals;
      if (verb === "keep") return reportKept(ws, ids, parsed, shell);
      if (values["all"] !== undefined || values["by"] !== undefined)
        throw new UsageError("--all and --by belong to history keep");
      if (positionals.length > 2) throw new UsageError("history takes one change");
      if (verb === "unreviewed" && ids.length === 0)
        return reportUnreviewed(ws, (entry) => tableCellsOf(entry, {}), shell);
      const all = await ws.history();
      if (positionals[0] !== undefined) return showChange(ws, all, positionals);
      const wanted = all.filter(changeFilterOf(parsed, sharedCwdOf(ws)));
      const shown = wanted.slice(0, limit);
      const details = await changeDetailsOf(
        ws,
        shown.map(({ callId }) => callId),
      );
      const lines =
        shown.length === 0
          ? []
          : [
              formatTable(
                shown.map((entry, at) => tableCellsOf(entry, lineCountsOf(details[at]))),
                widthOfOutput(shell),
              ),
            ];
      if (wanted.length > shown.length)
        lines.push(`and ${wanted.length - shown.length} more; --limit shows them`);
      const none = all.length === 0 ? "Nothing to undo." : "No such change.";
      return {
        text: lines.join("\n") || none,
        data: shown.map((entry, at) => ({ ...entry, ...lineCountsOf(details[at]) })),
      };
    },
  },
  {
    name: "undo",
    tool: "undo",
    summary: "undo a change",
    usage: "filewright undo [ID]",
    about:
      "Restores the content before a change, and shows the diff: of the last change, or of the one with this ID of history. Refused if a file has changed since. An undo is a change, too, and can be undone.",
    options: {},
    help: [],
    examples: [
      ["filewright undo", "the last change"],
      ["filewright undo 0mf3k2p9a-1b2c3d4e5f60", "an earlier one"],
    ],
    takes: [0, 1],
    sort: "asks",
    async report(ws, parsed) {
      const { positionals } = parsed;
      const [undo] = toolsFor(ws, UNDO_PRESET);
      const [typed] = positionals;
      const id = await undoneBy(ws, typed, parsed);
      if (id === null) return nothingToUndo(ws, "There is no change to undo in this directory.");
      const result = await (undo as ToolDefinition).execute(id === undefined ? {} : { call_id: id });
      if (result.ok)
        return { text: result.text, data: { ...(result.data as object), callId: result.meta.call_id } };
      const { code, message, ...more } = result.error;
      if (code === "NOT_FOUND" && typed === undefined)
        return {
          text: `${message}${await redoAdvice(ws)}`,
          data: { undone: null, paths: [] },
          nothing: true,
        };
      throw makeError(code, message, { ...more, complete: true });
    },
  },
];

/**
 * Returns the id of the change that an undo means. In a history of several directories, the last one in this directory
 * that is not undone, or null for none; undefined for the last of all.
 */
async function undoneBy(
  ws: Workspace,
  typed: string | undefined,
  parsed: ParsedCommandLine,
): Promise<string | null | undefined> {
  if (typed !== undefined) return requireByBeginning(await ws.history(), typed).callId;
  const cwd = sharedCwdOf(ws);
  if (cwd === undefined) return undefined;
  const entries = await ws.history();
  const done = new Set(
    entries.flatMap(({ undoOf, undoes = [] }) => [...undoes, ...[undoOf].filter(Boolean)]),
  );
  const here = entries.find(
    (entry) =>
      entry.undoOf === undefined && !done.has(entry.callId) && touches(entry, cwd, directoryOf(parsed)),
  );
  return here?.callId ?? null;
}

/** Returns the report of an undo that finds nothing to undo. */
async function nothingToUndo(ws: Workspace, message: string): Promise<CommandReport> {
  return { text: `${message}${await redoAdvice(ws)}`, data: { undone: null, paths: [] }, nothing: true };
}

/** Returns how to redo what was undone last; empty when nothing was undone. */
async function redoAdvice(ws: Workspace): Promise<string> {
  const last = (await ws.history()).find(
    ({ undoOf, undoes }) => undoOf !== undefined || undoes !== undefined,
  );
  return last === undefined ? "" : ` What was undone last is made again by: filewright undo ${last.callId}`;
}

/** The tool by which a person undoes a change of any caller. Rules and approvals apply to it. */
const UNDO_PRESET: Preset = singleToolPreset(undoTool(true) as unknown as Tool, "undo");

/**
 * Returns the facts about one change and its diff, for `show ID`. @throws UsageError, FilewrightError
 * NOT_FOUND
 */
async function showChange(
  ws: Workspace,
  all: readonly HistoryEntry[],
  [verb, id]: readonly string[],
): Promise<CommandReport> {
  if (verb !== "show") throw new UsageError(`history can show one change, not '${verb}'`);
  if (id === undefined) throw new UsageError("show needs the id of a change; filewright history lists them");
  const entry = requireByBeginning(all, id);
  const changes = await ws.changes(entry.callId);
  const counts = lineCounts(changes.flatMap(({ diff }) => (diff === "" ? [] : [diff])));
  return {
    text: [
      tableCellsOf(entry, counts).filter(Boolean).join("  "),
      ...(entry.allowedBy ?? []).map(allowedLine),
      ...changes.map((change) => changeText(change, CALL_WORDS)),
    ].join("\n"),
    data: { ...entry, ...counts, files: changes.map(plainChange) },
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

/**
 * Returns a function that selects changes by the options of a command line; of a history of several directories, whose
 * working directory is `shared`, those in the directory of the command line. @throws UsageError
 */
function changeFilterOf(
  parsed: ParsedCommandLine,
  shared: string | undefined,
): (entry: HistoryEntry) => boolean {
  const { agent, path, since } = parsed.values;
  const begin = since === undefined ? undefined : parseSinceTime(String(since), Date.now());
  const directory = directoryOf(parsed);
  const within =
    path === undefined && shared === undefined ? undefined : resolve(directory, String(path ?? "."));
  return (entry) =>
    (agent === undefined || entry.agent === agent) &&
    (begin === undefined || Date.parse(entry.time) >= begin) &&
    (within === undefined || touches(entry, shared ?? directory, within));
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

/**
 * Returns the numbers of added and removed lines of a change; empty when they are not known for any of its
 * files.
 */
function lineCountsOf(change: ChangeDetail | undefined): LineCounts {
  const files = change?.files.filter(({ added }) => added !== undefined) ?? [];
  if (files.length === 0) return {};
  const sum = (counts: readonly (number | undefined)[]): number =>
    counts.reduce<number>((total, count) => total + (count ?? 0), 0);
  return { added: sum(files.map(({ added }) => added)), removed: sum(files.map(({ removed }) => removed)) };
}

function tableCellsOf(
  { callId, tool, time, paths, agent, undoOf }: HistoryEntry,
  { added, removed }: LineCounts,
): readonly string[] {
  const done = undoOf === undefined ? tool : `${tool} of ${undoOf}`;
  const what = agent === undefined ? done : `${done} by ${escapeControls(agent)}`;
  const counts = added === undefined ? "" : `+${added} -${removed}`;
  return [callId, formatLocalTime(time, "seconds"), what, counts, shortenedPathList(paths)];
}

function shortenedPathList(paths: readonly string[]): string {
  const names = paths.slice(0, MAX_SHOWN_PATHS).map(escapeControls).join(", ");
  return paths.length > MAX_SHOWN_PATHS ? `${names} and ${paths.length - MAX_SHOWN_PATHS} more` : names;
}
