/**
 * Compares two lists of tokens with the results of jsdiff: the fewest added and removed tokens, and among
 * several such results the one that removes before it adds.
 *
 * The search takes time quadratic in the number of changes. Beyond `MAX_SEARCHED_EDITS` changes the engine
 * compares, whose time is bounded.
 */
import { textEngine } from "../engine/current.ts";

/** The maximum number of changes for which the fewest are searched. Beyond it the engine compares. */
const MAX_SEARCHED_EDITS = 1000;

/** A run of consecutive tokens with the same kind of change. */
export interface ChangedRun {
  readonly fate: "kept" | "added" | "removed";
  readonly count: number;
}

/** The limits of the comparison. */
export interface Bounds {
  /** The maximum number of added and removed tokens. If there are more, the result is undefined. */
  readonly maxEditLength?: number | undefined;
  /** The maximum time in milliseconds. If the comparison takes longer, the result is undefined. */
  readonly timeout?: number | undefined;
}

interface LinkedTokenRun extends ChangedRun {
  readonly before: LinkedTokenRun | undefined;
}

/**
 * The progress of the search on one diagonal: `at` is the number of tokens of the old list that have been
 * passed.
 */
interface EditPath {
  readonly at: number;
  readonly run: LinkedTokenRun | undefined;
}

/** Returns true when a token of the old list equals one of the new list. */
export type IsSame<Token> = (old: Token, made: Token) => boolean;

/** Returns the runs of tokens that lead from one list to the other; undefined when a limit is exceeded. */
export function changedRunsBetween<Token>(
  olds: readonly Token[],
  news: readonly Token[],
  { maxEditLength = Infinity, timeout = Infinity }: Bounds,
  isSame: IsSame<Token> = (old, made) => old === made,
): ChangedRun[] | undefined {
  const until = Date.now() + timeout;
  const most = Math.min(olds.length + news.length, maxEditLength);
  const found = findFewestEdits(olds, news, isSame, Math.min(most, MAX_SEARCHED_EDITS), until);
  if (found !== undefined || most <= MAX_SEARCHED_EDITS || Date.now() > until) return found;
  const many = compareByEngine(olds, news, isSame);
  return editCount(many) <= maxEditLength ? many : undefined;
}

/** Returns the number of added and removed tokens. */
export function editCount(list: readonly ChangedRun[]): number {
  return list.reduce((sum, { fate, count }) => sum + (fate === "kept" ? 0 : count), 0);
}

/**
 * Searches by Myers' greedy algorithm, for an increasing number of edits. It keeps one path for each diagonal
 * (number of old tokens minus number of new ones).
 */
function findFewestEdits<Token>(
  olds: readonly Token[],
  news: readonly Token[],
  isSame: IsSame<Token>,
  most: number,
  until: number,
): ChangedRun[] | undefined {
  const ways = new Map<number, EditPath>();
  const follow = (at: number, diagonal: number, run: LinkedTokenRun | undefined): EditPath => {
    let to = at;
    const ends = Math.min(olds.length, news.length + diagonal);
    while (to < ends && isSame(olds[to] as Token, news[to - diagonal] as Token)) to++;
    return { at: to, run: to === at ? run : { fate: "kept", count: to - at, before: run } };
  };
  const isEnd = (way: EditPath, diagonal: number): boolean =>
    way.at >= olds.length && way.at - diagonal >= news.length;
  const start = follow(0, 0, undefined);
  if (isEnd(start, 0)) return runsInOrder(start.run);
  ways.set(0, start);
  // Where one list has ended, only tokens of the other remain, so diagonals further out are not searched.
  let [lowest, highest] = [-Infinity, Infinity];
  for (let edit = 1; edit <= most && Date.now() <= until; edit++) {
    for (let k = Math.max(lowest, -edit); k <= Math.min(highest, edit); k += 2) {
      const [less, more] = [ways.get(k - 1), ways.get(k + 1)];
      ways.delete(k - 1);
      const canAdd = more !== undefined && more.at - k > 0 && more.at - k <= news.length;
      const canRemove = less !== undefined && less.at < olds.length;
      if (!canAdd && !canRemove) {
        ways.delete(k);
        continue;
      }
      const adds = canAdd && (!canRemove || less.at < more.at);
      const base = (adds ? more : less) as EditPath;
      const way = follow(adds ? base.at : base.at + 1, k, extendRun(adds ? "added" : "removed", base.run));
      if (isEnd(way, k)) return runsInOrder(way.run);
      ways.set(k, way);
      if (way.at >= olds.length) highest = Math.min(highest, k - 1);
      if (way.at - k >= news.length) lowest = Math.max(lowest, k + 1);
    }
  }
  return undefined;
}

function extendRun(fate: LinkedTokenRun["fate"], before: LinkedTokenRun | undefined): LinkedTokenRun {
  return before?.fate === fate
    ? { fate, count: before.count + 1, before: before.before }
    : { fate, count: 1, before };
}

function runsInOrder(last: LinkedTokenRun | undefined): ChangedRun[] {
  const list: ChangedRun[] = [];
  for (let run = last; run !== undefined; run = run.before) list.push({ fate: run.fate, count: run.count });
  return list.reverse();
}

/**
 * Compares by the engine, which compares lines: each token becomes a line that contains its number. A token
 * of the new list has the number of the first equal token of the old list.
 */
function compareByEngine<Token>(
  olds: readonly Token[],
  news: readonly Token[],
  isSame: IsSame<Token>,
): ChangedRun[] {
  const numbers = new Map<Token, number>();
  const known: Token[] = [];
  const numbered = (tokens: readonly Token[], find: (token: Token) => number): string => {
    let text = "";
    for (const token of tokens) {
      let number = numbers.get(token);
      if (number === undefined) {
        number = find(token);
        if (number === -1) number = known.push(token) - 1;
        numbers.set(token, number);
      }
      text += `${number}\n`;
    }
    return text;
  };
  const before = numbered(olds, () => -1);
  const count = known.length;
  const after = numbered(news, (token) => known.findIndex((old, at) => at < count && isSame(old, token)));
  const { hunks } = textEngine().diff(before, after, {
    context: 0,
    algorithm: "myers",
    lineEnds: "raw",
  });
  return runsOfHunks(hunks, olds.length);
}

/** Converts hunks without context lines to runs. */
export function runsOfHunks(
  hunks: readonly {
    readonly oldStart: number;
    readonly oldLines: number;
    readonly newLines: number;
  }[],
  oldCount: number,
): ChangedRun[] {
  const list: ChangedRun[] = [];
  const push = (fate: ChangedRun["fate"], count: number): void => {
    if (count > 0) list.push({ fate, count });
  };
  let at = 0;
  for (const { oldStart, oldLines, newLines } of hunks) {
    // A side without lines has the number of the line before it.
    const from = oldLines === 0 ? oldStart : oldStart - 1;
    push("kept", from - at);
    push("removed", oldLines);
    push("added", newLines);
    at = from + oldLines;
  }
  push("kept", oldCount - at);
  return list;
}
