/** The screen "Timeline": the calls of the past, what each changed, marks, and the ways back. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { PastCall, PastCalls } from "../../../past/history-protocol.ts";
import { visibleText } from "../../diff/escapes.ts";
import { useKeptFocus } from "../kept-focus.ts";
import { useLoaded } from "../loaded.ts";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { CallDetail, MarkDetail } from "./detail.tsx";
import { useSlowly } from "./data.ts";
import { EntryList } from "./entry-list.tsx";
import { KeepDialog } from "./keep-dialog.tsx";
import { MarkDialog } from "./mark-dialog.tsx";
import { PutBackDialog } from "./put-back-dialog.tsx";
import { keepCalls } from "./put-back.ts";
import { PutBackView } from "./put-back-view.tsx";
import { RefusalDetail } from "./refusal-detail.tsx";
import { RewindView } from "./rewind-view.tsx";
import { type TimelineKeys, useTimelineKeys } from "./timeline-keys.ts";
import { VersionsView } from "./versions-view.tsx";
import { DoneBar, FailureBar } from "./bars.tsx";
import {
  agentsOf,
  clockTime,
  NOTHING_OPEN,
  placeOf,
  type TimelineRow,
  timelineRows,
  type TimelineView,
  withRefusals,
  unreviewedCalls,
} from "./view.ts";

/** Draws the screen. */
export function TimelineScreen({ state, effects }: ScreenProps): JSX.Element {
  const { timeline: view, workspaces } = state;
  const version = useSlowly(state.review.history);
  const past = useLoaded<PastCalls>(effects, workspaces.length === 0 ? undefined : "history", version);
  const show = (change: Partial<TimelineView>): void => effects.dispatch({ type: "timeline", change });
  const rows = useMemo(
    () =>
      past.data === undefined ? [] : withRefusals(timelineRows(past.data, view), state.review.settled, view),
    [past.data, state.review.settled, view.agent, view.path, view.isUnreviewed],
  );
  // The newest call that was there when the screen was opened stays chosen when others come.
  const chosen = rows.find(({ key }) => key === view.chosen) ?? rows[0];
  // Before the next key, which would be lost if this chose the newest call after it.
  useLayoutEffect(() => {
    // Not at once: an effect that draws the page again at once would run again itself.
    if (view.chosen === undefined && chosen !== undefined) queueMicrotask(() => show({ chosen: chosen.key }));
  }, [view.chosen, chosen?.key]);
  const choose = (key: string): void => show({ ...NOTHING_OPEN, chosen: key, part: "detail" });
  const why = whyNotPermitted(state, "manage");
  const detail = useKeptFocus<HTMLDivElement>([view.rewind?.to, view.file?.path, chosen?.key].join("\0"));
  const unreviewed = unreviewedCalls(rows);
  const place = placeOf(chosen);
  /** The call that the open dialog puts back. It stays when its row leaves the list, and another one is chosen. */
  const putBackOf = useRef<PastCall>(undefined);
  if (view.dialog !== "put-back") putBackOf.current = undefined;
  else if (chosen !== undefined && "entry" in chosen) putBackOf.current ??= chosen.entry;
  const isEntry = chosen !== undefined && "entry" in chosen && chosen.entry.unrecorded !== true;

  const onlyPath = isEntry && chosen.entry.paths.length === 1 ? chosen.entry.paths[0] : undefined;
  const step = (by: 1 | -1): void => {
    const next = rows[(chosen === undefined ? -1 : rows.indexOf(chosen)) + by];
    if (next !== undefined) show({ ...NOTHING_OPEN, chosen: next.key });
  };
  const keys: TimelineKeys = {
    j: () => step(1),
    k: () => step(-1),
    m: () => why === undefined && show({ dialog: "mark" }),
    b: () => why === undefined && place !== undefined && show({ rewind: place, hunk: 0 }),
    a: () =>
      whyNotPermitted(state, "answer") === undefined &&
      chosen !== undefined &&
      "entry" in chosen &&
      chosen.isUnreviewed &&
      void keepCalls(effects, [chosen.entry], show),
    v: () => onlyPath !== undefined && show({ file: { path: onlyPath }, hunk: 0 }),
    Escape: () => show({ part: "list" }),
  };
  const hasOther = [view.dialog, view.rewind, view.putBack, view.file].some((open) => open !== undefined);
  useTimelineKeys(effects, hasOther ? {} : keys);

  if (workspaces.length === 0) {
    return (
      <section aria-labelledby="screen-head">
        <h2 id="screen-head">Timeline</h2>
        <p class="none">No workspace is attached to this page.</p>
      </section>
    );
  }
  return (
    <section class={`timeline show-${view.part}`} aria-labelledby="screen-head">
      <div class="tl-side">
        <header class="tl-head">
          <h2 id="screen-head">Timeline</h2>
          <span class="spacer" />
          <button
            type="button"
            disabled={why !== undefined}
            title={why}
            aria-keyshortcuts="m"
            onClick={() => show({ dialog: "mark" })}
          >
            Set a mark… <kbd>m</kbd>
          </button>
        </header>
        <Filters view={view} past={past.data} show={show} />
        {(view.isUnreviewed || unreviewed.length > 0) && (
          <div class="tl-unreviewed">
            <label class="choice">
              <input
                type="checkbox"
                checked={view.isUnreviewed}
                onChange={({ currentTarget }) =>
                  show({ isUnreviewed: currentTarget.checked, chosen: undefined })
                }
              />
              Unreviewed only
            </label>
            <span class="badge">{unreviewed.length}</span>
            <span class="spacer" />
            {unreviewed.length > 1 && (
              <button
                type="button"
                disabled={whyNotPermitted(state, "answer") !== undefined}
                title={whyNotPermitted(state, "answer")}
                onClick={() => show({ dialog: "keep" })}
              >
                Keep all of these {unreviewed.length}…
              </button>
            )}
          </div>
        )}
        {past.failure !== undefined && (
          <p class="bar failure">The history could not be loaded: {past.failure}</p>
        )}
        {past.data !== undefined && rows.length === 0 && <NoRows view={view} />}
        {rows.length > 0 && (
          <EntryList rows={rows} chosen={chosen?.key} effects={effects} onChoose={choose} />
        )}
        {past.data?.forgottenBefore !== undefined && (
          <p class="tl-forgotten">
            Calls and marks before {clockTime(past.data.forgottenBefore)} are no longer kept.
          </p>
        )}
      </div>
      <div ref={detail} class="tl-detail" tabIndex={-1}>
        <button type="button" class="tl-back" onClick={() => show({ part: "list" })}>
          ← All calls
        </button>
        {view.done !== undefined && <DoneBar done={view.done} why={why} effects={effects} show={show} />}
        {view.failure !== undefined && <FailureBar failure={view.failure} onChoose={(key) => choose(key)} />}
        <Detail chosen={chosen} past={past.data} state={state} effects={effects} show={show} />
      </div>
      {view.dialog === "mark" && <MarkDialog effects={effects} show={show} />}
      {view.dialog === "keep" && <KeepDialog calls={unreviewed} effects={effects} show={show} />}
      {putBackOf.current !== undefined && (
        <PutBackDialog
          entry={putBackOf.current}
          entries={past.data?.entries ?? []}
          effects={effects}
          show={show}
        />
      )}
    </section>
  );
}

interface DetailProps extends ScreenProps {
  readonly chosen: TimelineRow | undefined;
  readonly past: PastCalls | undefined;
  show(change: Partial<TimelineView>): void;
}

/** Draws the preview of a rewind, the versions of a file, or the chosen row. */
function Detail({ chosen, past, state, effects, show }: DetailProps): JSX.Element | null {
  const { rewind, putBack, file } = state.timeline;
  const shared = { state, effects, show };
  if (rewind !== undefined) return <RewindView key={rewind.to} place={rewind} {...shared} />;
  if (past === undefined || chosen === undefined) return null;
  if (file !== undefined) return <VersionsView key={file.path} file={file} past={past} {...shared} />;
  if ("refusal" in chosen) return <RefusalDetail refusal={chosen.refusal} />;
  if ("mark" in chosen) return <MarkDetail mark={chosen.mark} past={past} {...shared} />;
  if (putBack !== undefined && putBack.callId === chosen.entry.callId)
    return <PutBackView entry={chosen.entry} chosen={putBack} {...shared} />;
  return <CallDetail key={chosen.key} row={chosen} {...shared} />;
}

interface FilterProps {
  readonly view: TimelineView;
  readonly past: PastCalls | undefined;
  show(change: Partial<TimelineView>): void;
}

/** The value of the choice of all agents. No agent has this name, because names have no spaces at their ends. */
const ALL_AGENTS = " all ";

function Filters({ view: { agent, path }, past, show }: FilterProps): JSX.Element {
  const agents = agentsOf(past?.entries ?? []);
  return (
    <div class="tl-filters">
      <select
        aria-label="Agent"
        value={agent ?? ALL_AGENTS}
        onChange={({ currentTarget: { value } }) =>
          show({ agent: value === ALL_AGENTS ? undefined : value, chosen: undefined })
        }
      >
        <option value={ALL_AGENTS}>All agents</option>
        {agents.map((name) => (
          <option key={name} value={name}>
            {name === "" ? "without a name" : visibleText(name)}
          </option>
        ))}
      </select>
      <input
        type="text"
        aria-label="Part of a path"
        placeholder="Path"
        value={path}
        onInput={({ currentTarget: { value } }) => show({ path: value, chosen: undefined })}
      />
    </div>
  );
}

function NoRows({ view: { agent, path, isUnreviewed } }: { readonly view: TimelineView }): JSX.Element {
  if (isUnreviewed) return <p class="none">Every call is reviewed.</p>;
  if (agent !== undefined || path !== "") return <p class="none">No call fits this choice.</p>;
  return (
    <div class="empty">
      <p>Nothing was changed yet.</p>
      <p class="quiet">Every change that an agent makes is listed here, and can be put back.</p>
    </div>
  );
}
