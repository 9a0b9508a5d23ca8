/**
 * The clean-up list of a workspace or fork: opened files, a use of the journal, searches. Each part is added as soon as
 * it is opened. A failed opening of a workspace and every close run the list.
 */

/** Ends a part of a workspace. */
type End = () => unknown;

/** The parts that have been made and not yet ended. */
export class MadeParts {
  readonly #ends = new Set<End>();

  /**
   * Adds the function that ends a part. Returns a function that ends this part early, if it has not ended yet. The
   * wrapper makes each entry distinct, also if the same function is added twice.
   */
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
