/**
 * The compilation of queries: a cache of compiled ones, and which take longer to compile than a page may
 * wait.
 *
 * Compiling a query takes up to ten milliseconds, and paging through hits repeats the same one. On
 * WebAssembly a Unicode class takes 10 ms and more for each time it is written or repeated; everything
 * else in a pattern of ordinary length takes less than 2 ms.
 */
import { EMPTY_BYTES } from "./wire/bytes.ts";
import type { Packed } from "./wire/unpack.ts";
import type { TextQuery } from "./search-types.ts";

/** The maximum number of cached queries: each may use megabytes. */
const MAX_CACHED_QUERIES = 4;

interface RawQueryHandle {
  search(content: Uint8Array, limits: string): Packed;
}

/** Compiled queries by their options; the least recently used one is evicted first. */
export class QueryCache<Compiled> {
  readonly #queries = new Map<string, { readonly raw: RawQueryHandle; readonly compiled: Compiled }>();

  /** Returns the cached query of these options, if it still works. */
  get(options: string): Compiled | undefined {
    const found = this.#queries.get(options);
    if (found === undefined) return undefined;
    this.#queries.delete(options);
    try {
      // After a trap the engine is a new instance, to which this query does not belong.
      found.raw.search(EMPTY_BYTES, "{}");
    } catch {
      return undefined;
    }
    this.#queries.set(options, found);
    return found.compiled;
  }

  /** Caches a query and evicts the least recently used one. */
  add(options: string, raw: RawQueryHandle, compiled: Compiled): void {
    for (const old of this.#queries.keys()) {
      if (this.#queries.size < MAX_CACHED_QUERIES) break;
      this.#queries.delete(old);
    }
    this.#queries.set(options, { raw, compiled });
  }
}

/** The length above which a pattern may be slow to compile, whatever it contains (UTF-16 units). */
const MIN_LONG_PATTERN = 256;
/** The length above which a pattern is slow to parse, too. */
const MAX_PARSED_LENGTH = 4096;
/** Unicode classes, and counted repetitions, which are expanded. */
const EXPENSIVE_SYNTAX = /\\[wdp]|\{\d/i;
/** Syntax other than plain characters; a few of these are fast. */
const CLASS_SYNTAX = /\\.|\.|\[\^/g;
const MAX_CHEAP_CLASSES = 16;

/**
 * Returns true for a query to compile in a worker. It depends only on the query's text, so that the same
 * query is always handled the same way.
 */
export function isExpensive(query: TextQuery): boolean {
  const patterns = patternsOf(query);
  if (lengthOf(patterns) > MIN_LONG_PATTERN) return true;
  return query.regex !== false && patterns.some(isCostly);
}

function isCostly(pattern: string): boolean {
  return EXPENSIVE_SYNTAX.test(pattern) || (pattern.match(CLASS_SYNTAX)?.length ?? 0) > MAX_CHEAP_CLASSES;
}

/** Returns true for a query that is at least fast to parse, so that the index can be queried. */
export function isCheapToParse(query: TextQuery): boolean {
  return lengthOf(patternsOf(query)) <= MAX_PARSED_LENGTH;
}

function patternsOf({ pattern, patterns }: TextQuery): readonly string[] {
  return patterns !== undefined && patterns.length > 0 ? patterns : [pattern ?? ""];
}

function lengthOf(patterns: readonly string[]): number {
  return patterns.reduce((sum, pattern) => sum + pattern.length, 0);
}
