/** Ranges of lines: those of a file that an agent has seen, and their positions after a change. */
import type { Page } from "../../engine/read.ts";
import type { ReplacedRange } from "../../engine/text/diff.ts";

/** The first and the last line of a range, both included, from 1. */
export type LineRange = readonly [first: number, last: number];

/** The last line of a range that extends to the end of the file, whose number of lines need not be known. */
const LAST_LINE_UNKNOWN: number = Number.MAX_SAFE_INTEGER;

/** Sorts ranges and merges those that overlap or touch. */
export function mergeRanges(ranges: readonly LineRange[]): readonly LineRange[] {
  const joined: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (first > last) continue;
    const previous = joined.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

/** Returns the ranges, or undefined when they cover the whole file. */
export function undefinedIfWhole(ranges: readonly LineRange[]): readonly LineRange[] | undefined {
  const [only] = ranges;
  return ranges.length === 1 && only !== undefined && only[0] <= 1 && only[1] === LAST_LINE_UNKNOWN
    ? undefined
    : ranges;
}

/**
 * Returns true when every replaced line is within the ranges, and for every pure insertion the
 * line before or after it. Used to decide whether an edit touches only lines that were read.
 */
export function coverReplacedLines(
  ranges: readonly LineRange[],
  replaced: readonly ReplacedRange[],
): boolean {
  for (const { oldStart, oldLines } of replaced) {
    const isCovered =
      oldLines > 0
        ? holds(ranges, oldStart, oldStart + oldLines - 1)
        : holds(ranges, oldStart, oldStart) || holds(ranges, oldStart + 1, oldStart + 1);
    if (!isCovered) return false;
  }
  return true;
}

/** Returns true when one of the ranges has all of these lines. */
function holds(ranges: readonly LineRange[], first: number, last: number): boolean {
  for (const [from, to] of ranges) if (from <= first && last <= to) return true;
  return false;
}

/**
 * Returns the ranges as they are after a change: unchanged lines are renumbered, replaced lines are dropped,
 * and new lines are added, because their writer knows them.
 */
export function rangesAfterChange(
  ranges: readonly LineRange[],
  replaced: readonly ReplacedRange[],
): readonly LineRange[] {
  const after: LineRange[] = [];
  const keep = (first: number, last: number, shift: number): void => {
    for (const [from, to] of ranges) {
      const [start, end] = [Math.max(from, first), Math.min(to, last)];
      if (start <= end) after.push([start + shift, end === LAST_LINE_UNKNOWN ? end : end + shift]);
    }
  };
  let [next, shift] = [1, 0];
  for (const { oldStart, oldLines, newStart, newLines } of replaced) {
    const first = oldLines > 0 ? oldStart : oldStart + 1;
    keep(next, first - 1, shift);
    if (newLines > 0) after.push([newStart, newStart + newLines - 1]);
    next = first + oldLines;
    shift += newLines - oldLines;
  }
  keep(next, LAST_LINE_UNKNOWN, shift);
  return mergeRanges(after);
}

/**
 * Returns the ranges of lines that a page shows completely; undefined when it shows the whole file. Truncated
 * lines are not included.
 */
export function linesShownByPage(
  page: Page,
  start_byte: number | undefined,
): readonly LineRange[] | undefined {
  if (page.linesRead === 0) return page.size === 0 ? undefined : [];
  const inLine = start_byte !== undefined && start_byte > 0;
  const first = inLine ? page.startLine + 1 : page.startLine;
  const last = page.truncated
    ? page.nextStartByte === null
      ? page.endLine
      : page.endLine - 1
    : LAST_LINE_UNKNOWN;
  if (page.cutLines.length === 0)
    return first <= 1 && last === LAST_LINE_UNKNOWN ? undefined : [[first, last]];
  const whole: LineRange[] = [];
  let next = first;
  for (const cut of page.cutLines) {
    if (cut > next) whole.push([next, cut - 1]);
    next = Math.max(next, cut + 1);
  }
  return [...whole, [next, last]];
}
