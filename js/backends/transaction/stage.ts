/**
 * Stages: what one call reads and changes, kept apart from the files until all of it is committed at once.
 *
 * A backend over a storage of many files offers one. Backends that wrap another pass it on: the wrapped backend of a
 * stage has the same rules. This interface is internal to the backends.
 */
import type { FsBackend } from "../backend.ts";

/** The reads and changes of one call. */
export interface Stage {
  /** Runs changes; when one fails, those of this run are dropped. */
  nested<T>(run: () => Promise<T>): Promise<T>;
}

/** Returns the same backend, with the same rules, over what a stage has read and changed. */
export type EnterStage = (stage: Stage) => FsBackend;

const stageByBackend = new WeakMap<FsBackend, Stage>();
const entryByBackend = new WeakMap<FsBackend, EnterStage>();

/** Registers the stage over which a backend works. Without a stage, nothing is registered. */
export function provideStage(backend: FsBackend, stage: Stage | undefined): void {
  if (stage !== undefined) stageByBackend.set(backend, stage);
}

/** Returns the stage over which a backend works; undefined when its changes are made at once. */
export function stageOf(backend: FsBackend): Stage | undefined {
  return stageByBackend.get(backend);
}

/** Registers how a backend works over a stage. */
export function provideStageEntry(backend: FsBackend, enter: EnterStage | undefined): void {
  if (enter !== undefined) entryByBackend.set(backend, enter);
}

/** Returns how a backend works over a stage; undefined when it has none. */
export function stageEntryOf(backend: FsBackend): EnterStage | undefined {
  return entryByBackend.get(backend);
}
