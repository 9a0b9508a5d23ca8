/** Draws one state of the catalogue: the one that the fragment of the address names, or a list of all. */
import { render } from "preact";
import { ANSWERS, STATES } from "./fixtures.ts";
import { App } from "./screens/app.tsx";
import { type PageAction, type PageState, reducePage } from "./store.ts";

const root = document.getElementById("review") as HTMLElement;

function draw(): void {
  const name = decodeURIComponent(location.hash.slice(1));
  let state: PageState | undefined = STATES[name];
  if (state === undefined) {
    render(<Catalogue />, root);
    return;
  }
  const effects = {
    dispatch(action: PageAction): void {
      state = reducePage(state as PageState, action);
      render(<App state={state} effects={effects} />, root);
    },
    answer: () => {},
    load: <T,>(path: string): Promise<T> => {
      const answer = ANSWERS[path];
      return answer === undefined
        ? Promise.reject(new Error(`no answer for ${path} in the catalogue`))
        : Promise.resolve(answer as T);
    },
    send: <T,>(): Promise<T> => Promise.reject(new Error("the catalogue sends nothing")),
  };
  render(null, root);
  render(<App state={state} effects={effects} />, root);
  document.documentElement.dataset["state"] = name;
}

function Catalogue() {
  return (
    <main class="alone">
      <h1>States of the review page</h1>
      <ul>
        {Object.keys(STATES).map((name) => (
          <li key={name}>
            <a href={`#${name}`}>{name}</a>
          </li>
        ))}
      </ul>
    </main>
  );
}

draw();
addEventListener("hashchange", draw);
