/** The view of the timeline and the rows of its list, computed from the data without a browser. */
import type { HistoryMark } from "../../../../tools/lib/history-entry.ts";
import type { PastCall, PastCalls } from "../../../past/history-protocol.ts";
import type { ChosenHunks, ReviewQuestion, SettledQuestion } from "../../../protocol.ts";
import type { LeftOutParts } from "../../state/choice.ts";
import { hasTrait } from "../../../../schema/tool-facts.ts";

/** A place of the history to which a rewind is previewed. */
export interface RewindPlace {
  /** The name of a mark, or the id of a call: the state before it. */
  readonly to: string;
  /** The place in words, such as `“before tests”`. */
  readonly label: string;
  /** The chosen paths; undefined for all that the later calls changed. */
  readonly paths?: readonly string[] | undefined;
  /** The path of the file that is restored to an earlier version, for a rewind of that alone. */
  readonly restored?: string | undefined;
  /** True to take back the calls of all agents although the list shows those of one. */
  readonly isOfAll?: boolean | undefined;
}

/** A file whose versions are shown. */
export interface ShownFile {
  readonly path: string;
  /** The ids of the compared versions; undefined for the last two. */
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

/** Some hunks of a call, whose put back is previewed. */
export interface ChosenPutBack {
  readonly callId: string;
  readonly parts: readonly ChosenHunks[];
  /** Their number in words, such as `2 of 3 hunks`. */
  readonly label: string;
}

/** Something that was put back, and can be undone at once. */
export interface PutBack {
  readonly text: string;
  /** The id of the call that did it. */
  readonly callId: string;
}

/** Why something was not put back. */
export interface PutBackFailure {
  readonly text: string;
  /** The later calls that stand in the way, the newest first. */
  readonly later: readonly PastCall[];
  /** True when it may have been put back all the same. */
  readonly isDoubtful?: boolean;
}

/** The view of the timeline: its filters, the chosen row, and the open dialog. */
export interface TimelineView {
  /** The key of the chosen row; undefined for the newest one. */
  readonly chosen: string | undefined;
  /** The agent whose calls are listed; undefined for all, empty for callers without a name. */
  readonly agent: string | undefined;
  /** A part of the paths of the listed calls; empty for all. */
  readonly path: string;
  /** True to list only unreviewed calls. */
  readonly isUnreviewed: boolean;
  /** The number of the marked hunk. */
  readonly hunk: number;
  /** The hunks of the chosen call that are not put back with the others. */
  readonly leftOut: LeftOutParts;
  /** The part that a narrow page shows. */
  readonly part: "list" | "detail";
  readonly dialog: "mark" | "put-back" | "keep" | undefined;
  readonly rewind: RewindPlace | undefined;
  readonly putBack: ChosenPutBack | undefined;
  readonly file: ShownFile | undefined;
  readonly done: PutBack | undefined;
  readonly failure: PutBackFailure | undefined;
}

/** The timeline when it is opened for the first time. */
export const FIRST_TIMELINE: TimelineView = {
  chosen: undefined,
  agent: undefined,
  path: "",
  isUnreviewed: false,
  hunk: 0,
  leftOut: new Map(),
  part: "list",
  dialog: undefined,
  rewind: undefined,
  putBack: undefined,
  file: undefined,
  done: undefined,
  failure: undefined,
};

/** The change of the view that closes everything about a row when another one is chosen. */
export const NOTHING_OPEN: Partial<TimelineView> = {
  hunk: 0,
  leftOut: new Map(),
  rewind: undefined,
  putBack: undefined,
  file: undefined,
  done: undefined,
  failure: undefined,
};

/** A call in the list. */
export interface CallRow {
  readonly key: string;
  readonly entry: PastCall;
  /** Its action, such as `edit_file` or `put back edit_file`. */
  readonly action: string;
  /** The later call that took it back. */
  readonly reversal?: Reversal | undefined;
  /** True when it was made without a question and no person has reviewed it yet. */
  readonly isUnreviewed: boolean;
}

/** A later call that took back another one. */
export interface Reversal {
  readonly by: PastCall;
  /** True when it put back some hunks alone. */
  readonly isPart: boolean;
}

/** One row of the list. */
export type TimelineRow =
  | CallRow
  | { readonly key: string; readonly mark: HistoryMark }
  | { readonly key: string; readonly refusal: SettledQuestion };

/** Returns the rows of the list, the newest first. Marks are listed whatever the filter is. */
export function timelineRows(
  { entries, marks, unreviewed }: PastCalls,
  { agent, path, isUnreviewed: onlyUnreviewed }: Pick<TimelineView, "agent" | "path" | "isUnreviewed">,
): readonly TimelineRow[] {
  const reversal = reversalsOf(entries);
  const waiting = new Set(unreviewed);
  const tools = new Map(entries.map(({ callId, tool }) => [callId, tool]));
  const wanted = path.trim().toLowerCase();
  const rows: TimelineRow[] = [];
  let next = 0;
  const addMarks = (until: string): void => {
    for (let mark = marks[next]; mark !== undefined && mark.time >= until; mark = marks[++next])
      rows.push({ key: `mark:${mark.name}`, mark });
  };
  for (const entry of entries) {
    addMarks(entry.time);
    if (agent !== undefined && (entry.agent ?? "") !== agent) continue;
    if (wanted !== "" && !entry.paths.some((one) => one.toLowerCase().includes(wanted))) continue;
    const isUnreviewed = entry.unrecorded !== true && waiting.has(entry.callId);
    if (onlyUnreviewed && !isUnreviewed) continue;
    rows.push({
      key: keyOfCall(entry),
      entry,
      action: actionOf(entry, tools.get(entry.undoOf ?? "")),
      reversal: reversal.get(entry.callId),
      isUnreviewed,
    });
  }
  addMarks("");
  return rows;
}

/** Returns the rows with the calls that people have refused, which the history does not have. */
export function withRefusals(
  rows: readonly TimelineRow[],
  settled: readonly SettledQuestion[],
  { agent, path, isUnreviewed }: Pick<TimelineView, "agent" | "path" | "isUnreviewed">,
): readonly TimelineRow[] {
  const wanted = path.trim().toLowerCase();
  const refusals = settled.filter(
    ({ outcome, question }) =>
      outcome === "refuse" &&
      (agent === undefined || (question.agent ?? "") === agent) &&
      pathsOfQuestion(question).some((one) => one.toLowerCase().includes(wanted)),
  );
  if (isUnreviewed || refusals.length === 0) return rows;
  const refused = refusals.map((refusal) => ({ key: `refusal:${refusal.question.id}`, refusal }));
  return [...rows, ...refused].sort((a, b) => timeOfRow(b) - timeOfRow(a));
}

function timeOfRow(row: TimelineRow): number {
  if ("refusal" in row) return row.refusal.at;
  return Date.parse("mark" in row ? row.mark.time : row.entry.time);
}

/** Returns the absolute paths that a question is about. */
export function pathsOfQuestion(question: ReviewQuestion): readonly string[] {
  return question.kind === "directory" ? [question.dir] : question.changes.map((change) => change.path);
}

/** Returns the key of the row of a call. A command may have the id of the call that it belongs to. */
function keyOfCall({ callId, unrecorded }: PastCall): string {
  return unrecorded === true ? `unrecorded:${callId}` : callId;
}

/** Returns the calls that a later one has taken back, unless that one was taken back itself. */
export function reversalsOf(entries: readonly PastCall[]): ReadonlyMap<string, Reversal> {
  const taken = new Map<string, Reversal>();
  for (const by of entries) {
    if (taken.get(by.callId)?.isPart === false) continue;
    const isPart = hasTrait(by.tool, "takesBackPart");
    for (const callId of [by.undoOf, ...(by.undoes ?? [])]) {
      if (callId === undefined) continue;
      const known = taken.get(callId);
      if (known === undefined || (known.isPart && !isPart)) taken.set(callId, { by, isPart });
    }
  }
  return taken;
}

/**
 * Returns what a call did in the words of the page, which has no undo.
 *
 * @param of the tool of the call that it put back, if known
 */
export function actionOf({ tool }: Pick<PastCall, "tool">, of?: string): string {
  if (hasTrait(tool, "takesBackCall"))
    return of === undefined ? "put back" : `put back ${actionOf({ tool: of })}`;
  if (hasTrait(tool, "takesBackPart"))
    return of === undefined ? "put back hunks" : `put back hunks of ${actionOf({ tool: of })}`;
  return tool;
}

/** Returns how a call was taken back, in a few words. */
export function reversalInWords({ by, isPart }: Reversal): string {
  if (hasTrait(by.tool, "takesBackCalls")) return "taken back by a rewind";
  return isPart ? "put back in part" : "put back";
}

/** Returns the names of the agents with calls, sorted; empty for callers without a name. */
export function agentsOf(entries: readonly PastCall[]): readonly string[] {
  return [...new Set(entries.map(({ agent }) => agent ?? ""))].sort();
}

/** Returns what a call is about in a few words: its only path, or the number of its paths. */
export function subjectOf({ paths }: Pick<PastCall, "paths">): string {
  const [first] = paths;
  if (first === undefined) return "";
  return paths.length === 1 ? first : `${paths.length} paths`;
}

/** Returns the place before a call, for a rewind. */
export function placeBefore(entry: PastCall): RewindPlace {
  return { to: entry.callId, label: `before ${actionOf(entry)} of ${clockTime(entry.time)}` };
}

/** Returns the place of a mark, for a rewind. */
export function placeOfMark({ name }: HistoryMark): RewindPlace {
  return { to: name, label: `“${name}”` };
}

/** Returns the place of a row, for a rewind; undefined for a call that cannot be taken back. */
export function placeOf(row: TimelineRow | undefined): RewindPlace | undefined {
  if (row === undefined) return undefined;
  if ("refusal" in row) return undefined;
  if ("mark" in row) return placeOfMark(row.mark);
  return row.entry.unrecorded === true ? undefined : placeBefore(row.entry);
}

/** Returns a time of today as `HH:MM:SS`, and of another day with its date. */
export function clockTime(time: string): string {
  const date = new Date(time);
  const two = (part: number): string => String(part).padStart(2, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday
    ? clock
    : `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clock}`;
}

/** Returns a duration in words. */
export function durationOf(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`;
}

/** Returns the listed calls that are unreviewed. */
export function unreviewedCalls(rows: readonly TimelineRow[]): readonly PastCall[] {
  return rows.flatMap((row) => ("entry" in row && row.isUnreviewed ? [row.entry] : []));
}
