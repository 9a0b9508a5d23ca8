/**
 * What readers made of whole files, kept for the calls that follow: who pages through a
 * document asks for the same rendering again and again, and to make it takes seconds.
 *
 * A rendering belongs to the hash of the bytes it was made of. Whoever is given one has read
 * the file anew, so that it can never be older than the file, and whoever may not read the
 * file any more is refused as before.
 */
import type { Reader, Readers, Rendered } from "../readers/index.ts";

/** A rendering, and what it was made of. */
interface Kept {
  readonly rendered: Rendered;
  /** `sha256:…` of the file. */
  readonly hash: string;
  readonly reader: Reader | undefined;
}

/** The most renderings of a workspace, and the most UTF-16 units of all of them, about. */
const [MAX_RENDERINGS, MAX_LENGTH] = [32, 4 * 1024 * 1024];

/** The renderings of one workspace, the least recently used first. */
class Renderings {
  readonly #kept = new Map<string, Kept & { readonly length: number }>();
  #length = 0;

  /** What this reader made of a file of this content; undefined where that is not kept. */
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

  /** Keeps a rendering, in the place of those used least recently. `key`: one that `find` did not find. */
  keep(key: string, kept: Kept): void {
    const { text, data } = kept.rendered;
    const length = key.length + text.length + (data === undefined ? 0 : JSON.stringify(data).length);
    // Another call may have made it meanwhile.
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

/** The renderings of the workspace that has these readers. */
export function renderingsOf(readers: Readers): Renderings {
  let found = ofWorkspaces.get(readers);
  if (found === undefined) {
    found = new Renderings();
    ofWorkspaces.set(readers, found);
  }
  return found;
}
