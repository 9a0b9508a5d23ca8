/** The whole page, drawn from its state alone. */
import type { ComponentChildren, JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { EditDialog } from "./waiting/edit-dialog.tsx";
import { Keys } from "./keys-dialog.tsx";
import { LaterScreen } from "./later-screen.tsx";
import { LiveCalls } from "./waiting/live.tsx";
import { PutBackLast } from "./waiting/put-back-last.tsx";
import { QuestionView } from "./waiting/question.tsx";
import { RefuseDialog } from "./waiting/refuse.tsx";
import { visibleText } from "../diff/escapes.ts";
import type { Pane, Screen } from "../state/store.ts";
import type { ScreenProps } from "./props.ts";
import { UnreviewedList } from "./waiting/unreviewed.tsx";
import { WaitingList } from "./waiting/waiting.tsx";
import { WiderDialog } from "./wider/wider.tsx";
import { WorkspacePicker } from "./workspace-picker.tsx";

const PANES: readonly (readonly [Pane, string])[] = [
  ["waiting", "Waiting"],
  ["change", "Change"],
  ["live", "Live"],
];

const SCREENS: readonly (readonly [Screen, string])[] = [
  ["review", "Waiting"],
  ["timeline", "Timeline"],
  ["policy", "Policy"],
  ["search", "Search"],
  ["activity", "Activity"],
];

/** The properties of {@link App}. */
interface AppProps extends ScreenProps {
  /** True inside another page, which has a main part of its own. */
  readonly isEmbedded?: boolean;
}

/** The element that holds the main part. */
interface MainProps {
  readonly Main: "main" | "div";
}

/** The reference for that element, which can have the focus. */
interface MainRef {
  readonly main: RefObject<(HTMLElement & HTMLDivElement) | null>;
}

/** Draws the page. */
export function App({ state, effects, isEmbedded = false }: AppProps): JSX.Element {
  const { connection, dialog, screen, subject, workspace, workspaces } = state;
  // The page around has the landmarks.
  const [Head, Main] = isEmbedded ? (["div", "div"] as const) : (["header", "main"] as const);
  const main = useRef<HTMLElement & HTMLDivElement>(null);
  const [mouseClicks, setMouseClicks] = useState(0);
  // After a mouse click the keys are for the screen. By keyboard the focus stays, so that a person can go on from there.
  useLayoutEffect(() => {
    if (mouseClicks > 0) main.current?.focus({ preventScroll: true });
  }, [mouseClicks]);
  if (connection === "signed-out" || connection === "foreign")
    return <SignedOut Main={Main} isForeign={connection === "foreign"} />;
  return (
    <div class={`page${connection === "offline" ? " is-offline" : ""}`}>
      <Head class="top" part="header">
        <h1>
          Filewright <span class="quiet">review</span>
        </h1>
        {screen !== "review" && workspaces.length > 1 ? (
          <WorkspacePicker state={state} effects={effects} />
        ) : (
          <span class="subject">{visibleText(subject)}</span>
        )}
        <ScreenNavigation
          state={state}
          effects={effects}
          onMouseClick={() => setMouseClicks((before) => before + 1)}
        />
        <span class="spacer" />
        <ConnectionMark state={state} />
        <button
          type="button"
          class="plain"
          aria-keyshortcuts="?"
          onClick={() => effects.dispatch({ type: "dialog", dialog: "keys" })}
        >
          Keys <kbd>?</kbd>
        </button>
      </Head>
      <Bars state={state} effects={effects} />
      {screen === "review" && <ReviewScreen state={state} effects={effects} Main={Main} main={main} />}
      {screen !== "review" && (
        // A screen is drawn anew for another workspace, because its data are others.
        <Main key={workspace} ref={main} tabIndex={-1} class={`screen screen-${screen}`} part="screen">
          <LaterScreen part={screen} state={state} effects={effects} />
        </Main>
      )}
      {dialog === "refuse" && <RefuseDialog state={state} effects={effects} />}
      {dialog === "edit" && <EditDialog state={state} effects={effects} />}
      {dialog === "wider" && <WiderDialog state={state} effects={effects} />}
      {dialog === "group" && <LaterScreen part="group" state={state} effects={effects} />}
      {dialog === "put-back" && <PutBackLast state={state} effects={effects} />}
      {dialog === "keys" && <Keys effects={effects} />}
    </div>
  );
}

/** Draws the links to the screens. */
function ScreenNavigation({
  state: { screen, review },
  effects,
  onMouseClick,
}: ScreenProps & { onMouseClick(): void }): JSX.Element {
  return (
    <nav class="screens" aria-label="Screens">
      {SCREENS.map(([name, label]) => (
        <button
          key={name}
          type="button"
          aria-current={screen === name ? "page" : undefined}
          onClick={({ detail }) => {
            effects.dispatch({ type: "screen", screen: name });
            if (detail > 0) onMouseClick();
          }}
        >
          {label}
          {name === "review" && review.waiting.length > 0 && (
            <span class="badge">{review.waiting.length}</span>
          )}
        </button>
      ))}
    </nav>
  );
}

/** Draws what waits: the list, the chosen question, and the last calls. */
function ReviewScreen({ state, effects, Main, main }: ScreenProps & MainProps & MainRef): JSX.Element {
  const { pane, review } = state;
  return (
    <div class={`review-screen show-${pane}`}>
      <nav class="panes" aria-label="Parts of the page">
        {PANES.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-current={pane === name ? "page" : undefined}
            onClick={() => effects.dispatch({ type: "pane", pane: name })}
          >
            {label}
            {name === "waiting" && review.waiting.length > 0 && (
              <span class="badge">{review.waiting.length}</span>
            )}
          </button>
        ))}
      </nav>
      <Main ref={main} tabIndex={-1} class="columns">
        <div class="side">
          <WaitingList state={state} effects={effects} />
          <UnreviewedList state={state} effects={effects} />
          <LiveCalls state={state} effects={effects} />
        </div>
        <div class="chosen">
          <QuestionView state={state} effects={effects} />
        </div>
      </Main>
    </div>
  );
}

const CONNECTION_WORDS = { connecting: "connecting", live: "live", offline: "offline" } as const;

function ConnectionMark({ state: { connection, by, role } }: Pick<ScreenProps, "state">): JSX.Element {
  return (
    <>
      <span class={`connection ${connection}`}>
        <span class="dot" aria-hidden="true" />
        {CONNECTION_WORDS[connection as keyof typeof CONNECTION_WORDS]}
      </span>
      {by !== "" && (
        <span class="who">
          {visibleText(by)}
          {role === "watch" && " (watching)"}
        </span>
      )}
    </>
  );
}

/** Draws the messages above the columns. They are read out when they change. */
function Bars({ state: { connection, notice }, effects }: ScreenProps): JSX.Element {
  const allowed = notice?.allowed;
  return (
    <div class="bars" role="status">
      {connection === "offline" && <Offline />}
      {notice !== undefined && (
        <div class={`bar ${notice.isFailure ? "failure" : "done"} with-action`}>
          <p class="bar-text">{visibleText(notice.text)}</p>
          {allowed !== undefined && (
            <button type="button" onClick={() => effects.dispatch({ type: "allowed", allowed })}>
              Show in Policy
            </button>
          )}
          <button
            type="button"
            class="plain dismiss"
            aria-label="Dismiss the message"
            onClick={() => effects.dispatch({ type: "dismiss" })}
          >
            ×
          </button>
        </div>
      )}
    </div>
  );
}

/** The time in milliseconds without a connection after which the server has probably ended. */
const LONG_OFFLINE_MS = 10_000;

function Offline(): JSX.Element {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsLong(true), LONG_OFFLINE_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Bar kind="warning">
      The connection is lost; trying again. Nothing can be answered until it is back, and nothing is sent
      later.
      {isLong && (
        <>
          {" "}
          If the server was started again, <code>filewright review</code> prints a new link.
        </>
      )}
    </Bar>
  );
}

function Bar({
  kind,
  children,
}: {
  readonly kind: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return <p class={`bar ${kind}`}>{children}</p>;
}

function SignedOut({ Main, isForeign }: MainProps & { readonly isForeign: boolean }): JSX.Element {
  return (
    <Main class="alone">
      <h1>
        Filewright <span class="quiet">review</span>
      </h1>
      <p role="status">
        {isForeign
          ? "The server of this page has ended. What answers at its address now cannot prove that it is that server, so nothing was sent to it, and this tab answers nothing any more. Close it. For a link to the page that runs now, run:"
          : "This tab has no login here. A link opens the page once, within two minutes, and the login ends when the tab is closed or loaded again. For a new link run:"}
      </p>
      <pre>
        <code>filewright review</code>
      </pre>
    </Main>
  );
}
