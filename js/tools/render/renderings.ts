/**
 * A cache of rendered files for later calls: paging through a document requests the same rendering
 * again and again, and producing it takes seconds.
 *
 * A rendering is keyed by the hash of its file's bytes. Every lookup reads the file first, so that
 * a rendering is never older than the file, and a caller who may not read the file is refused as
 * before.
 */
import type { Reader, Readers, Rendered } from "../../readers/index.ts";

/** A rendering, with the identity of its source. */
interface CachedRendering {
  readonly rendered: Rendered;
  /** `sha256:…` of the file. */
  readonly hash: string;
  readonly reader: Reader | undefined;
}

/** The maximum number of renderings of a workspace, and their approximate total size in UTF-16 units. */
const [MAX_RENDERINGS, MAX_LENGTH] = [32, 4 * 1024 * 1024];

/** The renderings of one workspace, the least recently used first. */
class Renderings {
  readonly #kept = new Map<string, CachedRendering & { readonly length: number }>();
  #length = 0;

  /** Returns this reader's rendering of a file with this content; undefined when it is not cached. */
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

  /** Caches a rendering and evicts those used least recently. `key` is one that `find` did not find. */
  keep(key: string, kept: CachedRendering): void {
    const { text, data } = kept.rendered;
    const length = key.length + text.length + (data === undefined ? 0 : JSON.stringify(data).length);
    // Another call may have cached it meanwhile.
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

const ofWorkspaces = new WeakMap<Readers, Renderings>();

/** Returns the renderings of the workspace with these readers. */
export function renderingsOf(readers: Readers): Renderings {
  let found = ofWorkspaces.get(readers);
  if (found === undefined) {
    found = new Renderings();
    ofWorkspaces.set(readers, found);
  }
  return found;
}
