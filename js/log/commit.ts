/** The commit of a storage that a change is. */
import type { StageCommit } from "../storage/staged/stage.ts";
import type { ChangeFacts } from "./log.ts";

/** Returns the commit of a change that is made on a stage. */
export function commitOf({ callId, tool, agent, undoOf, signal, records }: ChangeFacts): StageCommit {
  return { key: callId, actor: { agent, tool, callId, undoOf }, signal, records: records?.() };
}
