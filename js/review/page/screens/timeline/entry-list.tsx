/** The list of past calls and marks: of all its rows, only those are in the document that can be seen. */
import type { HistoryMark } from "../../../../tools/lib/history-entry.ts";
import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import type { LineTotals, PastCall } from "../../../past/history-protocol.ts";
import type { SettledQuestion } from "../../../protocol.ts";
import { LineCounts } from "../../diff/file-head.tsx";
import { useListView } from "../../diff/list-view.ts";
import { SafeText } from "../../diff/text.tsx";
import { visibleRows } from "../../diff/virtual-list.ts";
import type { PageEffects } from "../props.ts";
import { useLineCounts } from "./data.ts";
import { clockTime, pathsOfQuestion, type Reversal, reversalInWords, type TimelineRow } from "./view.ts";
import { takesBack } from "../../../../schema/tool-facts.ts";

/** The height of a row of the list in CSS pixels. `review.css` has it too. */
const ENTRY_HEIGHT = 48;

interface EntryListProps {
  readonly rows: readonly TimelineRow[];
  readonly chosen: string | undefined;
  readonly effects: PageEffects;
  onChoose(key: string): void;
}

/** Draws the list. */
export function EntryList({ rows, chosen, effects, onChoose }: EntryListProps): JSX.Element {
  const { list, view, onScroll } = useListView();
  const at = rows.findIndex(({ key }) => key === chosen);
  const { start, end } = visibleRows(view.top, view.height, rows.length, ENTRY_HEIGHT);
  const shown = rows.slice(start, end);
  const counts = useLineCounts(
    effects,
    shown.flatMap((row) => ("entry" in row && row.entry.unrecorded !== true ? [row.entry.callId] : [])),
  );

  // The chosen row is scrolled to when a key has chosen it.
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || at < 0) return;
    const [top, bottom] = [at * ENTRY_HEIGHT, (at + 1) * ENTRY_HEIGHT];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + element.clientHeight)
      element.scrollTop = bottom - element.clientHeight;
  }, [chosen]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const to = targetOfKey(event.key, at, rows.length, Math.floor(view.height / ENTRY_HEIGHT));
    const row = to === undefined ? undefined : rows[to];
    if (row === undefined) return;
    event.preventDefault();
    onChoose(row.key);
  };

  const isDrawn = at >= start && at < end;
  return (
    <div
      class="tl-list"
      role="listbox"
      aria-label="Calls and marks, the newest first"
      aria-activedescendant={isDrawn ? `tl-row-${at}` : undefined}
      tabIndex={0}
      ref={list}
      onKeyDown={onKeyDown}
      onScroll={onScroll}
    >
      <div class="tl-rows" role="presentation" style={{ height: `${rows.length * ENTRY_HEIGHT}px` }}>
        <div
          class="tl-window"
          role="presentation"
          style={{ transform: `translateY(${start * ENTRY_HEIGHT}px)` }}
        >
          {shown.map((row, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys.
            // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus.
            <div
              key={row.key}
              id={`tl-row-${start + index}`}
              class={`tl-row${"mark" in row ? " mark" : ""}`}
              role="option"
              aria-selected={row.key === chosen}
              aria-setsize={rows.length}
              aria-posinset={start + index + 1}
              onClick={() => onChoose(row.key)}
            >
              {"refusal" in row ? (
                <RefusalRow refusal={row.refusal} />
              ) : "mark" in row ? (
                <MarkRow mark={row.mark} />
              ) : (
                <CallRow
                  entry={row.entry}
                  action={row.action}
                  reversal={row.reversal}
                  isUnreviewed={row.isUnreviewed}
                  totals={row.entry.unrecorded === true ? undefined : counts.get(row.entry.callId)}
                />
              )}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** Returns the row that a key goes to; undefined for another key. */
function targetOfKey(key: string, at: number, length: number, page: number): number | undefined {
  const last = length - 1;
  switch (key) {
    case "ArrowDown":
      return Math.min(at + 1, last);
    case "ArrowUp":
      return Math.max(at - 1, 0);
    case "PageDown":
      return Math.min(at + page, last);
    case "PageUp":
      return Math.max(at - page, 0);
    case "Home":
      return 0;
    case "End":
      return last;
    default:
      return undefined;
  }
}

function MarkRow({ mark: { name, time, agent } }: { readonly mark: HistoryMark }): JSX.Element {
  return (
    <>
      <span class="tl-line">
        <span class="tl-sign" aria-hidden="true">
          ◆
        </span>
        <span class="tl-name">
          <span class="unseen">Mark </span>
          <SafeText text={name} />
        </span>
      </span>
      <span class="tl-line quiet">
        <time dateTime={time}>{clockTime(time)}</time>
        <SafeText text={agent} />
      </span>
    </>
  );
}

function RefusalRow({ refusal: { question, by, at } }: { readonly refusal: SettledQuestion }): JSX.Element {
  const [first = "", ...more] = pathsOfQuestion(question);
  return (
    <>
      <span class="tl-line">
        <SafeText class="tool" text={question.tool} />
        <span class="tl-name">
          <SafeText text={first.slice(first.lastIndexOf("/") + 1)} />
          {more.length > 0 && <span class="quiet"> and {more.length} more</span>}
        </span>
      </span>
      <span class="tl-line quiet">
        <time dateTime={new Date(at).toISOString()}>{clockTime(new Date(at).toISOString())}</time>
        <SafeText class="tl-agent" text={question.agent} />
        <span class="spacer" />
        <span class="tag">
          refused{by !== undefined && " by "}
          <SafeText text={by ?? ""} />
        </span>
      </span>
    </>
  );
}

interface CallRowProps {
  readonly entry: PastCall;
  readonly action: string;
  readonly reversal: Reversal | undefined;
  readonly isUnreviewed: boolean;
  /** Undefined until the lines are counted, null where they are not known. */
  readonly totals: LineTotals | null | undefined;
}

function CallRow({ entry, action, reversal, isUnreviewed, totals }: CallRowProps): JSX.Element {
  const { time, paths, agent, by, unrecorded } = entry;
  const [first = ""] = paths;
  const slash = first.lastIndexOf("/");
  return (
    <>
      <span class="tl-line">
        <SafeText class="tool" text={action} />
        <span class="tl-name">
          <SafeText text={first.slice(slash + 1)} />
          {paths.length > 1 && <span class="quiet"> and {paths.length - 1} more</span>}
        </span>
        {totals && <LineCounts added={totals.added} removed={totals.removed} />}
      </span>
      <span class="tl-line quiet">
        <time dateTime={time}>{clockTime(time)}</time>
        <SafeText class="tl-agent" text={agent} />
        {by !== undefined && takesBack(entry.tool) && (
          <span class="tl-agent">
            by <SafeText text={by} />
          </span>
        )}
        <SafeText class="folder" text={slash < 0 ? "" : first.slice(0, slash)} />
        {isUnreviewed && <span class="tag unreviewed">unreviewed</span>}
        {reversal !== undefined && <span class="tag">{reversalInWords(reversal)}</span>}
        {unrecorded === true && <span class="tag">cannot be put back here</span>}
      </span>
    </>
  );
}
