// The types of a deep check (many generated cases), and the seeded random numbers from which its
// cases are made.
import { randomInt } from "node:crypto";

/** The maximum time that CI spends on the cases of one kind, in seconds, beside that for its servers. The scheduled workflow runs all of them. */
export const MAX_SHARE_SECONDS = 1;

/** @returns a seed that no run had before */
export const newSeed = () => randomInt(1, 2 ** 31);

/**
 * What one run of a kind is given. A run stops at `count` cases or when `isOver()`, whichever is first. The time begins
 * at the first call of `isOver` or `secondsLeft`, so a kind calls neither before it is ready for cases.
 * @typedef {{
 *   seed: number,
 *   count: number,
 *   operand: string | undefined,
 *   isOver: () => boolean,
 *   secondsLeft: () => number,
 * }} DeepRun
 */

/**
 * One kind of deep check: the default export of a file in test/deep.
 *
 * `count` is the number of cases of a whole run, `share` the most that CI makes (0: CI leaves it out).
 * `takes` names what has to be given after the kind; `operand` is that.
 * `run` answers with the cases that were made and one line for each failure, with what repeats it.
 * @typedef {{
 *   description: string,
 *   count: number,
 *   share: number,
 *   takes?: string,
 *   run: (run: DeepRun) => Promise<{ cases: number, failures: string[] }>
 * }} DeepKind
 */

/**
 * Returns the clock of a run that ends after some seconds. They begin when the kind looks first, after it has started its
 * servers, so that a short share has cases too.
 *
 * @param {number} seconds
 * @returns {Pick<DeepRun, "isOver" | "secondsLeft">}
 */
export function timeFromFirstLook(seconds) {
  let deadline;
  const secondsLeft = () => {
    deadline ??= performance.now() + seconds * 1000;
    return (deadline - performance.now()) / 1000;
  };
  return { isOver: () => secondsLeft() <= 0, secondsLeft };
}

/**
 * A random generator that gives the same numbers for the same seed (mulberry32, public domain, by Tommy Ettinger).
 *
 * @param {number} seed
 */
export function seededRandom(seed) {
  let state = seed >>> 0;
  /** @returns a number from 0 (inclusive) to 1 (exclusive) */
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  /** @returns an integer from 0 to `below - 1` */
  const below = (limit) => Math.floor(next() * limit);
  return {
    next,
    below,
    /** @returns whether an event of this probability happens */
    chance: (probability) => next() < probability,
    /** @template T @param {readonly T[]} list @returns {T} */
    pick: (list) => list[below(list.length)],
    /** @template T @param {readonly T[]} list @returns {T[]} the items in another order */
    shuffle: (list) => {
      const copy = [...list];
      for (let index = copy.length - 1; index > 0; index--) {
        const other = below(index + 1);
        [copy[index], copy[other]] = [copy[other], copy[index]];
      }
      return copy;
    },
  };
}
