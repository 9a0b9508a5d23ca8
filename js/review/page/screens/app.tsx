/** The whole page, drawn from its state alone. */
import type { ComponentChildren, JSX } from "preact";
import { Keys } from "./keys-dialog.tsx";
import { LiveCalls } from "./live.tsx";
import { QuestionView } from "./question.tsx";
import { RefuseDialog } from "./refuse.tsx";
import { visibleText } from "../diff/escapes.ts";
import type { Pane } from "../store.ts";
import type { ScreenProps } from "./props.ts";
import { WaitingList } from "./waiting.tsx";

const PANES: readonly (readonly [Pane, string])[] = [
  ["waiting", "Waiting"],
  ["change", "Change"],
  ["live", "Live"],
];

/** Draws the page. */
export function App({ state, effects }: ScreenProps): JSX.Element {
  const { connection, dialog, pane, review, subject } = state;
  if (connection === "signed-out") return <SignedOut />;
  return (
    <div class={`page show-${pane}${connection === "offline" ? " is-offline" : ""}`}>
      <header class="top">
        <h1>
          Filewright <span class="quiet">review</span>
        </h1>
        <span class="subject">{visibleText(subject)}</span>
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
      </header>
      <Bars state={state} />
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
      <main class="columns">
        <div class="side">
          <WaitingList state={state} effects={effects} />
          <LiveCalls state={state} />
        </div>
        <div class="chosen">
          <QuestionView state={state} effects={effects} />
        </div>
      </main>
      {dialog === "refuse" && <RefuseDialog state={state} effects={effects} />}
      {dialog === "keys" && <Keys effects={effects} />}
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
function Bars({ state: { connection, notice } }: Pick<ScreenProps, "state">): JSX.Element {
  return (
    <div class="bars" role="status">
      {connection === "offline" && (
        <Bar kind="warning">
          The connection is lost; trying again. Nothing can be answered until it is back, and nothing is sent
          later.
        </Bar>
      )}
      {notice !== undefined && (
        <Bar kind={notice.isFailure ? "failure" : "done"}>{visibleText(notice.text)}</Bar>
      )}
    </div>
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

function SignedOut(): JSX.Element {
  return (
    <main class="alone">
      <h1>
        Filewright <span class="quiet">review</span>
      </h1>
      <p>
        This browser has no login here. A link opens the page once, within two minutes. For a new one run:
      </p>
      <pre>
        <code>filewright review</code>
      </pre>
    </main>
  );
}
