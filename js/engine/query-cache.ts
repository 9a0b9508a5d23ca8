/**
 * A cache of compiled queries: compiling one takes up to ten milliseconds, and paging through hits
 * repeats the same query.
 */
import { EMPTY_BYTES } from "./wire/bytes.ts";
import type { Packed } from "./wire/unpack.ts";

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
