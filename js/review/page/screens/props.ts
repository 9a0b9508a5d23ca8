/** What every screen is given. */
import type { PageAction, PageState } from "../store.ts";

/** What the page can do besides changing its own state. */
export interface PageEffects {
  dispatch(action: PageAction): void;
  /** Sends an answer to the chosen question. */
  answer(outcome: "allow" | "refuse"): void;
}

/** The properties of every screen. */
export interface ScreenProps {
  readonly state: PageState;
  readonly effects: PageEffects;
}
