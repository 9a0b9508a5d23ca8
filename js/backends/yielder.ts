/** Divides long work into slices, so that other tasks on the event loop get their turns. */
import { checkAborted } from "../engine/errors.ts";

/** The longest time that work may hold the event loop without a pause, in milliseconds. */
const MAX_BLOCKING_MS = 10;
/** The number of entries between two calls of {@link Yielder.isOver}, where each takes little time. */
export const ENTRIES_PER_CHECK = 256;
/** The number of items that are sorted, or merged, without a pause. */
const ITEMS_PER_RUN = 2048;

/** Pauses long work when its slice is over, and checks its signal and its time limit. */
export class Yielder {
  readonly #signal: AbortSignal | undefined;
  readonly #end: number;
  #yielded = performance.now();

  constructor(query: { readonly signal?: AbortSignal | undefined; readonly timeoutMs?: number | undefined }) {
    this.#signal = query.signal;
    this.#end = performance.now() + (query.timeoutMs ?? Number.POSITIVE_INFINITY);
  }

  /** Returns true when the time limit is reached. @throws CANCELLED */
  async isOver(): Promise<boolean> {
    const now = performance.now();
    if (now - this.#yielded >= MAX_BLOCKING_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#yielded = performance.now();
    }
    checkAborted(this.#signal);
    return now >= this.#end;
  }
}

/** Returns the items sorted by `compare`; the sort is stable. @throws CANCELLED */
export async function sortYielding<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  yielder: Yielder,
): Promise<readonly T[]> {
  if (items.length <= ITEMS_PER_RUN) return [...items].sort(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += ITEMS_PER_RUN) {
    runs.push(items.slice(at, at + ITEMS_PER_RUN).sort(compare));
    await yielder.isOver();
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
      await yielder.isOver();
  }
  return merged;
}
