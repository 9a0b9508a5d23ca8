/** The script of the review page. */
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { effectOfKey } from "./keys.ts";
import { App } from "./screens/app.tsx";
import { startSession } from "./session.ts";
import { FIRST_STATE, type PageState } from "./store.ts";
import { serverTransport } from "./transport.ts";

const state = signal<PageState>(FIRST_STATE);
const effects = startSession(state, serverTransport());
const root = document.getElementById("review") as HTMLElement;

function Page() {
  return <App state={state.value} effects={effects} />;
}
render(<Page />, root);

effect(() => {
  const { length } = state.value.review.waiting;
  document.title = length === 0 ? "Filewright review" : `(${length}) Filewright review`;
});

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const target = event.target as HTMLElement;
  // What is typed into a field, and what a button or a box does with its own keys, is left to it.
  if (target.matches("input[type=text], textarea, select")) return;
  if (event.key === " " && target.matches("button, input, summary, a")) return;
  const done = effectOfKey(state.value, event.key, performance.now());
  if (done === undefined) return;
  event.preventDefault();
  if (done.type === "allow") effects.answer("allow");
  else effects.dispatch(done);
});
