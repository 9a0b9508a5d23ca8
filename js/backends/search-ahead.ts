/**
 * Contents that are searched in a worker, many with one message: one by one the
 * messages would take longer than the search.
 *
 * What is asked for one after the other stays so; only the answers are there before.
 */
import type { TextHits } from "../engine/search.ts";

/** The maximum bytes of one message: copying it takes the page a millisecond or two. */
const MOST_BYTES = 1 << 20;
const MOST_CONTENTS = 256;

/** Answers that are there before they are asked for. */
export class Ahead {
  readonly #hits = new Map<Uint8Array, TextHits>();

  /** The hits of a content; those of the contents that follow are asked for with them. */
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
    if (bytes > MOST_BYTES || contents.length === MOST_CONTENTS) break;
    contents.push(content);
  }
  return contents;
}
