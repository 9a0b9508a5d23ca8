/** Runs a walk of a tree (`walk.ts`) over a backend, with pauses. */
import { STEPS_PER_YIELD_CHECK, sortYielding, type Yielder } from "../../engine/yielder.ts";
import type { MaybePromise } from "../backend.ts";
import type { TreeWalk, WalkedEntry, WalkStep } from "./walk.ts";
import type { IgnoreFiles, WalkItem } from "./walk-memo.ts";

/** Where a walk gets directories and ignore files from. */
export interface WalkSource<E> {
  /** Returns the entries of a directory. */
  list(directory: string): MaybePromise<readonly E[]>;
  /** Reads the ignore files of a directory; absent when they do not apply. */
  ignoreFiles?(entries: readonly E[]): Promise<IgnoreFiles>;
}

/** Yields the selected entries in groups, in order. Within a group no directory is opened and nothing is counted. */
export async function* walkRuns<E extends WalkedEntry>(
  walk: TreeWalk<E>,
  source: WalkSource<E>,
  yielder: Yielder,
): AsyncGenerator<readonly WalkItem<E>[]> {
  const steps = walk.steps();
  let next = steps.next();
  while (next.done !== true) {
    const step = next.value;
    if (step.kind === "found") {
      yield step.run;
      next = steps.next();
    } else if (step.kind === "sort" && step.items.length <= STEPS_PER_YIELD_CHECK) {
      // Most directories are small, and waiting would take longer than the sorting.
      step.items = [...step.items].sort(step.compare);
      next = steps.next();
    } else {
      try {
        await answer(step, source, yielder);
      } catch (error) {
        next = steps.throw(error);
        continue;
      }
      next = steps.next();
    }
  }
}

async function answer<E extends WalkedEntry>(
  step: Exclude<WalkStep<E>, { readonly kind: "found" }>,
  source: WalkSource<E>,
  yielder: Yielder,
): Promise<void> {
  switch (step.kind) {
    case "list":
      step.entries = await source.list(step.directory);
      break;
    case "ignore":
      if (source.ignoreFiles !== undefined) step.files = await source.ignoreFiles(step.entries);
      break;
    case "sort":
      step.items = await sortYielding(step.items, step.compare, yielder);
      break;
    case "pause":
      await yielder.yieldIfDue();
  }
}
