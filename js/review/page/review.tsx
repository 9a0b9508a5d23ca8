/** The script of the review page. */
import { options, render } from "preact";
import { cell, useCell } from "./state/cell.ts";
import { listenToKeys } from "./keys/listen-keys.ts";
import { notifyOfQuestions } from "./notifications/notify.ts";
import { App } from "./screens/app.tsx";
import { startSession } from "./session.ts";
import { followAddress } from "./screen-address.ts";
import { hasUnsent } from "./state/answers.ts";
import { FIRST_STATE, type PageState } from "./state/store.ts";
import { serverTransport } from "../transport.ts";

/** The least time in milliseconds between drawings. Events that come sooner are drawn together. */
const MIN_DRAWING_INTERVAL_MS = 16;
let lastDrawing = -MIN_DRAWING_INTERVAL_MS;
/** Draws what has changed since the last drawing; undefined while nothing has. */
let drawNow: (() => void) | undefined;
options.debounceRendering = (draw) => {
  const run = (): void => {
    if (drawNow !== run) return;
    drawNow = undefined;
    lastDrawing = performance.now();
    draw();
  };
  drawNow = run;
  const wait = lastDrawing + MIN_DRAWING_INTERVAL_MS - performance.now();
  if (wait > 0) setTimeout(run, wait);
  else queueMicrotask(run);
};
// What a person does is about what was typed and chosen until then, so that is drawn first: the functions of a dialog
// know the state of its last drawing.
for (const type of ["keydown", "keyup", "pointerup", "click", "submit"])
  addEventListener(
    type,
    ({ target }) => {
      // The browser has already changed a box that is clicked, and a drawing of the state before would reset it.
      const isBox = target instanceof HTMLInputElement && /^(?:checkbox|radio)$/u.test(target.type);
      if (type !== "click" || !isBox) drawNow?.();
    },
    { capture: true },
  );

const state = cell<PageState>(FIRST_STATE);
// The ticket leaves the address, so that it is in no history and no bookmark.
const { hash } = location;
if (hash.startsWith("#t=")) history.replaceState(null, "", location.pathname);
// A new link in this tab changes nothing but the fragment, so the browser does not load the page again by itself.
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#t=")) location.reload();
});
const effects = {
  ...startSession(state, serverTransport(`/review${hash}`)),
  notifier: notifyOfQuestions(state),
};
const root = document.getElementById("review") as HTMLElement;

function Page() {
  return <App state={useCell(state)} effects={effects} />;
}
render(<Page />, root);

state.watch(({ review }) => {
  const { length } = review.waiting;
  document.title = length === 0 ? "Filewright review" : `(${length}) Filewright review`;
});

followAddress(state, effects.dispatch);
// A typed text and a choice of hunks are of this page alone.
addEventListener("beforeunload", (event) => {
  if (hasUnsent(state.value)) event.preventDefault();
});

listenToKeys(window, state, effects);
