/** Which rows of a long list are drawn: those that can be seen, and a few around them. */

/** The height of every row in CSS pixels. `review.css` has it too. */
export const ROW_HEIGHT = 20;
/** The number of rows that are drawn above and below the visible ones. */
const EXTRA_ROWS = 12;
/** The maximum height in CSS pixels that browsers draw exactly. A longer list is divided into several. */
const MAX_HEIGHT = 15_000_000;
/** The number of rows that one list can hold. */
export const MAX_LIST_ROWS: number = Math.floor(MAX_HEIGHT / ROW_HEIGHT);

/** A range of rows, from 0; `end` is excluded. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the rows to draw for a scroll position and a height in CSS pixels. */
export function visibleRows(scrollTop: number, height: number, count: number): RowRange {
  const first = Math.floor(scrollTop / ROW_HEIGHT);
  return {
    start: Math.max(0, Math.min(first, count) - EXTRA_ROWS),
    end: Math.min(count, first + Math.ceil(height / ROW_HEIGHT) + 1 + EXTRA_ROWS),
  };
}

/** Returns the scroll position at which a row is in the upper third of a list. */
export function positionOfRow(row: number, height: number): number {
  return Math.max(0, row * ROW_HEIGHT - Math.floor(height / 3 / ROW_HEIGHT) * ROW_HEIGHT);
}
