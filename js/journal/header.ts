/** The header of a record of a journal, from the facts about its change. */
import type { RecordHeader } from "../backends/transaction/step.ts";
import type { ChangeFacts } from "./types.ts";

/** Returns the header. `group` identifies the history, `storage` the storage unless it is the local disk. */
export function recordHeaderOf(facts: ChangeFacts, group: string, storage: string | undefined): RecordHeader {
  const { callId, tool, agent, undoOf, rollback, unreviewed, allowedBy = [], undoes = [] } = facts;
  return {
    callId,
    tool,
    time: Date.now(),
    cwd: group,
    ...(storage === undefined ? {} : { storage }),
    ...(rollback === "always" ? { atomic: true } : {}),
    ...(agent === undefined ? {} : { agent }),
    ...(undoOf === undefined ? {} : { undoOf }),
    ...(unreviewed === true ? { unreviewed } : {}),
    ...(allowedBy.length === 0 ? {} : { allowedBy }),
    ...(undoes.length === 0 ? {} : { undoes }),
  };
}
