/** The work with the past, over both engines of the log: lists of changes, undo, rewind, marks and reviews. */
export {
  addMark,
  changesAfter,
  type HistoryPlace,
  keepChanges,
  statesOfChange,
  undoableChange,
  unreviewedChanges,
} from "./history.ts";
export { planUndo, rollBackPlan, undoChange } from "./rewind/apply-plan.ts";
export { type LeftPath, planRewind, type RewindPlan, type RewoundPath } from "./rewind/plan.ts";
