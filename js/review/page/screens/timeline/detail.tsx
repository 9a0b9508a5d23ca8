/** The chosen call or mark of the timeline. */
import type { ComponentChildren, JSX } from "preact";
import type { PastCall, PastCalls, PastMark } from "../../../history-protocol.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { PageState } from "../../store.ts";
import type { ScreenProps } from "../props.ts";
import { type PastRows, useRows } from "./data.ts";
import { useTimelineKeys } from "./timeline-keys.ts";
import { clockTime, count, subjectOf, type TimelineView, whyNotManaged } from "./view.ts";

/** Changes what the timeline shows. */
type Show = (change: Partial<TimelineView>) => void;

interface CallDetailProps extends ScreenProps {
  readonly entry: PastCall;
  readonly isPutBack: boolean;
  readonly show: Show;
}

/** Draws a call: what it changed, who allowed it, and the ways back. */
export function CallDetail({ entry, isPutBack, state, effects, show }: CallDetailProps): JSX.Element {
  const { tool, callId, agent, time, undoOf, unrecorded } = entry;
  const path = unrecorded === true ? undefined : `history/${encodeURIComponent(callId)}/rows`;
  const rows = useRows(effects, path);
  const allowed = allowedBy(state, callId);
  return (
    <article class="question" aria-labelledby="tl-chosen">
      <header class="question-head">
        <h2 id="tl-chosen">
          {tool} <SafeText text={subjectOf(entry)} />
        </h2>
        <p class="facts">
          {agent !== undefined && (
            <Fact label="Agent">
              <SafeText text={agent} />
            </Fact>
          )}
          <Fact label="Time">
            <time dateTime={time}>{clockTime(time)}</time>
          </Fact>
          <Fact label="Call">
            <code>{callId}</code>
          </Fact>
          {allowed !== undefined && (
            <Fact label="Allowed by">
              <SafeText text={allowed} />
            </Fact>
          )}
          {undoOf !== undefined && (
            <Fact label="Undo of">
              <button type="button" class="tl-link" onClick={() => show({ chosen: undoOf, hunk: 0 })}>
                {undoOf}
              </button>
            </Fact>
          )}
        </p>
      </header>
      {isPutBack && <p class="bar ended">This was put back later.</p>}
      {unrecorded === true ? (
        <p class="empty">What this call changed was not recorded, so it cannot be taken back here.</p>
      ) : (
        <PastDiff rows={rows} hunk={state.timeline.hunk} show={show} />
      )}
      {unrecorded !== true && <CallAnswers state={state} show={show} />}
    </article>
  );
}

function CallAnswers({ state, show }: { readonly state: PageState; readonly show: Show }): JSX.Element {
  const why = whyNotManaged(state);
  return (
    <footer class="answers">
      <button
        type="button"
        class="refuse"
        disabled={why !== undefined}
        aria-keyshortcuts="u"
        onClick={() => show({ dialog: "put-back" })}
      >
        Put back… <kbd>u</kbd>
      </button>
      {why !== undefined && <span class="hint">{why}</span>}
    </footer>
  );
}

/** Returns who has allowed a call, as far as the page knows. */
function allowedBy({ review }: PageState, callId: string): string | undefined {
  const settled = review.settled.findLast(({ question }) => question.callId === callId);
  return settled?.outcome === "allow" || settled?.outcome === "allow_parts" ? settled.by : undefined;
}

/** Draws the rows of past changes. */
export function PastDiff({
  rows: { pages, isLoading, failure, more },
  hunk,
  show,
}: {
  readonly rows: PastRows;
  readonly hunk: number;
  readonly show: Show;
}): JSX.Element {
  const hunkCount = pages.reduce((sum, { hunks }) => sum + hunks.length, 0);
  useTimelineKeys({
    n: () => hunk + 1 < hunkCount && show({ hunk: hunk + 1 }),
    p: () => hunk > 0 && show({ hunk: hunk - 1 }),
  });
  if (failure !== undefined) return <p class="bar failure">The change could not be loaded: {failure}</p>;
  if (isLoading) return <p class="empty">Loading the change…</p>;
  if (pages.length === 0) return <p class="empty">Nothing is different.</p>;
  return (
    <>
      <DiffView
        pages={pages}
        leftOut={undefined}
        canChoose={false}
        hunk={hunk}
        line={undefined}
        onToggle={() => {}}
        onLines={() => {}}
        onLine={() => {}}
        onHunk={(marked) => show({ hunk: marked })}
      />
      {more !== undefined && (
        <p class="bar">
          <button type="button" onClick={more}>
            Show the next 4 MB
          </button>
        </p>
      )}
    </>
  );
}

interface MarkDetailProps {
  readonly mark: PastMark;
  readonly past: PastCalls;
  readonly state: PageState;
  readonly show: Show;
}

/** Draws a mark. */
export function MarkDetail({ mark: { name, time, agent }, past }: MarkDetailProps): JSX.Element {
  const later = past.entries.filter((entry) => entry.time > time).length;
  return (
    <article class="question" aria-labelledby="tl-chosen">
      <header class="question-head">
        <h2 id="tl-chosen">
          Mark “<SafeText text={name} />”
        </h2>
        <p class="facts">
          <Fact label="Time">
            <time dateTime={time}>{clockTime(time)}</time>
          </Fact>
          {agent !== undefined && (
            <Fact label="Set by">
              <SafeText text={agent} />
            </Fact>
          )}
          <Fact label="Since then">{count(later, "call")}</Fact>
        </p>
      </header>
    </article>
  );
}

function Fact({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <span class="fact">
      <span class="label">{label}</span> {children}
    </span>
  );
}
