/** The address of each screen, so that Back and Forward go between screens and a reload stays. */
import type { Cell } from "./state/cell.ts";
import type { PageAction, PageState, Screen } from "./state/store.ts";

/** The fragments of the screens. That of what waits has none. */
const FRAGMENTS: Readonly<Record<Screen, string>> = {
  review: "",
  timeline: "#timeline",
  policy: "#policy",
  search: "#search",
  activity: "#activity",
};

/** Shows the screen that the address names, now and whenever it changes, and has the address name the shown screen. */
export function followAddress(state: Cell<PageState>, dispatch: (action: PageAction) => void): void {
  const follow = (): void => {
    const { hash } = location;
    // A link with a ticket was opened where the page is shown already: it logs in as elsewhere.
    if (hash.startsWith("#t=")) {
      location.reload();
      return;
    }
    const screen = (Object.keys(FRAGMENTS) as Screen[]).find((one) => FRAGMENTS[one] === hash);
    if (screen !== undefined && screen !== state.value.screen) dispatch({ type: "screen", screen });
  };
  follow();
  addEventListener("popstate", follow);
  state.watch(({ screen }) => {
    const fragment = FRAGMENTS[screen];
    if (fragment !== location.hash) history.pushState(null, "", `${location.pathname}${fragment}`);
  });
}
