/**
 * Which queries take longer to compile than a page may wait: told by how they are
 * written, so that the same query is always dealt with in the same way.
 *
 * On WebAssembly a class of Unicode takes 10 ms and more, once for each time that
 * it is written or repeated; everything else in a pattern of ordinary length below 2.
 */
import type { TextQuery } from "./search-types.ts";

/** Longer patterns may take long, whatever they consist of (UTF-16 units). */
const LONG = 256;
/** Longer ones take long to be parsed, too. */
const VERY_LONG = 4096;
/** Classes of Unicode, and repetitions that are counted: each is spelt out. */
const COSTLY = /\\[wdp]|\{\d/i;
/** What is no plain character, of which few take no time. */
const CLASSES = /\\.|\.|\[\^/g;
const FEW = 16;

/** Whether a query is one to be compiled in a worker. */
export function isHeavy(query: TextQuery): boolean {
  const patterns = patternsOf(query);
  if (lengthOf(patterns) > LONG) return true;
  return query.regex !== false && patterns.some(isCostly);
}

function isCostly(pattern: string): boolean {
  return COSTLY.test(pattern) || (pattern.match(CLASSES)?.length ?? 0) > FEW;
}

/** Whether it can be parsed on the page at least, for its index to be asked. */
export function isParsedSoon(query: TextQuery): boolean {
  return lengthOf(patternsOf(query)) <= VERY_LONG;
}

function patternsOf({ pattern, patterns }: TextQuery): readonly string[] {
  return patterns !== undefined && patterns.length > 0 ? patterns : [pattern ?? ""];
}

function lengthOf(patterns: readonly string[]): number {
  return patterns.reduce((sum, pattern) => sum + pattern.length, 0);
}
