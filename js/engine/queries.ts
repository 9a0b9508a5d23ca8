/**
 * Speeds up the compilation of queries: a cache of compiled ones, and a test which queries would block the
 * event loop for too long and are compiled in a worker.
 *
 * Compiling a query takes up to ten milliseconds, and each page of a result needs the same one. In
 * WebAssembly each use of a Unicode class (such as `\w`), and each repetition of one, takes 10 ms or more;
 * everything else in a pattern of ordinary length takes less than 2 ms.
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

  /** Returns the cached query for these options; undefined if there is none, or if it no longer works. */
  get(options: string): Compiled | undefined {
    const found = this.#queries.get(options);
    if (found === undefined) return undefined;
    this.#queries.delete(options);
    try {
      // After a trap the WebAssembly module has a new instance, in which this query does not exist.
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

/** The length in UTF-16 units above which a pattern is treated as slow to compile, whatever it contains. */
const MAX_SHORT_PATTERN_LENGTH = 256;
/** The length in UTF-16 units above which a pattern is slow even to parse. */
const MAX_CHEAPLY_PARSED_LENGTH = 4096;
/** Matches Unicode classes such as `\w`, and counted repetitions, which the compiler expands. */
const EXPENSIVE_SYNTAX = /\\[wdp]|\{\d/i;
/** Matches syntax that stands for more than one character. Up to `MAX_CHEAP_CLASSES` of these are fast. */
const CHARACTER_CLASS_SYNTAX = /\\.|\.|\[\^/g;
const MAX_CHEAP_CLASSES = 16;

/**
 * Returns true for a query that should be compiled in a worker. Depends only on the query, so that the same
 * query is always handled in the same way.
 */
export function isExpensiveQuery(query: TextQuery): boolean {
  const patterns = patternsOfQuery(query);
  if (totalLengthOf(patterns) > MAX_SHORT_PATTERN_LENGTH) return true;
  return query.regex !== false && patterns.some(isExpensivePattern);
}

function isExpensivePattern(pattern: string): boolean {
  return (
    EXPENSIVE_SYNTAX.test(pattern) || (pattern.match(CHARACTER_CLASS_SYNTAX)?.length ?? 0) > MAX_CHEAP_CLASSES
  );
}

/**
 * Returns true for a query that is fast to parse, though not to compile: the index needs only the parsed
 * query.
 */
export function isCheapToParse(query: TextQuery): boolean {
  return totalLengthOf(patternsOfQuery(query)) <= MAX_CHEAPLY_PARSED_LENGTH;
}

function patternsOfQuery({ pattern, patterns }: TextQuery): readonly string[] {
  return patterns !== undefined && patterns.length > 0 ? patterns : [pattern ?? ""];
}

function totalLengthOf(patterns: readonly string[]): number {
  return patterns.reduce((sum, pattern) => sum + pattern.length, 0);
}
