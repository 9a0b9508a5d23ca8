/** Draws the lines of a file with their authors. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo } from "preact/hooks";
import type { BlamedLines } from "../../../pipeline/past/blame.ts";
import type { FileLines } from "../../protocol.ts";
import { useListView } from "./list-view.ts";
import { RowGrid } from "./row-grid.tsx";
import { SafeText } from "./text.tsx";
import { positionOfRow } from "./virtual-list.ts";

/** The properties of {@link FileLineList}. */
interface FileLineListProps {
  /** The pages that have arrived, in their order. */
  readonly pages: readonly FileLines[];
  /** The authors of the lines; undefined until they are loaded. */
  readonly origins: readonly BlamedLines[] | undefined;
  /** The marked line, from 1. */
  readonly line: number | undefined;
}

/** Draws the lines of a file, scrolled to one of them. Only those are in the document that can be seen. */
export function FileLineList({ pages, origins, line }: FileLineListProps): JSX.Element {
  const lines = useMemo(() => pages.flatMap(({ content }) => linesOf(content)), [pages]);
  const listView = useListView();
  const { list } = listView;
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || line === undefined || line > lines.length) return;
    element.scrollTop = positionOfRow(line - 1, element.clientHeight);
  }, [line, lines.length >= (line ?? 0)]);
  return (
    <RowGrid
      label="The lines of the file"
      name="file-lines"
      rows={lines}
      view={listView}
      draw={(text, index, isFirst) => {
        const number = index + 1;
        const origin = originOf(origins, number);
        return (
          <div
            key={number}
            class={`row${number === line ? " marked" : ""}`}
            role="row"
            aria-rowindex={number}
          >
            <span role="gridcell" class={`origin ${origin?.origin ?? ""}`} title={titleOf(origin)}>
              {origin !== undefined && (origin.line === number || isFirst) && (
                <SafeText text={wordsOf(origin)} />
              )}
            </span>
            <span role="gridcell" class="number">
              {number}
            </span>
            <span role="gridcell" class="code">
              <SafeText text={text} />
            </span>
          </div>
        );
      }}
    />
  );
}

/** Returns the lines of a text without their ends. */
function linesOf(text: string): readonly string[] {
  const lines = text.split(/\r\n|\n|\r/u);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Returns the origin of a line. */
function originOf(origins: readonly BlamedLines[] | undefined, line: number): BlamedLines | undefined {
  let [low, high] = [0, (origins?.length ?? 0) - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const run = origins?.[middle] as BlamedLines;
    if (line < run.line) high = middle - 1;
    else if (line >= run.line + run.count) low = middle + 1;
    else return run;
  }
  return undefined;
}

const ORIGIN_WORDS = { older: "", elsewhere: "another program", unknown: "not known" } as const;

/** Returns the author of lines in a few words. */
function wordsOf({ origin, agent, tool, time = "" }: BlamedLines): string {
  if (origin !== "call") return ORIGIN_WORDS[origin];
  return `${agent ?? tool} ${new Date(time).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })}`;
}

/** Returns the author of lines with the call that wrote them; undefined for lines that no call wrote. */
function titleOf(lines: BlamedLines | undefined): string | undefined {
  if (lines?.origin !== "call") return undefined;
  const { agent, tool, time = "", callId } = lines;
  return `${tool}${agent === undefined ? "" : ` by ${agent}`}, ${new Date(time).toLocaleString()}, call ${callId}`;
}
