/**
 * The journal: the state before each changing call. It makes calls undoable, and calls with
 * several writes atomic, even when the process is killed. A store keeps its records; the workspace
 * decides who may undo a change.
 */
export type {
  ChangeFacts as About,
  HistoryPlace,
  HistoryRecord,
  Journal,
  JournalOptions,
  Undoability,
  Made,
  StateBefore,
} from "./types.ts";
export { makeJournal } from "./journal.ts";
export { newCallId } from "./call-id.ts";
export { cannotBeReviewedError } from "./reviewed.ts";
export { unreviewedRecord } from "./storage-reviews.ts";
export {
  type LeftPath,
  type LeftReason,
  planRewind,
  type RewindPlan,
  type RewoundPath,
} from "./rewind/plan.ts";
export { rollBackPlan, undoRecord } from "./rewind/apply-plan.ts";
export { makeStorageJournal, withOneCommit } from "./storage-journal.ts";
export { NO_RECOVERY, recoveryProblemOf } from "./recovery.ts";
export type { RunLocked as Locked, Recovery, RecoveryProblem } from "./recovery.ts";
export { type JournalStore, type OpenRecord, MemoryJournal, type StoredRecord } from "./store.ts";
