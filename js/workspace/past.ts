/** Earlier changes as a caller may see them: its own, and for whom it is meant all of them. */
import type { Past } from "../tools/past.ts";
import { historyOf } from "./history.ts";
import type { Session } from "./session.ts";

/**
 * The past of a caller. Its own calls are those under its name; of a caller without
 * a name, those that were made without one through this very workspace.
 */
export function pastOf(session: Session, agent: string | undefined = session.agent): Past {
  const { journal, running } = session;
  return {
    async list(all) {
      const calls = await historyOf(session);
      if (all) return calls;
      return calls.filter(({ callId, agent: by }) =>
        agent === undefined ? by === undefined && running.changes.has(callId) : by === agent,
      );
    },
    async restores(callId) {
      const found = await journal.found(callId);
      return found.map((one) => ({ ...one, shown: session.resolver.display(one.path) }));
    },
    undo: (undone, { fs, callId, agent: by }) => journal.undo(fs, undone, { callId, agent: by }),
  };
}
