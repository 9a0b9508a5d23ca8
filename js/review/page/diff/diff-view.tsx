/** A diff of any length: of all its rows, only those are in the document that can be seen. */
import type { JSX } from "preact";
import { useListView } from "./list-view.ts";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { ChangeRows } from "../../protocol.ts";
import type { HunkNews } from "../state/seen.ts";
import { isLineOut, leftOfChange, type LeftOut, type LeftOutParts } from "../state/choice.ts";
import { type DiffChoice, Row } from "./diff-row.tsx";
import { RowGrid } from "./row-grid.tsx";
import { diffRows } from "./rows.ts";
import { LINE_CHOICE_ROW_HEIGHT, positionOfRow, ROW_HEIGHT } from "./virtual-list.ts";

/** The properties of {@link DiffView}. */
interface DiffViewProps extends DiffChoice {
  readonly pages: readonly ChangeRows[];
  /** The hunks that differ from what was seen before, by their keys. */
  readonly news?: ReadonlyMap<string, HunkNews> | undefined;
  /** The parts that are not chosen. */
  readonly leftOut: LeftOutParts | undefined;
  /** The number of the marked hunk. */
  readonly hunk: number;
  /** The number of the marked line of the marked hunk while lines are chosen. */
  readonly line: number | undefined;
}

const NOTHING_LEFT_OUT: LeftOutParts = new Map();

/** Draws a diff. */
export function DiffView(props: DiffViewProps): JSX.Element {
  const { pages, leftOut = NOTHING_LEFT_OUT, hunk, line } = props;
  const diff = useMemo(() => diffRows(pages), [pages]);
  const leftByChange = useMemo(() => leftOfChange(pages, leftOut), [pages, leftOut]);
  const listView = useListView();
  const { list } = listView;
  const isFirst = useRef(true);
  const choosesLines = line !== undefined;
  const rowHeight = choosesLines ? LINE_CHOICE_ROW_HEIGHT : ROW_HEIGHT;
  const drawnHeight = useRef(rowHeight);

  // The rows that can be seen stay where they are when all rows become higher or lower.
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || drawnHeight.current === rowHeight) return;
    element.scrollTop = (element.scrollTop / drawnHeight.current) * rowHeight;
    drawnHeight.current = rowHeight;
  }, [rowHeight]);

  // When a key has marked another row, that row is scrolled into view.
  useLayoutEffect(() => {
    const [element, head] = [list.current, diff.hunkRows[hunk]];
    if (isFirst.current || element === null || head === undefined) {
      isFirst.current = false;
      return;
    }
    const inHunk =
      line === undefined
        ? -1
        : diff.rows.findIndex(
            (one, at) => at > head && "line" in one && one.index === hunk && one.line === line,
          );
    const row = inHunk < 0 ? head : inHunk;
    const [top, bottom] = [element.scrollTop, element.scrollTop + element.clientHeight];
    if (row * rowHeight < top || (row + 3) * rowHeight > bottom)
      element.scrollTop = positionOfRow(row, element.clientHeight, rowHeight);
  }, [hunk, line]);

  return (
    <RowGrid
      label="The change, line by line"
      name={choosesLines ? "lines" : undefined}
      part="diff"
      rows={diff.rows}
      rowHeight={rowHeight}
      view={listView}
      draw={(row, number) => {
        const left: LeftOut | undefined = "key" in row ? leftOut.get(row.key) : undefined;
        const isMarked = "index" in row && row.index === hunk;
        return (
          <Row
            key={number}
            row={row}
            number={number}
            left={row.kind === "file" ? leftByChange.get(row.number) : partOf(left)}
            isOut={"line" in row ? isLineOut(left, row.line) : left === "all"}
            isMarked={isMarked && (!("line" in row) || row.line === line)}
            canChooseLine={isMarked && choosesLines && props.canChoose}
            news={row.kind === "hunk" ? props.news?.get(row.hunkKey) : undefined}
            view={props}
          />
        );
      }}
    />
  );
}

function partOf(left: LeftOut | undefined): "none" | "part" | "all" {
  return left === undefined ? "none" : left === "all" ? "all" : "part";
}
