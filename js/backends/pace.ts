/** Divides long work into slices, so that other tasks on the event loop get their turns. */
import { FilewrightError } from "../engine/errors.ts";

/** The longest time that work may hold the event loop without a pause, in milliseconds. */
const SLICE_MS = 10;
/** The number of items that are sorted, or merged, without a pause. */
const RUN = 2048;

/** Pauses long work when its slice is over, and checks its signal and its time limit. */
export class Pace {
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
    if (now - this.#yielded >= SLICE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      this.#yielded = performance.now();
    }
    if (this.#signal?.aborted) throw new FilewrightError("CANCELLED", "the call was cancelled");
    return now >= this.#end;
  }
}

/** Returns the items sorted by `compare`; the sort is stable. @throws CANCELLED */
export async function sortPaced<T>(
  items: readonly T[],
  compare: (a: T, b: T) => number,
  pace: Pace,
): Promise<readonly T[]> {
  if (items.length <= RUN) return [...items].sort(compare);
  let runs: T[][] = [];
  for (let at = 0; at < items.length; at += RUN) {
    runs.push(items.slice(at, at + RUN).sort(compare));
    await pace.isOver();
  }
  while (runs.length > 1) {
    const merged: T[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(await merge(runs[at] as T[], runs[at + 1] ?? [], compare, pace));
    runs = merged;
  }
  return runs[0] as T[];
}

async function merge<T>(
  first: readonly T[],
  second: readonly T[],
  compare: (a: T, b: T) => number,
  pace: Pace,
): Promise<T[]> {
  const merged: T[] = [];
  for (let a = 0, b = 0; a < first.length || b < second.length; ) {
    const takeFirst = b >= second.length || (a < first.length && compare(first[a] as T, second[b] as T) <= 0);
    if (merged.push((takeFirst ? first[a++] : second[b++]) as T) % RUN === 0) await pace.isOver();
  }
  return merged;
}
