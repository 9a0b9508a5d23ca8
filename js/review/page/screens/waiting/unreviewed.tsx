/** Draws the list of unreviewed calls: they were made without a question, and no person has reviewed them yet. */
import type { JSX } from "preact";
import type { PastCall, UnreviewedCalls } from "../../../past/history-protocol.ts";
import { SafeText } from "../../diff/text.tsx";
import { useLoaded } from "../loaded.ts";
import type { ScreenProps } from "../props.ts";
import { useSlowly } from "../timeline/data.ts";
import { FIRST_TIMELINE, subjectOf } from "../timeline/view.ts";

/** The number of calls that are listed here. The timeline has all. */
const MAX_LISTED = 20;

/** An unreviewed call, and the workspace in which it was made. */
interface UnreviewedOfWorkspace {
  readonly call: PastCall;
  readonly workspace: string;
}

/** Draws the list, with the calls of every workspace; nothing while there is none. */
export function UnreviewedList({ state, effects }: ScreenProps): JSX.Element | null {
  const version = useSlowly(state.review.unreviewed);
  const { workspaces } = state;
  const isOne = workspaces.length === 1;
  const load = async <T,>(): Promise<T> => loadUnreviewed(effects, workspaces) as Promise<T>;
  // The names of the workspaces are what is loaded.
  const names = workspaces.length === 0 ? undefined : workspaces.join("\n");
  const calls = useLoaded<readonly UnreviewedOfWorkspace[]>({ load }, names, version).data ?? [];
  if (calls.length === 0) return null;
  const open = (workspace: string, chosen: string | undefined): void => {
    if (!isOne) effects.dispatch({ type: "workspace", workspace });
    const change = { ...FIRST_TIMELINE, chosen, isUnreviewed: true, part: "detail" } as const;
    effects.dispatch({ type: "timeline", change });
    effects.dispatch({ type: "screen", screen: "timeline" });
  };
  const others = new Set(calls.slice(MAX_LISTED).map(({ workspace }) => workspace));
  return (
    <section class="unreviewed" aria-labelledby="unreviewed-head">
      <h2 id="unreviewed-head">
        Unreviewed <span class="badge">{calls.length}</span>
      </h2>
      <ul>
        {calls.slice(0, MAX_LISTED).map(({ call, workspace }) => (
          <li key={`${workspace} ${call.callId}`}>
            <button type="button" class="card" onClick={() => open(workspace, call.callId)}>
              <span class="card-line">
                <SafeText class="name" text={subjectOf(call)} />
                <SafeText class="tool quiet" text={call.tool} />
              </span>
              {!isOne && (
                <span class="card-line quiet">
                  <SafeText class="folder" text={workspace} />
                </span>
              )}
            </button>
          </li>
        ))}
        {[...others].map((workspace) => (
          <li key={workspace}>
            <button type="button" class="card" onClick={() => open(workspace, undefined)}>
              {isOne ? (
                `All ${calls.length}`
              ) : (
                <>
                  All of <SafeText text={workspace} />
                </>
              )}
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Loads the calls of these workspaces, the newest first. One that has gone leaves nothing to review. */
async function loadUnreviewed(
  effects: ScreenProps["effects"],
  workspaces: readonly string[],
): Promise<readonly UnreviewedOfWorkspace[]> {
  const lists = await Promise.all(
    workspaces.map((workspace) =>
      effects
        .load<UnreviewedCalls>("history/unreviewed", workspaces.length === 1 ? undefined : workspace)
        .then(
          ({ calls }) => calls.map((call) => ({ call, workspace })),
          () => [],
        ),
    ),
  );
  return lists.flat().sort((one, other) => other.call.time.localeCompare(one.call.time));
}
