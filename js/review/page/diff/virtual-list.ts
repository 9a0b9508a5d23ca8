/** Selects the rows of a long list that are drawn: those that can be seen, and a few around them. */

/** The height of every row in CSS pixels. `review.css` has both heights too. */
export const ROW_HEIGHT = 20;
/** The height of every row while lines are chosen: that of a target for a pointer. */
export const LINE_CHOICE_ROW_HEIGHT = 24;
/** The height of the rows that are drawn above and below the visible ones, in CSS pixels. */
const EXTRA_HEIGHT = 240;
/** The maximum height in CSS pixels that browsers draw exactly. A longer list is divided into several. */
const MAX_HEIGHT = 15_000_000;
/** The number of rows that one list can hold. */
export const MAX_LIST_ROWS: number = Math.floor(MAX_HEIGHT / LINE_CHOICE_ROW_HEIGHT);

/** A range of rows, from 0; `end` is excluded. */
export interface RowRange {
  readonly start: number;
  readonly end: number;
}

/** Returns the rows to draw for a scroll position and a height in CSS pixels. */
export function visibleRows(
  scrollTop: number,
  height: number,
  count: number,
  rowHeight: number = ROW_HEIGHT,
): RowRange {
  const first = Math.floor(scrollTop / rowHeight);
  const extra = Math.ceil(EXTRA_HEIGHT / rowHeight);
  return {
    start: Math.max(0, Math.min(first, count) - extra),
    end: Math.min(count, first + Math.ceil(height / rowHeight) + 1 + extra),
  };
}

/** Returns the scroll position at which a row is in the upper third of a list. */
export function positionOfRow(row: number, height: number, rowHeight: number = ROW_HEIGHT): number {
  return Math.max(0, row * rowHeight - Math.floor(height / 3 / rowHeight) * rowHeight);
}
