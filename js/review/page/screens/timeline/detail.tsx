/** The chosen call or mark of the timeline. */
import type { HistoryMark } from "../../../../tools/lib/history-entry.ts";
import { Fragment, type JSX } from "preact";
import type { AllowedBy } from "../../../../backends/transaction/step.ts";
import type { PastCall, PastCalls } from "../../../past/history-protocol.ts";
import { allowedByInWords } from "../../../past/past-words.ts";
import type { ChangeRows } from "../../../protocol.ts";
import { chosenOf, countChosen } from "../../state/choice.ts";
import { visibleText } from "../../diff/escapes.ts";
import { Fact } from "../fact.tsx";
import { SafeText } from "../../diff/text.tsx";
import type { PageState } from "../../state/store.ts";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { type PastRows, useRows } from "./data.ts";
import { PastDiff } from "./past-diff.tsx";
import { keepCalls } from "./put-back.ts";
import { useTimelineKeys } from "./timeline-keys.ts";
import {
  type CallRow,
  clockTime,
  NOTHING_OPEN,
  placeBefore,
  placeOfMark,
  subjectOf,
  reversalInWords,
  type TimelineView,
} from "./view.ts";
import { plural } from "../../../../engine/escape.ts";

/** Changes what the timeline shows. */
type Show = (change: Partial<TimelineView>) => void;

interface CallDetailProps extends ScreenProps {
  readonly row: CallRow;
  readonly show: Show;
}

/** Draws a call: what it changed, who allowed it, and the ways back. */
export function CallDetail({ row, state, effects, show }: CallDetailProps): JSX.Element {
  const { entry, action, reversal, isUnreviewed } = row;
  const { callId, agent, time, undoOf, unrecorded } = entry;
  const path = unrecorded === true ? undefined : `history/${encodeURIComponent(callId)}/rows`;
  const rows = useRows(effects, path);
  const canChoose = canChooseHunks(row, rows, state);
  const { by } = entry;
  return (
    <article class="question" aria-labelledby="tl-chosen">
      <header class="question-head">
        <h2 id="tl-chosen">
          <SafeText text={`${action} ${subjectOf(entry)}`} />
        </h2>
        <p class="facts">
          <Fact label="Agent" text={agent} />
          <Fact label="Time">
            <time dateTime={time}>{clockTime(time)}</time>
          </Fact>
          <Fact label="Call">
            <code>{callId}</code>
          </Fact>
          <Fact label="By" text={by} />
          <Allowed by={allowedByOf(entry, state)} effects={effects} />
          {undoOf !== undefined && (
            <Fact label="Of call">
              <button type="button" class="tl-link" onClick={() => show({ chosen: undoOf, hunk: 0 })}>
                {undoOf}
              </button>
            </Fact>
          )}
        </p>
      </header>
      {reversal !== undefined && (
        <p class="bar ended">
          This was{" "}
          <button
            type="button"
            class="tl-link"
            onClick={() => show({ ...NOTHING_OPEN, chosen: reversal.by.callId })}
          >
            {reversalInWords(reversal)}
          </button>{" "}
          at {clockTime(reversal.by.time)}
          {reversal.by.by !== undefined && (
            <>
              , by <SafeText text={reversal.by.by} />
            </>
          )}
          .
        </p>
      )}
      {isUnreviewed && (
        <p class="bar ended">This was made without a question, and nobody has reviewed it yet.</p>
      )}
      {unrecorded === true ? (
        <p class="empty">What this call changed was not recorded, so it cannot be put back here.</p>
      ) : (
        <PastDiff
          rows={rows}
          hunk={state.timeline.hunk}
          leftOut={canChoose ? state.timeline.leftOut : undefined}
          effects={effects}
          show={show}
        />
      )}
      {unrecorded !== true && (
        <CallAnswers
          row={row}
          pages={canChoose ? rows.pages : undefined}
          state={state}
          effects={effects}
          show={show}
        />
      )}
    </article>
  );
}

/** Returns true when some hunks of a call can be put back without the others. */
function canChooseHunks({ reversal }: CallRow, { pages, more }: PastRows, state: PageState): boolean {
  // A move is put back with its whole call.
  const canDivide = pages.every(({ change: { kind, type } }) => kind !== "move" && type === "file");
  return (
    canDivide &&
    reversal === undefined &&
    more === undefined &&
    whyNotPermitted(state, "manage") === undefined &&
    countChosen(pages).all > 1
  );
}

/** The number of paths whose versions are offered. */
const MAX_LISTED_PATHS = 20;

interface CallAnswersProps extends CallDetailProps {
  /** The rows of which some hunks can be put back; undefined where none can be chosen. */
  readonly pages: readonly ChangeRows[] | undefined;
}

function CallAnswers({ row, pages, state, effects, show }: CallAnswersProps): JSX.Element {
  const { entry, isUnreviewed } = row;
  const { leftOut, dialog } = state.timeline;
  const counts = countChosen(pages, leftOut);
  const isPart = counts.chosen < counts.all;
  const label = `${counts.chosen} of ${counts.all} ${counts.areHunks ? "hunks" : "parts"}`;
  const whyKept = whyNotPermitted(state, "answer");
  const why = whyNotPermitted(state, "manage");
  const { paths } = entry;
  const [only = ""] = paths;
  const showVersions = (path: string): void => show({ file: { path }, hunk: 0 });
  const isOff = why !== undefined || (isPart && counts.chosen === 0);
  const putBack = (): void => {
    if (isPart)
      show({
        putBack: { callId: entry.callId, parts: chosenOf(pages, leftOut), label },
        hunk: 0,
        done: undefined,
        failure: undefined,
      });
    else show({ dialog: "put-back" });
  };
  useTimelineKeys(effects, {
    u: () => dialog === undefined && state.dialog === undefined && !isOff && putBack(),
  });
  return (
    <footer class="answers">
      <button type="button" class="refuse" disabled={isOff} aria-keyshortcuts="u" onClick={putBack}>
        {isPart ? `Put back ${label}…` : "Put back…"} <kbd>u</kbd>
      </button>
      {why !== undefined && <span class="hint">{why}</span>}
      <span class="spacer" />
      {paths.length === 1 && (
        <button type="button" onClick={() => effects.dispatch({ type: "file", path: only })}>
          Who wrote these lines
        </button>
      )}
      {paths.length === 1 && (
        <button type="button" aria-keyshortcuts="v" onClick={() => showVersions(only)}>
          Versions <kbd>v</kbd>
        </button>
      )}
      {paths.length > 1 && (
        <select
          class="tl-versions-of"
          aria-label="Versions of a file"
          value=""
          onChange={({ currentTarget: { value } }) => value !== "" && showVersions(value)}
        >
          <option value="">Versions of…</option>
          {paths.slice(0, MAX_LISTED_PATHS).map((path) => (
            <option key={path} value={path}>
              {visibleText(path)}
            </option>
          ))}
        </select>
      )}
      <button
        type="button"
        disabled={why !== undefined}
        aria-keyshortcuts="b"
        onClick={() => show({ rewind: placeBefore(entry), hunk: 0 })}
      >
        Rewind to before this… <kbd>b</kbd>
      </button>
      {isUnreviewed && (
        <button
          type="button"
          class="allow"
          disabled={whyKept !== undefined}
          title={whyKept}
          aria-keyshortcuts="a"
          onClick={({ detail }) => {
            // The second half of a double click was meant for the call before, which may have left the list.
            if (detail <= 1) void keepCalls(effects, [entry], show);
          }}
        >
          Keep <kbd>a</kbd>
        </button>
      )}
    </footer>
  );
}

interface AllowedProps extends Pick<ScreenProps, "effects"> {
  readonly by: readonly AllowedBy[];
}

/** Draws what allowed a call. A lasting approval leads to the policy, where it can be revoked. */
function Allowed({ by, effects }: AllowedProps): JSX.Element | null {
  if (by.length === 0) return null;
  return (
    <Fact label="Allowed by">
      {by.map((one, index) => {
        const { approval } = one;
        const words = <SafeText text={allowedByInWords(one)} />;
        return (
          <Fragment key={index}>
            {index > 0 && ", "}
            {approval === undefined ? (
              words
            ) : (
              <button
                type="button"
                class="tl-link"
                onClick={() => effects.dispatch({ type: "allowed", allowed: { approval: approval.id } })}
              >
                {words}
              </button>
            )}
          </Fragment>
        );
      })}
    </Fact>
  );
}

/** Returns what has allowed a call, as far as the history or the page knows. */
function allowedByOf({ callId, by, allowedBy }: PastCall, { review }: PageState): readonly AllowedBy[] {
  // The person who takes something back with an answer is named once.
  if (allowedBy !== undefined)
    return allowedBy.filter((one) => by === undefined || one.kind !== "answer" || one.by !== by);
  const settled = review.settled.findLast(({ question }) => question.callId === callId);
  return settled?.outcome === "allow" || settled?.outcome === "allow_parts"
    ? [{ kind: "answer", ...(settled.by === undefined ? {} : { by: settled.by }) }]
    : [];
}

interface MarkDetailProps {
  readonly mark: HistoryMark;
  readonly past: PastCalls;
  readonly state: PageState;
  readonly show: Show;
}

/** Draws a mark. */
export function MarkDetail({ mark, past, state, show }: MarkDetailProps): JSX.Element {
  const { name, time, agent } = mark;
  const why = whyNotPermitted(state, "manage");
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
          <Fact label="Set by" text={agent} />
          <Fact label="Since then">{plural(later, "call")}</Fact>
        </p>
      </header>
      <p class="empty quiet">A rewind reverses the later changes of files, and shows them first.</p>
      <footer class="answers">
        {why !== undefined && <span class="hint">{why}</span>}
        <span class="spacer" />
        <button
          type="button"
          disabled={why !== undefined}
          aria-keyshortcuts="b"
          onClick={() => show({ rewind: placeOfMark(mark), hunk: 0 })}
        >
          Rewind to here… <kbd>b</kbd>
        </button>
      </footer>
    </article>
  );
}
