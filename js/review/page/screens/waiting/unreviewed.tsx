/** Draws the list of unreviewed calls: they were made without a question, and no person has reviewed them yet. */
import type { JSX } from "preact";
import type { UnreviewedCalls } from "../../../past/history-protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { useSlowly } from "../timeline/data.ts";
import { FIRST_TIMELINE, subjectOf } from "../timeline/view.ts";

/** The number of calls that are listed here. The timeline has all. */
const MAX_LISTED = 20;

/** Draws the list; nothing while there is none. */
export function UnreviewedList({ state, effects }: ScreenProps): JSX.Element | null {
  const version = useSlowly(state.review.history);
  const path = state.workspaces.length === 0 ? undefined : "history/unreviewed";
  const calls = useLoaded<UnreviewedCalls>(effects, path, version).data?.calls ?? [];
  if (calls.length === 0) return null;
  const open = (chosen: string | undefined): void => {
    const change = { ...FIRST_TIMELINE, chosen, isUnreviewed: true, part: "detail" } as const;
    effects.dispatch({ type: "timeline", change });
    effects.dispatch({ type: "screen", screen: "timeline" });
  };
  return (
    <section class="unreviewed" aria-labelledby="unreviewed-head">
      <h2 id="unreviewed-head">
        Unreviewed <span class="badge">{calls.length}</span>
      </h2>
      <ul>
        {calls.slice(0, MAX_LISTED).map((call) => (
          <li key={call.callId}>
            <button type="button" class="card" onClick={() => open(call.callId)}>
              <span class="card-line">
                <span class="name">
                  <SafeText text={subjectOf(call)} />
                </span>
                <span class="tool quiet">
                  <SafeText text={call.tool} />
                </span>
              </span>
            </button>
          </li>
        ))}
        {calls.length > MAX_LISTED && (
          <li>
            <button type="button" class="card" onClick={() => open(undefined)}>
              All {calls.length}
            </button>
          </li>
        )}
      </ul>
    </section>
  );
}
