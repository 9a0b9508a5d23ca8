/** Draws one state of the catalogue: the one that the fragment of the address names, or a list of all. */
import { render } from "preact";
import { ANSWERS, NOTIFY_STATES, STATES, STEPS } from "./all-states.ts";
import { App } from "../../../../js/review/page/screens/app.tsx";
import { loadLaterScreens } from "../../../../js/review/page/screens/later-screen.tsx";
import { reducePage } from "../../../../js/review/page/state/reduce.ts";
import { ResponseError } from "../../../../js/review/transport.ts";
import type { PageAction, PageState } from "../../../../js/review/page/state/store.ts";

const root = document.getElementById("review") as HTMLElement;

/** The number of drawings, so that what an earlier state tells late draws nothing. */
let drawings = 0;

function draw(): void {
  const drawing = ++drawings;
  const name = decodeURIComponent(location.hash.slice(1));
  let state: PageState | undefined = STATES[name];
  if (state === undefined) {
    render(<Catalogue />, root);
    return;
  }
  const effects = {
    dispatch(action: PageAction): void {
      if (drawing !== drawings) return;
      state = reducePage(state as PageState, action);
      render(<App state={state} effects={effects} />, root);
    },
    answer: () => {},
    script: (path: string) => path,
    file: async () =>
      new File([await (await fetch("icon.svg")).blob()], "icon.svg", { type: "image/svg+xml" }),
    notifier: { state: () => NOTIFY_STATES[name] ?? "off", ask: () => Promise.resolve("on" as const) },
    load: <T,>(path: string): Promise<T> => {
      const [plain = path] = path.split("?");
      const answer =
        ANSWERS[`${name}:${plain}`] ?? ANSWERS[`${name}:${path}`] ?? ANSWERS[path] ?? ANSWERS[plain];
      return answer === undefined
        ? Promise.reject(new Error(`no answer for ${path} in the catalogue`))
        : Promise.resolve(answer as T);
    },
    send: <T,>(path: string, body: object): Promise<T> => {
      const answer = "path" in body ? undefined : (ANSWERS[`${name}:POST ${path}`] ?? ANSWERS[path]);
      return answer === undefined
        ? Promise.reject(new Error("../other is outside of the allowed directories"))
        : answer instanceof ResponseError
          ? Promise.reject(answer)
          : Promise.resolve(answer as T);
    },
  };
  render(null, root);
  render(<App state={state} effects={effects} />, root);
  void act(STEPS[name] ?? []).then(() => {
    document.documentElement.dataset["state"] = name;
  });
}

/** Does the steps of a state, each once its element is there. */
async function act(steps: readonly (readonly [selector: string, text?: string])[]): Promise<void> {
  for (const [selector, text] of steps) {
    let element: HTMLElement | null = null;
    while (element === null) {
      await new Promise(requestAnimationFrame);
      element = root.querySelector<HTMLElement>(selector);
    }
    if (text === undefined) element.click();
    else (element as HTMLInputElement).value = text;
  }
  await new Promise(requestAnimationFrame);
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

// A state is drawn at once as the page draws it when it has all its scripts.
await loadLaterScreens();
draw();
addEventListener("hashchange", draw);
