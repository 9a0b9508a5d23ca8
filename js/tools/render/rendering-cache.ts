/** The results of readers that a workspace keeps. */
import type { Reader, Rendered } from "../../readers/index.ts";

/** A cached result, and the file that it was made from. */
interface CachedRendering {
  readonly rendered: Rendered;
  /** The `sha256:` hash of the file. */
  readonly hash: string;
  readonly reader: Reader | undefined;
}

/**
 * The maximum number of cached results of a workspace, and their approximate maximum total size in UTF-16
 * units. Beyond it the least recently used are dropped.
 */
const [MAX_RENDERINGS, MAX_LENGTH] = [32, 4 * 1024 * 1024];

/** The cached results of one workspace, the least recently used first. */
export class RenderingCache {
  readonly #kept = new Map<string, CachedRendering & { readonly length: number }>();
  #length = 0;

  /** Returns the result of this reader for a file with this content; undefined when it is not cached. */
  find(key: string, hash: string, reader: Reader | undefined): Rendered | undefined {
    const found = this.#kept.get(key);
    if (found === undefined) return undefined;
    this.#kept.delete(key);
    if (found.hash === hash && found.reader === reader) {
      this.#kept.set(key, found);
      return found.rendered;
    }
    this.#length -= found.length;
    return undefined;
  }

  /**
   * Caches a result, and drops the least recently used ones beyond the limits. To be called after `find` has
   * returned undefined for the key.
   */
  keep(key: string, kept: CachedRendering): void {
    const { text, data } = kept.rendered;
    const length = key.length + text.length + (data === undefined ? 0 : JSON.stringify(data).length);
    // A result that is too large is not cached. Another call may have cached the same one meanwhile.
    if (length > MAX_LENGTH || this.#kept.has(key)) return;
    this.#kept.set(key, { ...kept, length });
    this.#length += length;
    for (const [oldest, { length: freed }] of this.#kept) {
      if (this.#kept.size <= MAX_RENDERINGS && this.#length <= MAX_LENGTH) break;
      this.#kept.delete(oldest);
      this.#length -= freed;
    }
  }
}
