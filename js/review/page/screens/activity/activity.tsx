/** The screen "Activity". */
import type { JSX } from "preact";
import type { ScreenProps } from "../props.ts";

/** Draws the screen. */
export function ActivityScreen({ state }: ScreenProps): JSX.Element {
  return (
    <section aria-labelledby="screen-head">
      <h2 id="screen-head">Activity</h2>
      {state.workspaces.length === 0 && <p class="none">No workspace is attached to this page.</p>}
    </section>
  );
}
