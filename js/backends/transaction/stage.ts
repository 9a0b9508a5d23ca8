/**
 * Stages: runs of changes of one call of which all stay or none. Two kinds of files have one: those over a storage keep the
 * changes apart until all are committed at once (`js/storage/staged`), and the recorded files of a transaction make each at
 * once and take it back (`recorder.ts`).
 *
 * Backends that wrap another pass it on: the wrapped backend of a stage has the same rules. This interface is internal to
 * the backends.
 */
import type { Files } from "../files.ts";

/** The reads and changes of one call. */
export interface Stage {
  /** Runs changes; when one fails, those of this run are dropped. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** Returns the same backend, with the same rules, over what a stage has read and changed. */
export type EnterStage = (stage: Stage) => Files;
