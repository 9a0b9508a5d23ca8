/** The line hashes of contents that a caller has seen, by which a changed file tells which of its lines are new. */
import { engine } from "../../engine/current.ts";

/** The largest content whose lines are compared, in bytes. */
export const MAX_COMPARED_BYTES: number = 4 * 1024 * 1024;

/** Returns the line hashes of a content; null for one that is not text, and for one of too many bytes or lines. */
export async function lineHashesOf(
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  return bytes.length > MAX_COMPARED_BYTES ? null : engine().reading.lineHashes(bytes, { signal });
}

/** The most characters of all kept hashes, six for each line: 8 MB for each agent. Beyond it the oldest are dropped. */
const MAX_KEPT_CHARS = 8 * 1024 * 1024;

/** The line hashes of contents, by the hash of each. Kept in memory only: without them a change has no lines. */
export class LineHashes {
  readonly #kept = new Map<string, string | null>();
  #chars = 0;

  /** Keeps the line hashes of a content, as {@link lineHashesOf} returns them. */
  keep(hash: string, lines: string | null): void {
    this.#drop(hash);
    this.#kept.set(hash, lines);
    this.#chars += sizeOf(hash, lines);
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= MAX_KEPT_CHARS) break;
      this.#drop(oldest);
    }
  }

  /** Returns the line hashes of a content; null for one that has none, undefined where they are not kept. */
  of(hash: string): string | null | undefined {
    return this.#kept.get(hash);
  }

  #drop(hash: string): void {
    const lines = this.#kept.get(hash);
    if (lines === undefined) return;
    this.#kept.delete(hash);
    this.#chars -= sizeOf(hash, lines);
  }
}

const sizeOf = (hash: string, lines: string | null): number => hash.length + (lines?.length ?? 0);
