/**
 * The journal: the state before each changing call. It makes calls undoable, and calls with
 * several writes atomic, even when the process is killed. A store keeps its records; the workspace
 * decides who may undo a change.
 */
export {
  type ChangeFacts as About,
  type HistoryRecord,
  type Journal,
  type JournalOptions,
  makeJournal,
  newCallId,
} from "./journal.ts";
export { makeStorageJournal, withOneCommit } from "./storage-journal.ts";
export type { RunLocked as Locked, Recovery } from "./recovery.ts";
export { type JournalStore, type OpenRecord, MemoryJournal, type StoredRecord } from "./store.ts";
