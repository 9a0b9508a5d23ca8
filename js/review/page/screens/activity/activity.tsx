/** The screen "Activity": how many calls each agent and tool made, how they ended, and how long they took. */
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { SafeText } from "../../diff/text.tsx";
import { durationOf } from "../timeline/view.ts";
import {
  ACTIVITY_NAMES,
  type ActivityRow,
  type ActivityView,
  type ReviewActivity,
} from "../../../activity/activity-data.ts";
import { SavedFile } from "./saved-file.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { AuditLog } from "./audit-log.tsx";

/** A column of the table with numbers. */
interface Column {
  readonly key: keyof ActivityRow;
  readonly label: string;
  /** The meaning, where the label is short. */
  readonly title?: string;
  text(row: ActivityRow): string;
}

const COLUMNS: readonly Column[] = [
  { key: "calls", label: "Calls", text: ({ calls }) => count(calls) },
  { key: "errors", label: "Errors", text: ({ errors }) => count(errors) },
  { key: "refusals", label: "Refused", text: ({ refusals }) => count(refusals) },
  { key: "changes", label: "Changes", text: ({ changes }) => count(changes) },
  {
    key: "undone",
    label: "Put back",
    title: "Changes that are put back now",
    text: ({ undone, changes }) =>
      undone === 0 ? "0" : `${count(undone)} (${Math.round((100 * undone) / Math.max(undone, changes))} %)`,
  },
  {
    key: "chars",
    label: "Answered",
    title: "The length of all answers, in characters",
    text: ({ chars }) => large(chars),
  },
  { key: "p50", label: "p50", title: "Half of the calls took less", text: ({ p50 }) => durationOf(p50) },
  { key: "p95", label: "p95", title: "95 % of the calls took less", text: ({ p95 }) => durationOf(p95) },
  { key: "p99", label: "p99", title: "99 % of the calls took less", text: ({ p99 }) => durationOf(p99) },
  { key: "max", label: "Longest", text: ({ max }) => durationOf(max) },
];

/** The time in milliseconds after which new calls are counted again. */
const REFRESH_MS = 2000;

/** Draws the screen. */
export function ActivityScreen({ state, effects }: ScreenProps): JSX.Element {
  const [over, setOver] = useState<ActivityView["over"]>("run");
  const [by, setBy] = useState<ActivityView["by"]>("both");
  const [sort, setSort] = useState<keyof ActivityRow>("calls");
  const version = useSlowly(state.review.seq);
  const query = new URLSearchParams({ over, by }).toString();
  const { data, failure } = useLoaded<ReviewActivity>(effects, `activity?${query}`, version);
  return (
    <div class="activity">
      <h2 id="screen-head">Activity</h2>
      <div class="activity-form">
        <label>
          Time
          <select
            value={over}
            onChange={({ currentTarget }) => setOver(currentTarget.value === "hour" ? "hour" : "run")}
          >
            <option value="run">since the start</option>
            <option value="hour">the last hour</option>
          </select>
        </label>
        <label>
          Rows
          <select
            value={by}
            onChange={({ currentTarget }) => setBy(currentTarget.value as ActivityView["by"])}
          >
            <option value="both">tools of each agent</option>
            <option value="agent">agents</option>
            <option value="tool">tools</option>
          </select>
        </label>
        <span class="spacer" />
        <span class="exports">
          <SavedFile effects={effects} path={`activity.csv?${query}`} label="CSV" />
          <SavedFile effects={effects} path={`activity.jsonl?${query}`} label="JSON Lines" />
        </span>
      </div>
      {failure !== undefined && <p class="bar failure">{failure}</p>}
      {data !== undefined &&
        (data.rows.length === 0 ? (
          <p class="none">No calls yet.</p>
        ) : (
          <ActivityTable data={data} by={by} sort={sort} onSort={setSort} />
        ))}
      <p class="quiet">
        Counted in the memory of this process; nothing is sent elsewhere. Durations are within 5 %.
      </p>
      <AuditLog state={state} effects={effects} />
    </div>
  );
}

interface TableProps {
  readonly data: ReviewActivity;
  readonly by: ActivityView["by"];
  readonly sort: keyof ActivityRow;
  onSort(key: keyof ActivityRow): void;
}

function ActivityTable({ data: { rows, total }, by, sort, onSort }: TableProps): JSX.Element {
  const hasAgent = by !== "tool";
  const hasTool = by !== "agent";
  const names = (["agent", "tool"] as const).filter((key) => (key === "agent" ? hasAgent : hasTool));
  const sorted = [...rows].sort((a, b) => compareBy(sort, a, b));
  const mostCalls = Math.max(...rows.map(({ calls }) => calls));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard.
    <section class="table-frame" tabIndex={0} aria-label="Calls by agent and tool">
      <table>
        <thead>
          <tr>
            {names.map((key) => (
              <Head
                key={key}
                name={key}
                label={key === "agent" ? "Agent" : "Tool"}
                sort={sort}
                onSort={onSort}
              />
            ))}
            {COLUMNS.map(({ key, label, title }) => (
              <Head key={key} name={key} label={label} title={title} sort={sort} onSort={onSort} isNumber />
            ))}
          </tr>
        </thead>
        <tbody>
          {sorted.map((row) => (
            <tr key={`${row.agent} ${row.isPerson} ${row.tool}`}>
              {names.map((key) => (
                <td key={key}>
                  <Name value={row[key]} />
                  {key === "agent" && row.isPerson && <span class="tag person">person</span>}
                </td>
              ))}
              <Numbers row={row} mostCalls={mostCalls} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row" colSpan={names.length}>
              All calls
            </th>
            <Numbers row={total} />
          </tr>
        </tfoot>
      </table>
    </section>
  );
}

interface HeadProps extends Pick<TableProps, "sort" | "onSort"> {
  readonly name: keyof ActivityRow;
  readonly label: string;
  readonly title?: string | undefined;
  readonly isNumber?: boolean;
}

function Head({ name, label, title, sort, onSort, isNumber = false }: HeadProps): JSX.Element {
  const order = isNumber ? "descending" : "ascending";
  return (
    <th scope="col" class={isNumber ? "count" : undefined} aria-sort={sort === name ? order : undefined}>
      <button type="button" title={title} onClick={() => onSort(name)}>
        {label}
        {sort === name && <span aria-hidden="true">{isNumber ? "↓" : "↑"}</span>}
      </button>
    </th>
  );
}

function Name({ value }: { readonly value: string | null }): JSX.Element {
  if (value === null) return <span class="quiet">no name</span>;
  if (value === ACTIVITY_NAMES.others) return <span class="quiet">all others</span>;
  return <SafeText as="code" text={value} />;
}

interface NumbersProps {
  readonly row: ActivityRow;
  /** The number of calls of the longest bar; without it no bar is drawn. */
  readonly mostCalls?: number;
}

function Numbers({ row, mostCalls }: NumbersProps): JSX.Element {
  return (
    <>
      {COLUMNS.map(({ key, text }) => (
        <td key={key} class={`count${isBad(key, row) ? " bad" : ""}`}>
          {text(row)}
          {key === "calls" && mostCalls !== undefined && (
            <meter class="calls-bar" min={0} max={mostCalls} value={row.calls} aria-hidden="true" />
          )}
        </td>
      ))}
    </>
  );
}

function isBad(key: keyof ActivityRow, row: ActivityRow): boolean {
  return (key === "errors" || key === "refusals") && row[key] > 0;
}

/** Compares two rows: names in their order, numbers with the largest first. */
function compareBy(key: keyof ActivityRow, a: ActivityRow, b: ActivityRow): number {
  const [one, other] = [a[key], b[key]];
  if (typeof one === "number" && typeof other === "number") return other - one;
  return String(one ?? "").localeCompare(String(other ?? ""));
}

/** Returns a number that changes with another one, but at most once in two seconds. */
function useSlowly(value: number): number {
  const [slow, setSlow] = useState(value);
  useEffect(() => {
    if (value === slow) return undefined;
    const timer = setTimeout(() => setSlow(value), REFRESH_MS);
    return () => clearTimeout(timer);
  }, [value === slow, slow]);
  return slow;
}

const count = (value: number): string => value.toLocaleString("en");

function large(value: number): string {
  if (value < 10_000) return count(value);
  return value < 1_000_000 ? `${Math.round(value / 1000)} k` : `${(value / 1_000_000).toFixed(1)} M`;
}
