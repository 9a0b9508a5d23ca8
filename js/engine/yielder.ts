/** Lets long work pause, so that other tasks on the event loop get their turns, and end when it is cancelled. */
import { checkAborted } from "./errors.ts";

/**
 * The time in milliseconds after which work pauses at its next check. Work that checks rarely may block the
 * event loop for longer.
 */
const MAX_BLOCKING_MS = 10;
/** The number of cheap steps, such as entries of a directory, between two calls of {@link Yielder.yieldIfDue}. */
export const STEPS_PER_YIELD_CHECK = 256;
/**
 * The number of items that are sorted at once. Longer lists are sorted in parts of this size, which are then
 * merged.
 */
const ITEMS_PER_SORTED_RUN = 2048;

/**
 * Runs a function in the next turn of the event loop. The timer function is looked up when the module is
 * loaded, so that calls continue in tests that replace timers.
 */
export const nextTurn: (run: () => void) => void =
  globalThis.setImmediate ?? ((run: () => void) => globalThis.setTimeout(run, 0));

/** Work that has paused. */
interface PausedWork {
  readonly signal: AbortSignal | undefined;
  resume(): void;
}

/**
 * The time at which work began in the current turn of the event loop; undefined when none has. All work of
 * the thread shares it, because several calls that each measured their own time would together block the
 * event loop for longer.
 */
let workBeganAt: number | undefined;
/** The paused work, longest waiting first. */
let pausedWork: PausedWork[] = [];

function beginTurn(): void {
  workBeganAt = performance.now();
  nextTurn(endTurn);
}

/**
 * Ends a turn: resumes paused work, and all cancelled work, which then only throws.
 */
function endTurn(): void {
  workBeganAt = undefined;
  if (pausedWork.length === 0) return;
  const cancelled = pausedWork.filter(({ signal }) => signal?.aborted);
  if (cancelled.length > 0) pausedWork = pausedWork.filter(({ signal }) => !signal?.aborted);
  for (const { resume } of cancelled) resume();
  if (pausedWork.length === 0) return;
  beginTurn();
  void resumeInOrder();
}

/**
 * Resumes paused work, that which has waited longest first, until the time of the turn is over. With one piece a turn, the
 * small work of many calls would wait behind calls that never paused: among 64 agents for seconds.
 */
async function resumeInOrder(): Promise<void> {
  do {
    pausedWork.shift()?.resume();
    // The resumed work goes on up to its next pause before the time is compared.
    for (let hop = 0; hop < HOPS_OF_RESUMED_WORK; hop++) await undefined;
  } while (pausedWork.length > 0 && !isTurnOver());
}

/** Returns true when work has blocked the event loop for some time in this turn. */
function isTurnOver(after = MAX_BLOCKING_MS): boolean {
  return workBeganAt !== undefined && performance.now() - workBeganAt >= after;
}

/** The microtasks after which work that was resumed has run: those of two or three awaiting callers. */
const HOPS_OF_RESUMED_WORK = 6;

/** Lets one piece of long work pause. It also knows the work's signal and time limit. */
export class Yielder {
  readonly #signal: AbortSignal | undefined;
  readonly #end: number;
  #isNew = true;

  constructor(query: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined }) {
    this.#signal = query.signal;
    this.#end =
      query.timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + query.timeoutMs;
    if (workBeganAt === undefined) beginTurn();
  }

  /** True when the time limit is reached. Nothing ends the work then; the caller has to check this. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /**
   * Pauses if the work has blocked the event loop for `MAX_BLOCKING_MS`, at the first check for twice that: work of one
   * step is done at once. Of 64 agents that write at the same time, each call would wait two turns for the others. @throws CANCELLED
   */
  async yieldIfDue(): Promise<void> {
    const isFirst = this.#isNew;
    this.#isNew = false;
    if (workBeganAt === undefined) beginTurn();
    else if (isFirst && !isTurnOver(2 * MAX_BLOCKING_MS)) return checkAborted(this.#signal);
    else if (isTurnOver()) await this.#pause();
    checkAborted(this.#signal);
  }

  /** Pauses in any case, before a step that takes long and cannot be divided. @throws CANCELLED */
  async yieldNow(): Promise<void> {
    if (workBeganAt === undefined) beginTurn();
    await this.#pause();
    checkAborted(this.#signal);
  }

  #pause(): Promise<void> {
    return new Promise((resume) => {
      pausedWork.push({ signal: this.#signal, resume });
    });
  }
}

/** Calls `each` with every item, with pauses between many of them. @throws CANCELLED */
export async function forEachYielding<T>(
  items: Iterable<T>,
  yielder: Yielder,
  each: (item: T) => void,
): Promise<void> {
  let count = 0;
  for (const item of items) {
    if (++count % STEPS_PER_YIELD_CHECK === 0) await yielder.yieldIfDue();
    each(item);
  }
}

/**
 * Returns the items sorted by `compare`; equal items keep their order. Long lists are sorted with pauses. The
 * time limit of the yielder is ignored. @throws CANCELLED
 */
export async function sortYielding<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  yielder: Yielder,
): Promise<readonly T[]> {
  if (items.length <= ITEMS_PER_SORTED_RUN) return [...items].sort(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_SORTED_RUN) {
    runs.push(items.slice(at, at + ITEMS_PER_SORTED_RUN).sort(compare));
    await yielder.yieldIfDue();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await mergeRunsYielding(runs[at] as T[], runs[at + 1] ?? [], compare, yielder));
    runs = merged;
  }
  return runs[0] as T[];
}

async function mergeRunsYielding<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  yielder: Yielder,
): Promise<T[]> {
  const merged: T[] = [];
  for (let a = 0, b = 0; a < first.length || b < second.length; ) {
    const takeFirst = b >= second.length || (a < first.length && compare(first[a] as T, second[b] as T) <= 0);
    if (merged.push((takeFirst ? first[a++] : second[b++]) as T) % ITEMS_PER_SORTED_RUN === 0)
      await yielder.yieldIfDue();
  }
  return merged;
}
