/** The history as one caller may see it: its own changes, or all of them on request. */
import type { Past } from "../../tools/lib/past.ts";
import { historyOf } from "./history.ts";
import type { Session } from "../session.ts";

/**
 * Returns the history of a caller. Its own calls are those under its name. For a caller without a name,
 * they are the calls without a name that were made through this workspace.
 */
export function historyForCaller(session: Session, agent: string | undefined = session.agent): Past {
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
    undo: (undone, { fs, callId, agent: by, signal }) =>
      journal.undo(fs, undone, { callId, agent: by, signal }),
  };
}
