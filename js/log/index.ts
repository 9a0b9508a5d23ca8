/**
 * The log: the changes of a workspace, each with the state before it. It makes calls undoable, and calls with
 * several writes atomic, even when the process is killed. Two engines keep it, records in a store and the history of a
 * storage; what is done with the past is written once over both. The workspace decides who may undo a change.
 */
export type {
  ChangeFacts as About,
  HistoryRecord,
  Log,
  LoggedChange,
  Made,
  Mark,
  StateBefore,
  Undoability,
} from "./log.ts";
export { makeRecordLog, type RecordLog } from "./record-log.ts";
export type { LogOptions } from "./options.ts";
export { newCallId } from "./call-id.ts";
export { cannotBeReviewedError, needsSteps } from "./errors.ts";
export type { LeftReason } from "./rewind/plan.ts";
export { NO_RECOVERY, recoveryProblemOf } from "./recovery.ts";
export type { RunLocked as Locked } from "./recover-record.ts";
export type { Recovery, RecoveryProblem, Rollbacks } from "./recovery.ts";
export {
  type JournalStore,
  type OpenRecord,
  MemoryJournal,
  type RecordFiles,
  type StoredRecord,
} from "./store.ts";
