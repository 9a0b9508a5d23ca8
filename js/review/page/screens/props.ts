/** The properties of every screen. */
import type { PageAction, PageState } from "../store.ts";

/** The actions of the page besides changes of its own state. */
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
