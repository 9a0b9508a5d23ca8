/**
 * The journal: what each changing call found before it changed it. It makes
 * calls undoable, and calls with several writes whole or not at all, also when
 * the process is killed. Where its records are kept is a store's business; who
 * may undo what is decided by the workspace.
 */
export {
  type About,
  type HistoryRecord,
  type Journal,
  type JournalOptions,
  makeJournal,
  newCallId,
} from "./journal.ts";
export type { Locked, Recovery } from "./recovery.ts";
export { type JournalStore, type Log, MemoryJournal, type StoredLog } from "./store.ts";
