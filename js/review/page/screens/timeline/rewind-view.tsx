/** The preview of a rewind: what it would change, what it leaves and why, and the choice of paths. */
import { messageOf } from "../../../../engine/thrown.ts";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { RewindAnswer, RewindChange, RewindLeft } from "../../../past/history-protocol.ts";
import { LineCounts } from "../../diff/file-head.tsx";
import { SafeText } from "../../diff/text.tsx";
import { whyNotPermitted } from "../../state/permission.ts";
import type { ScreenProps } from "../props.ts";
import { useRows } from "./data.ts";
import { PastDiff } from "./past-diff.tsx";
import { failureOf } from "./put-back.ts";
import { useTimelineKeys } from "./timeline-keys.ts";
import { clockTime, type RewindPlace, subjectOf, type TimelineView } from "./view.ts";
import { AnswerButtons } from "../dialog.tsx";
import { plural } from "../../../../engine/escape.ts";

interface RewindViewProps extends ScreenProps {
  readonly place: RewindPlace;
  show(change: Partial<TimelineView>): void;
}

/** The previews that have arrived. */
interface Previews {
  /** The preview of all paths, for the list. */
  readonly all: RewindAnswer;
  /** The preview of the chosen paths. */
  readonly chosen: RewindAnswer;
  /** The paths that it is about, as one text. */
  readonly key: string | undefined;
}

/** Draws the preview. */
export function RewindView({ place, state, effects, show }: RewindViewProps): JSX.Element {
  const { to, label, paths, restored } = place;
  const { agent: listed } = state.timeline;
  // Callers without a name cannot be told apart from each other.
  const named = listed === "" ? undefined : listed;
  const agent = place.isOfAll === true ? undefined : named;
  const [previews, setPreviews] = useState<Previews>();
  const [failure, setFailure] = useState<string>();
  const [shown, setShown] = useState<string>();
  const [isSending, setSending] = useState(false);
  const [tries, setTries] = useState(0);
  /** The number of the last event of the history when the preview was made. */
  const [seen, setSeen] = useState(state.review.history);
  const all = useRef<RewindAnswer | undefined>(undefined);
  /** The agent whose calls that preview is about. */
  const allOf = useRef(agent);
  const key = [agent ?? "", ...(paths ?? [])].join("\0");
  const limits = { ...(paths ? { paths } : {}), ...(agent === undefined ? {} : { agent }) };

  useEffect(() => {
    let isCurrent = true;
    const preview = (): Promise<RewindAnswer> =>
      effects.send<RewindAnswer>("rewind", { to, dryRun: true, ...limits });
    const load = async (): Promise<void> => {
      const { history } = state.review;
      const chosen = await preview();
      if (!isCurrent) return;
      if (allOf.current !== agent) all.current = undefined;
      allOf.current = agent;
      // A path that is not chosen stays in the list, so that it can be chosen again.
      all.current ??= chosen;
      setPreviews({ all: all.current, chosen, key });
      setFailure(undefined);
      setSeen(history);
    };
    load().catch((error: unknown) => isCurrent && setFailure(messageOf(error)));
    return () => {
      isCurrent = false;
    };
  }, [to, key, tries]);

  const close = (): void => show({ rewind: undefined, hunk: 0 });
  useTimelineKeys(effects, { Escape: close });
  const lookAgain = (): void => {
    all.current = undefined;
    setTries((before) => before + 1);
  };
  const rewind = async (digest: string, files: number): Promise<void> => {
    setSending(true);
    try {
      const done = await effects.send<RewindAnswer>("rewind", { to, digest, ...limits });
      const text =
        restored === undefined
          ? `Rewound ${plural(files, "path")} to ${label}.`
          : `Restored ${restored}: ${label}.`;
      show({
        rewind: undefined,
        file: undefined,
        failure: undefined,
        hunk: 0,
        ...(done.callId === undefined ? {} : { chosen: done.callId, done: { text, callId: done.callId } }),
      });
    } catch (error) {
      setSending(false);
      setFailure(failureOf(error, restored === undefined ? "Not rewound" : "Not restored").text);
    }
  };

  const why = whyNotPermitted(state, "manage");
  const chosen = previews?.chosen;
  const isOld = state.review.history !== seen;
  // The button is for what is shown, so it waits for the preview of another choice.
  const isPending = previews?.key !== key;
  const number = chosen?.changes.length ?? 0;
  return (
    <article class="question" aria-labelledby="tl-rewind">
      <header class="question-head">
        <h2 id="tl-rewind">
          {restored === undefined ? "Rewind to " : "Restore "}
          <SafeText text={restored === undefined ? label : `${restored}: ${label}`} />
        </h2>
        {chosen !== undefined && (
          <p class="facts">
            {plural(chosen.calls, "call")}, {plural(number, "path")}
          </p>
        )}
        {named !== undefined && (
          <label class="choice">
            <input
              type="checkbox"
              checked={agent !== undefined}
              onChange={({ currentTarget: { checked } }) =>
                show({ rewind: { ...place, paths: undefined, isOfAll: !checked } })
              }
            />
            <span>
              Only the calls of <SafeText text={named} />
            </span>
          </label>
        )}
      </header>
      {failure !== undefined && (
        <p class="bar failure" role="alert">
          <SafeText text={failure} />
        </p>
      )}
      {(isOld || failure !== undefined) && (
        <div class="bar warning tl-bar">
          <span>
            {isOld ? "The history has changed since this preview." : "The preview can be made again."}
          </span>
          <button type="button" onClick={lookAgain}>
            Look again
          </button>
        </div>
      )}
      {previews === undefined && failure === undefined && <p class="empty">Looking what would change…</p>}
      {previews !== undefined && (
        <>
          <Paths previews={previews} shown={shown} place={place} setShown={setShown} show={show} />
          <Shown previews={previews} shown={shown} state={state} effects={effects} show={show} />
        </>
      )}
      <footer class="answers">
        <AnswerButtons
          why={why}
          isDisabled={why !== undefined || isSending || isPending || isOld || number === 0}
          onCancel={close}
          onConfirm={() => chosen !== undefined && void rewind(chosen.digest, number)}
        >
          {restored === undefined ? `Rewind ${plural(number, "path")}` : "Restore"}
        </AnswerButtons>
      </footer>
    </article>
  );
}

interface PathsProps {
  readonly previews: Previews;
  readonly shown: string | undefined;
  readonly place: RewindPlace;
  setShown(path: string | undefined): void;
  show(change: Partial<TimelineView>): void;
}

/** Draws the paths that the rewind changes and leaves, with a choice of each. */
function Paths({ previews: { all, chosen }, shown, place, setShown, show }: PathsProps): JSX.Element {
  const chosenNow = new Set(place.paths ?? chosen.changes.flatMap(namesOf));
  /** Chooses or leaves out a path. The server plans again, because other paths may depend on it. */
  const toggle = (names: readonly string[], isChosen: boolean): void => {
    const paths = [...chosenNow].filter((one) => !names.includes(one));
    show({ rewind: { ...place, paths: isChosen ? [...paths, ...names] : paths } });
  };
  const listed = new Map(
    [...all.changes, ...chosen.changes].map((change) => [change.display, change] as const),
  );
  const left = new Map([...all.left, ...chosen.left].map((one) => [one.path, one] as const));
  return (
    <ul class="tl-paths">
      {[...listed.values()].map((change) => (
        <PathRow
          key={change.display}
          change={change}
          isChosen={chosenNow.has(change.display)}
          isShown={shown === change.display}
          onToggle={(isChosen) => toggle(namesOf(change), isChosen)}
          onShow={() => setShown(shown === change.display ? undefined : change.display)}
        />
      ))}
      {[...left.values()]
        .filter(({ path }) => !listed.has(path))
        .map((one) => (
          <LeftRow
            key={one.path}
            left={one}
            isChosen={chosenNow.has(one.path)}
            onToggle={(isChosen) => toggle([one.path], isChosen)}
          />
        ))}
      {all.unrecorded.map((call) => (
        <li key={call.callId} class="tl-left tl-call">
          <span aria-hidden="true">!</span>
          <span>
            {clockTime(call.time)} <SafeText text={`${call.tool} ${subjectOf(call)}`.trim()} />: what it
            changed stays; it cannot be put back here
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Returns the paths that belong to a change: a move has two. */
function namesOf({ display, from }: RewindChange): readonly string[] {
  return from === undefined ? [display] : [display, from];
}

interface PathRowProps {
  readonly change: RewindChange;
  readonly isChosen: boolean;
  readonly isShown: boolean;
  onToggle(isChosen: boolean): void;
  onShow(): void;
}

const KIND_WORDS: Readonly<Record<RewindChange["kind"], string>> = {
  create: "comes back",
  edit: "",
  delete: "is removed",
  move: "is moved back",
  copy: "",
};

function PathRow({ change, isChosen, isShown, onToggle, onShow }: PathRowProps): JSX.Element {
  const { display, kind, added, removed } = change;
  return (
    <li>
      <label class="choice">
        <input
          type="checkbox"
          checked={isChosen}
          onChange={({ currentTarget }) => onToggle(currentTarget.checked)}
        />
        <SafeText class="path" text={display} />
      </label>
      {KIND_WORDS[kind] !== "" && <span class="tag">{KIND_WORDS[kind]}</span>}
      <span class="spacer" />
      {added + removed > 0 && <LineCounts added={added} removed={removed} />}
      <button type="button" class="tl-link" aria-pressed={isShown} disabled={!isChosen} onClick={onShow}>
        {isShown ? "Show all" : "Show"}
        <span class="unseen">
          {" "}
          <SafeText text={display} />
        </span>
      </button>
    </li>
  );
}

interface LeftRowProps {
  readonly left: RewindLeft;
  readonly isChosen: boolean;
  onToggle(isChosen: boolean): void;
}

function LeftRow({ left: { path, why, canChoose }, isChosen, onToggle }: LeftRowProps): JSX.Element {
  return (
    <li class="tl-left">
      <label class="choice">
        <input
          type="checkbox"
          checked={isChosen}
          disabled={!canChoose}
          aria-label={`Rewind all the same: ${path}`}
          onChange={({ currentTarget }) => onToggle(currentTarget.checked)}
        />
        <SafeText class="path" text={path} />
      </label>
      <span>stays: {why}</span>
    </li>
  );
}

interface ShownProps extends ScreenProps {
  readonly previews: Previews;
  readonly shown: string | undefined;
  show(change: Partial<TimelineView>): void;
}

/** Draws the rows of the preview, of all paths or of the one that is to be shown. */
function Shown({ previews: { chosen }, shown, state, effects, show }: ShownProps): JSX.Element | null {
  const at = chosen.changes.findIndex(({ display }) => display === shown);
  const only = at < 0 ? "" : `&change=${at}&last=${at}`;
  const isEmpty = chosen.changes.length === 0;
  const rows = useRows(effects, isEmpty ? undefined : `previews/rows?digest=${chosen.digest}${only}`);
  if (isEmpty) return <p class="empty">There is nothing to rewind.</p>;
  return <PastDiff rows={rows} hunk={state.timeline.hunk} effects={effects} show={show} />;
}
