/**
 * The queries that were compiled last: to compile one takes up to ten
 * milliseconds, and who pages through hits asks the same one again.
 */
import { EMPTY_BYTES } from "./bytes.ts";
import type { Packed } from "./unpack.ts";

/** How many there are: each may hold megabytes. */
const MOST = 4;

interface Raw {
  search(content: Uint8Array, limits: string): Packed;
}

/** Compiled queries by their options; the one used last is the last to go. */
export class KeptQueries<Compiled> {
  readonly #queries = new Map<string, { readonly raw: Raw; readonly compiled: Compiled }>();

  /** The query of these options, where it is kept and still works. */
  get(options: string): Compiled | undefined {
    const found = this.#queries.get(options);
    if (found === undefined) return undefined;
    this.#queries.delete(options);
    try {
      // An engine that broke down meanwhile is a new one, of which this is none.
      found.raw.search(EMPTY_BYTES, "{}");
    } catch {
      return undefined;
    }
    this.#queries.set(options, found);
    return found.compiled;
  }

  /** Keeps a query, in place of the one that was not asked for the longest. */
  add(options: string, raw: Raw, compiled: Compiled): void {
    for (const old of this.#queries.keys()) {
      if (this.#queries.size < MOST) break;
      this.#queries.delete(old);
    }
    this.#queries.set(options, { raw, compiled });
  }
}
