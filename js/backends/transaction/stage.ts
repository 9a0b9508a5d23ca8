/**
 * Stages: what one call reads and changes, kept apart from the files until all of it is committed at once.
 *
 * A backend over a storage of many files offers one. Backends that wrap another pass it on: the wrapped backend of a
 * stage has the same rules. This interface is internal to the backends.
 */
import type { Files } from "../files.ts";

/** The reads and changes of one call. */
export interface Stage {
  /** Runs changes; when one fails, those of this run are dropped. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** Returns the same backend, with the same rules, over what a stage has read and changed. */
export type EnterStage = (stage: Stage) => Files;
