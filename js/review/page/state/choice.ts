/**
 * The choice of the parts of a change that are allowed: whole changes, hunks, and lines of hunks. Everything is chosen
 * at first, so the state holds the parts that are left out: under `CHANGE` for a change that is made as one, under
 * `CHANGE:HUNK` for a hunk.
 */
import type { ChangeRows, ChosenHunks, ReviewQuestion, ReviewRole, ReviewState } from "../../protocol.ts";

/** The rows of a question, as far as they have arrived. */
export interface LoadedRows {
  /** The pages of all changes in their order. */
  readonly pages: readonly ChangeRows[];
  /** True when every page of every change is there. An answer that allows needs that. */
  readonly isComplete: boolean;
  /** Why they could not be loaded. */
  readonly failure?: string;
  /** True when their secrets are shown. */
  readonly isShown?: boolean;
}

/** The part of a hunk that is left out: all of it, or the lines with these numbers in the hunk. */
export type LeftOut = "all" | ReadonlySet<number>;

/** Everything that is left out of a question. */
export type LeftOutParts = ReadonlyMap<string, LeftOut>;

/** A part that can be chosen alone: a hunk, or a change that is made as one. */
interface Part {
  readonly key: string;
  readonly change: number;
  /** The numbers of the hunks in it; none for a change without text. */
  readonly hunks: readonly number[];
  /** True for a change that is made as one. */
  readonly isWhole: boolean;
}

/** A place at which the keys for the next and the previous hunk stop: the head of a hunk, or of a change without text. */
export interface Stop {
  readonly change: number;
  /** The number of the hunk in its change; undefined at the head of a change. */
  readonly hunk: number | undefined;
  /** The key of the part that it belongs to. */
  readonly key: string;
  readonly isWhole: boolean;
  /** The packed lines of the hunk. */
  readonly lines: string;
}

/** The part of the page's state that choices depend on. */
interface ChoiceState {
  readonly review: ReviewState;
  readonly role: ReviewRole;
  /** The id of the chosen question. */
  readonly chosen: string | undefined;
  readonly rows: ReadonlyMap<string, LoadedRows>;
  /** The parts that are not chosen, by question. */
  readonly leftOut: ReadonlyMap<string, LeftOutParts>;
  /** The number of the marked hunk. */
  readonly hunk: number;
  /** The number of the marked line in it while lines are chosen. */
  readonly line: number | undefined;
}

const NOTHING: LeftOutParts = new Map();

/** Returns the places at which the keys stop, in their order, of all rows that have arrived. */
export function stopsOf(pages: readonly ChangeRows[] = []): readonly Stop[] {
  const stops: Stop[] = [];
  let number = -1;
  for (const { change, from, hunks, next } of pages) {
    if (from === 0) number += 1;
    const isWhole = change.whole;
    if (hunks.length === 0 && from === 0 && next === undefined)
      stops.push({ change: number, hunk: undefined, key: `${number}`, isWhole, lines: "" });
    for (const [at, { lines }] of hunks.entries()) {
      const hunk = from + at;
      const key = isWhole ? `${number}` : `${number}:${hunk}`;
      stops.push({ change: number, hunk, key, isWhole, lines });
    }
  }
  return stops;
}

/** Returns the parts that can be chosen alone, in their order. */
function partsOf(pages: readonly ChangeRows[] | undefined): readonly Part[] {
  const parts = new Map<string, Part & { hunks: number[] }>();
  for (const { change, hunk, key, isWhole } of stopsOf(pages)) {
    const part = parts.get(key) ?? { key, change, hunks: [], isWhole };
    if (hunk !== undefined) part.hunks.push(hunk);
    parts.set(key, part);
  }
  return [...parts.values()];
}

/** The numbers of parts that are chosen. */
export interface ChoiceCounts {
  /** The number of parts of which everything is chosen. */
  readonly chosen: number;
  /** The number of hunks of which some lines are chosen. */
  readonly partly: number;
  /** The number of all parts. */
  readonly all: number;
  /** True when every part is a hunk. */
  readonly areHunks: boolean;
}

/** Returns how much is chosen of changes. */
export function countChosen(
  pages: readonly ChangeRows[] | undefined,
  out: LeftOutParts = NOTHING,
): ChoiceCounts {
  const parts = partsOf(pages);
  const left = parts.map(({ key }) => out.get(key));
  return {
    chosen: left.filter((one) => one === undefined).length,
    partly: left.filter((one) => one !== undefined && one !== "all").length,
    all: parts.length,
    areHunks: parts.every(({ isWhole }) => !isWhole),
  };
}

/** Returns the chosen parts as an answer takes them. */
export function chosenOf(
  pages: readonly ChangeRows[] | undefined,
  out: LeftOutParts = NOTHING,
): ChosenHunks[] {
  const linesByKey = new Map(stopsOf(pages).map(({ key, lines }) => [key, lines]));
  const chosen = new Map<number, { hunks: number[]; lines: { hunk: number; rows: number[] }[] }>();
  for (const { key, change, hunks, isWhole } of partsOf(pages)) {
    const left = out.get(key);
    if (left === "all") continue;
    const one = chosen.get(change) ?? { hunks: [], lines: [] };
    chosen.set(change, one);
    if (left === undefined || isWhole) one.hunks.push(...hunks);
    else {
      const rows = changedLines(linesByKey.get(key) ?? "").filter((row) => !left.has(row));
      one.lines.push({ hunk: hunks[0] ?? 0, rows });
    }
  }
  return [...chosen].map(([change, { hunks, lines }]) => ({
    change,
    hunks,
    ...(lines.length === 0 ? {} : { lines }),
  }));
}

/** Returns the numbers of the removed and added lines of a hunk, from 0. A line that begins with `\` is not counted. */
export function changedLines(lines: string): readonly number[] {
  const changed: number[] = [];
  let row = 0;
  for (let from = 0; from <= lines.length; row++) {
    const mark = lines[from];
    if (mark === "\\") row -= 1;
    else if (mark === "+" || mark === "-") changed.push(row);
    const end = lines.indexOf("\n", from);
    from = end < 0 ? lines.length + 1 : end + 1;
  }
  return changed;
}

/** Returns a choice in which the part with this key, or all of a change by its number, is chosen or left out. */
export function withToggledPart(
  pages: readonly ChangeRows[] | undefined,
  out: LeftOutParts = NOTHING,
  key: string,
): LeftOutParts {
  const toggled = partsOf(pages).filter((part) => part.key === key || `${part.change}` === key);
  const isChosen = toggled.every((part) => !out.has(part.key));
  const next = new Map(out);
  for (const part of toggled) {
    if (isChosen) next.set(part.key, "all");
    else next.delete(part.key);
  }
  return next;
}

/** Returns a choice in which a line of the hunk with this key is chosen or left out. */
function withToggledLine(
  pages: readonly ChangeRows[] | undefined,
  out: LeftOutParts = NOTHING,
  key: string,
  line: number,
): LeftOutParts {
  const stop = stopsOf(pages).find((one) => one.key === key);
  const changed = stop === undefined || stop.isWhole ? [] : changedLines(stop.lines);
  if (!changed.includes(line)) return out;
  const before = out.get(key);
  const left = new Set(before === "all" ? changed : before);
  if (!left.delete(line)) left.add(line);
  const next = new Map(out);
  if (left.size === 0) next.delete(key);
  else next.set(key, left.size === changed.length ? "all" : left);
  return next;
}

/** Returns true when a line of a hunk is left out. */
export function isLineOut(left: LeftOut | undefined, line: number): boolean {
  return left === "all" || left?.has(line) === true;
}

/** Returns how much of a change is left out: nothing, a part, or all. */
export function leftOfChange(
  pages: readonly ChangeRows[] | undefined,
  out: LeftOutParts = NOTHING,
): ReadonlyMap<number, "none" | "part" | "all"> {
  const byChange = new Map<number, "none" | "part" | "all">();
  for (const { key, change } of partsOf(pages)) {
    const left = out.get(key);
    const one = left === undefined ? "none" : left === "all" ? "all" : "part";
    const before = byChange.get(change);
    byChange.set(change, before === undefined || before === one ? one : "part");
  }
  return byChange;
}

/** Returns the chosen question if it waits. */
export function chosenQuestion({
  review,
  chosen,
}: Pick<ChoiceState, "review" | "chosen">): ReviewQuestion | undefined {
  return review.waiting.find(({ id }) => id === chosen);
}

/** Returns the places at which the keys for hunks stop in the chosen question. */
export function stopsOfChosen({ rows, chosen = "" }: ChoiceState): readonly Stop[] {
  return stopsOf(rows.get(chosen)?.pages);
}

/** Returns how much of the chosen question is chosen. */
export function choiceCounts({ rows, leftOut, chosen = "" }: ChoiceState): ChoiceCounts {
  return countChosen(rows.get(chosen)?.pages, leftOut.get(chosen));
}

/** Returns the chosen parts of the chosen question. */
export function chosenParts({ rows, leftOut, chosen = "" }: ChoiceState): ChosenHunks[] {
  return chosenOf(rows.get(chosen)?.pages, leftOut.get(chosen));
}

/** Returns true when parts of the chosen question can be chosen. */
export function canChooseParts(state: ChoiceState): boolean {
  const question = chosenQuestion(state);
  if (question?.kind !== "change" || question.conflict !== undefined) return false;
  return question.hasParts && state.role !== "watch";
}

/** Chooses or leaves out a part of the chosen question, all of a change by its number, or a line of a hunk. */
export function toggle<State extends ChoiceState>(
  state: State,
  key: string,
  line: number | undefined,
): State {
  const { chosen = "", rows, leftOut } = state;
  if (!canChooseParts(state)) return state;
  const [pages, out] = [rows.get(chosen)?.pages, leftOut.get(chosen)];
  const next = line === undefined ? withToggledPart(pages, out, key) : withToggledLine(pages, out, key, line);
  return { ...state, leftOut: new Map(leftOut).set(chosen, next) };
}

/** Begins to choose the lines of a hunk with its first changed line, or ends it. */
export function toggleLines<State extends ChoiceState>(state: State, hunk: number): State {
  const stop = stopsOfChosen(state)[hunk];
  if (stop === undefined || stop.isWhole || !canChooseParts(state)) return { ...state, line: undefined };
  if (state.line !== undefined && state.hunk === hunk) return { ...state, line: undefined };
  return { ...state, hunk, line: changedLines(stop.lines)[0] };
}
