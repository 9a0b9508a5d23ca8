/** A diff of any length: of all its rows, only those are in the document that can be seen. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ChangeRows, ChangeSummary } from "../../protocol.ts";
import { visibleText } from "./escapes.ts";
import { type DiffRow, diffRows } from "./rows.ts";
import { SafeText } from "./text.tsx";
import { MAX_LIST_ROWS, positionOfRow, ROW_HEIGHT, visibleRows } from "./virtual-list.ts";

/** The properties of {@link DiffView}. */
export interface DiffViewProps {
  readonly pages: readonly ChangeRows[];
  /** The hunks that are not chosen. */
  readonly leftOut: ReadonlySet<string> | undefined;
  /** True when hunks can be chosen. */
  readonly canChoose: boolean;
  /** The number of the marked hunk. */
  readonly hunk: number;
  onToggle(key: string): void;
  onHunk(hunk: number): void;
}

const NOTHING_LEFT_OUT: ReadonlySet<string> = new Set();

/** The number of rows that are drawn before the height of the list is known. */
const FIRST_HEIGHT = 1200;

/** Draws a diff. */
export function DiffView(props: DiffViewProps): JSX.Element {
  const { pages, leftOut = NOTHING_LEFT_OUT, hunk } = props;
  const diff = useMemo(() => diffRows(pages), [pages]);
  const list = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: FIRST_HEIGHT });
  const isFirst = useRef(true);

  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return undefined;
    const measure = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // The marked hunk is scrolled to when a key has marked another one.
  useLayoutEffect(() => {
    const [element, row] = [list.current, diff.hunkRows[hunk]];
    if (isFirst.current || element === null || row === undefined) {
      isFirst.current = false;
      return;
    }
    const [top, bottom] = [element.scrollTop, element.scrollTop + element.clientHeight];
    if (row * ROW_HEIGHT < top || (row + 3) * ROW_HEIGHT > bottom)
      element.scrollTop = positionOfRow(row, element.clientHeight);
  }, [hunk]);

  const count = Math.min(diff.rows.length, MAX_LIST_ROWS);
  const { start, end } = visibleRows(view.top, view.height, count);
  const marked = diff.rows[diff.hunkRows[hunk] ?? -1];
  const markedKey = marked?.kind === "hunk" ? marked.key : undefined;
  return (
    <div
      class="diff"
      role="grid"
      aria-label="The change, line by line"
      aria-readonly="true"
      aria-rowcount={count}
      aria-colcount={3}
      tabIndex={0}
      ref={list}
      onScroll={({ currentTarget }) =>
        setView({ top: currentTarget.scrollTop, height: currentTarget.clientHeight })
      }
    >
      <div class="diff-rows" role="presentation" style={{ height: `${count * ROW_HEIGHT}px` }}>
        <div
          class="diff-window"
          role="presentation"
          style={{ transform: `translateY(${start * ROW_HEIGHT}px)` }}
        >
          {diff.rows.slice(start, end).map((row, index) => (
            <Row
              key={start + index}
              row={row}
              number={start + index}
              isOut={"key" in row && leftOut.has(row.key)}
              isMarked={"key" in row && row.key === markedKey}
              view={props}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps {
  readonly row: DiffRow;
  readonly number: number;
  readonly isOut: boolean;
  readonly isMarked: boolean;
  readonly view: DiffViewProps;
}

/** The sign of a row, and the word for whoever hears the page. */
const SIGNS = { added: ["+", "added: "], removed: ["−", "removed: "], same: [" ", ""] } as const;

function Row({ row, number, isOut, isMarked, view }: RowProps): JSX.Element {
  const rowIndex = number + 1;
  const state = `${isOut ? " out" : ""}${isMarked ? " marked" : ""}`;
  switch (row.kind) {
    case "file":
      return (
        <div class="row file" role="row" aria-rowindex={rowIndex}>
          <span role="gridcell" aria-colspan={3} class="whole">
            <FileHead change={row.change} />
          </span>
        </div>
      );
    case "hunk":
      return (
        <div class={`row hunk${state}`} role="row" aria-rowindex={rowIndex}>
          <span role="gridcell" aria-colspan={3} class="whole">
            {view.canChoose ? (
              <label class="choice">
                <input
                  type="checkbox"
                  checked={!isOut}
                  onChange={() => view.onToggle(row.key)}
                  onFocus={() => view.onHunk(row.index)}
                  aria-label={`Hunk ${row.index + 1}: ${row.text}`}
                />
                <span class="hunk-text">{row.text}</span>
              </label>
            ) : (
              <span class="hunk-text">{row.text}</span>
            )}
            {isOut && <span class="tag">left out</span>}
          </span>
        </div>
      );
    case "detail":
      return (
        <div class="row detail" role="row" aria-rowindex={rowIndex}>
          <span role="gridcell" aria-colspan={3} class="whole">
            <SafeText text={row.text} />
          </span>
        </div>
      );
    default: {
      const [sign, word] = SIGNS[row.kind];
      return (
        <div class={`row ${row.kind}${state}`} role="row" aria-rowindex={rowIndex}>
          <span role="gridcell" class="number">
            {row.old ?? (row.isRest ? "…" : "")}
          </span>
          <span role="gridcell" class="number">
            {row.new ?? (row.isRest ? "…" : "")}
          </span>
          <span role="gridcell" class="code">
            <span class="sign" aria-hidden="true">
              {sign}
            </span>
            {word !== "" && <span class="unseen">{word}</span>}
            <SafeText text={row.text} />
          </span>
        </div>
      );
    }
  }
}

/** The kind of change of a path, in a word. */
const KIND_WORDS: Readonly<Record<ChangeSummary["kind"], string>> = {
  create: "new",
  edit: "edit",
  delete: "delete",
  move: "move",
  copy: "copy",
};

function FileHead({ change }: { readonly change: ChangeSummary }): JSX.Element {
  const { path, kind, type, from, mode, added, removed } = change;
  return (
    <>
      <span class={`tag ${kind}`}>
        {KIND_WORDS[kind]}
        {type === "file" ? "" : ` ${type}`}
      </span>{" "}
      <span class="path" title={visibleText(path)}>
        {from !== undefined && (
          <>
            <SafeText text={from} /> →{" "}
          </>
        )}
        <SafeText text={path} />
      </span>
      {mode !== undefined && <span class="tag">mode {mode}</span>}
      {added + removed > 0 && <LineCounts added={added} removed={removed} />}
    </>
  );
}

/** Draws the numbers of added and removed lines. */
export function LineCounts({
  added,
  removed,
}: {
  readonly added: number;
  readonly removed: number;
}): JSX.Element {
  return (
    <span class="counts">
      <span class="plus">
        +{added}
        <span class="unseen"> lines added</span>
      </span>{" "}
      <span class="minus">
        −{removed}
        <span class="unseen"> lines removed</span>
      </span>
    </span>
  );
}
