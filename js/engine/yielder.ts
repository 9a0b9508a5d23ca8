/**
 * Long work: divided into slices, so that other tasks on the event loop get their turns, and ended by a
 * signal.
 */
import { checkAborted, fromEngine } from "./errors.ts";
import type { CancelToken } from "./generated/binding.ts";

export type { CancelToken } from "./generated/binding.ts";

/** The time after which work pauses, in milliseconds. Work that checks rarely may hold the event loop longer. */
const MAX_BLOCKING_MS = 10;
/** The number of cheap steps, such as entries of a directory, between two calls of {@link Yielder.yieldIfDue}. */
export const ENTRIES_PER_CHECK = 256;
/** The number of items of a run, which is sorted without a pause and then merged with others. */
const ITEMS_PER_RUN = 2048;

/**
 * Runs a function in the next turn of the event loop. Read when the module is loaded, so that a test that
 * replaces timers does not stop calls.
 */
export const nextTurn: (run: () => void) => void =
  globalThis.setImmediate ?? ((run: () => void) => globalThis.setTimeout(run, 0));

/** Work that waits for a turn of the event loop. */
interface PausedWork {
  readonly signal: AbortSignal | undefined;
  resume(): void;
}

/**
 * When the work of the current turn of the event loop began; undefined while none is known. All work of
 * the thread shares it: calls that run in turns of their own would together hold the event loop for long.
 */
let workBegan: number | undefined;
/** Work that has paused, in the order in which it continues. */
let paused: PausedWork[] = [];

function beginTurn(): void {
  workBegan = performance.now();
  nextTurn(endTurn);
}

/** Continues the work that has waited longest, alone in its turn; cancelled work only ends. */
function endTurn(): void {
  workBegan = undefined;
  if (paused.length === 0) return;
  const cancelled = paused.filter(({ signal }) => signal?.aborted);
  if (cancelled.length > 0) paused = paused.filter(({ signal }) => !signal?.aborted);
  const next = paused.shift();
  if (next !== undefined) beginTurn();
  for (const { resume } of cancelled) resume();
  next?.resume();
}

/** Pauses long work so that other tasks get their turns, and knows its signal and its time limit. */
export class Yielder {
  readonly #signal: AbortSignal | undefined;
  readonly #end: number;

  constructor(query: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined }) {
    this.#signal = query.signal;
    this.#end =
      query.timeoutMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + query.timeoutMs;
    if (workBegan === undefined) beginTurn();
  }

  /** True when the time limit is reached. The caller ends its work; nothing else does. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets other tasks run when the work has held the event loop long enough. @throws CANCELLED */
  async yieldIfDue(): Promise<void> {
    if (workBegan === undefined) beginTurn();
    else if (performance.now() - workBegan >= MAX_BLOCKING_MS) await this.#pause();
    checkAborted(this.#signal);
  }

  /** Lets other tasks run before a long step that cannot be divided. @throws CANCELLED */
  async yieldNow(): Promise<void> {
    if (workBegan === undefined) beginTurn();
    await this.#pause();
    checkAborted(this.#signal);
  }

  #pause(): Promise<void> {
    return new Promise((resume) => {
      paused.push({ signal: this.#signal, resume });
    });
  }
}

/**
 * Returns the items sorted by `compare`, by a stable merge sort. More items than a run has are sorted
 * with pauses; the time limit does not end a sort. @throws CANCELLED
 */
export async function sortYielding<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  yielder: Yielder,
): Promise<readonly T[]> {
  if (items.length <= ITEMS_PER_RUN) return [...items].sort(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_RUN) {
    runs.push(items.slice(at, at + ITEMS_PER_RUN).sort(compare));
    await yielder.yieldIfDue();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at] as T[], runs[at + 1] ?? [], compare, yielder));
    runs = merged;
  }
  return runs[0] as T[];
}

async function merge<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  yielder: Yielder,
): Promise<T[]> {
  const merged: T[] = [];
  for (let a = 0, b = 0; a < first.length || b < second.length; ) {
    const takeFirst = b >= second.length || (a < first.length && compare(first[a] as T, second[b] as T) <= 0);
    if (merged.push((takeFirst ? first[a++] : second[b++]) as T) % ITEMS_PER_RUN === 0)
      await yielder.yieldIfDue();
  }
  return merged;
}

/**
 * Runs a call that changes nothing and that a signal may cancel; its errors become `FilewrightError`s.
 * It ends with the signal: the engine looks at its token only between directories or blocks, and stops there.
 */
export async function cancellable<T, Token extends Pick<CancelToken, "cancel">>(
  signal: AbortSignal | undefined,
  Cancel: new () => Token,
  call: (token: Token | undefined) => Promise<T>,
): Promise<T> {
  checkAborted(signal);
  if (signal === undefined) return call(undefined).catch(translated);
  const token = new Cancel();
  const onAbort = () => token.cancel();
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const result = await untilAborted(signal, call(token));
    // The signal may abort between the result and this line.
    checkAborted(signal);
    return result;
  } catch (error) {
    throw fromEngine(error);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Rejects when the signal aborts, without waiting for the work: a thread that cannot be stopped finishes it,
 * and its result is dropped. @throws CANCELLED
 */
export function untilAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      try {
        checkAborted(signal);
      } catch (error) {
        reject(error as Error);
      }
    };
    signal.addEventListener("abort", onAbort, { once: true });
    onAbort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** Throws an error of the engine as a `FilewrightError`. */
export function translated(error: unknown): never {
  throw fromEngine(error);
}
