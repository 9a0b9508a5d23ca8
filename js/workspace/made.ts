/**
 * The parts of a workspace that have an end: opened files, a use of the journal, searches. Each is noted as soon as it
 * stands, so that an opening that fails leaves none of them behind, and closing ends the same list.
 */

/** Ends a part of a workspace. */
type End = () => unknown;

/** The parts that have been made and not yet ended. */
export class MadeParts {
  readonly #ends = new Set<End>();

  /** Notes how a part ends. Returns the function that ends it before the others. */
  add(end: End): () => Promise<void> {
    const own: End = () => end();
    this.#ends.add(own);
    return async () => {
      if (this.#ends.delete(own)) await own();
    };
  }

  /** Ends all parts, the last one first. @throws the first error of a part, after the others have ended */
  async end(): Promise<void> {
    const ends = [...this.#ends].reverse();
    this.#ends.clear();
    const errors: unknown[] = [];
    for (const end of ends) {
      try {
        await end();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
