/**
 * Sends many contents to the search worker with one message, because one message per content would take
 * longer than the search.
 *
 * The caller still takes the hits of one content after the other. The hits of the later ones have only
 * arrived before.
 */
import type { TextHits } from "../../engine/search.ts";

/** The maximum bytes of one message: copying it takes the page a millisecond or two. */
const MAX_BATCH_BYTES = 1 << 20;
const MAX_CONTENTS = 256;

/** Hits that are fetched before the caller takes them. */
export class HitPrefetcher {
  readonly #hits = new Map<Uint8Array, TextHits>();

  /**
   * Returns the hits of a content. When they are not fetched yet, the following contents are searched with
   * it.
   */
  async take(
    content: Uint8Array,
    following: () => Iterable<Uint8Array>,
    search: (contents: readonly Uint8Array[]) => Promise<readonly TextHits[]>,
  ): Promise<TextHits> {
    if (!this.#hits.has(content)) {
      const contents = together(content, following());
      const found = await search(contents);
      contents.forEach((one, at) => void this.#hits.set(one, found[at] as TextHits));
    }
    const hits = this.#hits.get(content) as TextHits;
    this.#hits.delete(content);
    return hits;
  }
}

function together(first: Uint8Array, following: Iterable<Uint8Array>): readonly Uint8Array[] {
  const contents = [first];
  let bytes = first.length;
  for (const content of following) {
    bytes += content.length;
    if (bytes > MAX_BATCH_BYTES || contents.length === MAX_CONTENTS) break;
    contents.push(content);
  }
  return contents;
}
