/** The history of a caller, for the tools that need it: it is loaded when one of them asks. */
import { lazilyEarly } from "../../engine/lazy.ts";
import type { UndoableHistory } from "../../tools/lib/past.ts";
import type { Session } from "../session.ts";

const history = lazilyEarly("the history", () => import("./history.ts"));

/**
 * Returns the history of a caller. Its own calls are those under its name. For a caller without a name,
 * they are the calls without a name that were made through this workspace.
 */
export function historyForCaller(
  session: Session,
  agent: string | undefined = session.caller.agent,
): UndoableHistory {
  const own = async (): Promise<UndoableHistory> => (await history()).historyOfCaller(session, agent);
  return {
    list: async (all) => (await own()).list(all),
    find: async (callId, all) => (await own()).find(callId, all),
    restores: async (callId) => (await own()).restores(callId),
    contentBefore: async (path, hash) => (await own()).contentBefore(path, hash),
    since: async (place, all) => (await own()).since(place, all),
    madeBy: async (path, hash) => (await own()).madeBy(path, hash),
    display: session.files.resolver.display,
    preview: async (callId, call) => (await own()).preview(callId, call),
    undo: async (callId, as) => (await own()).undo(callId, as),
  };
}
