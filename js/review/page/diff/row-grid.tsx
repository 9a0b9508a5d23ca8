/** A grid of rows of one height, of which only those that can be seen are in the document. */
import type { JSX } from "preact";
import type { ListViewHandle } from "./list-view.ts";
import { MAX_LIST_ROWS, ROW_HEIGHT, visibleRows } from "./virtual-list.ts";

/** The properties of {@link RowGrid}. */
interface RowGridProps<Row> {
  readonly label: string;
  /** The class of the grid besides `diff`. */
  readonly name?: string | undefined;
  /** The name by which other pages style the grid. */
  readonly part?: string | undefined;
  readonly rows: readonly Row[];
  /** The height of each row in CSS pixels. */
  readonly rowHeight?: number;
  /** The element of the grid and the part of it that can be seen. */
  readonly view: ListViewHandle;
  /** Draws a row by its number from 0. `isFirst` is true for the first one in the document. */
  draw(row: Row, number: number, isFirst: boolean): JSX.Element;
}

/** Draws the grid. Rows beyond the maximum that one grid can hold are left out. */
export function RowGrid<Row>(props: RowGridProps<Row>): JSX.Element {
  const { label, name, part, rows, rowHeight = ROW_HEIGHT, draw } = props;
  const { list, view, onScroll } = props.view;
  const count = Math.min(rows.length, MAX_LIST_ROWS);
  const { start, end } = visibleRows(view.top, view.height, count, rowHeight);
  return (
    <div
      class={name === undefined ? "diff" : `diff ${name}`}
      part={part}
      role="grid"
      aria-label={label}
      aria-readonly="true"
      aria-rowcount={count}
      aria-colcount={3}
      tabIndex={0}
      ref={list}
      onScroll={onScroll}
    >
      <div class="diff-rows" role="presentation" style={{ height: `${count * rowHeight}px` }}>
        <div
          class="diff-window"
          role="presentation"
          style={{ transform: `translateY(${start * rowHeight}px)` }}
        >
          {rows.slice(start, end).map((row, index) => draw(row, start + index, index === 0))}
        </div>
      </div>
    </div>
  );
}
