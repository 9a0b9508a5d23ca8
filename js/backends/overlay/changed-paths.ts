/**
 * The changed paths of a tree that lies over another one, with one value for each: of an overlay, and of a call over a
 * storage. The map is copied by the first change after a snapshot, so a snapshot costs nothing and stays as it is.
 */
import { isWithin, parentOf } from "../paths.ts";

/** The changed paths and their values. */
export class ChangedPaths<T> {
  #values = new Map<string, T>();
  #isShared = false;

  get size(): number {
    return this.#values.size;
  }

  get(path: string): T | undefined {
    return this.#values.get(path);
  }

  /** Sets the value of a path; undefined forgets it. */
  set(path: string, value: T | undefined): void {
    if (this.#isShared) this.restore(new Map(this.#values));
    this.#isShared = false;
    if (value === undefined) this.#values.delete(path);
    else this.#values.set(path, value);
  }

  /** Returns the values of this moment. Later changes do not show in them. */
  snapshot(): ReadonlyMap<string, T> {
    this.#isShared = true;
    return this.#values;
  }

  /** Replaces all values by those of a snapshot. */
  restore(values: ReadonlyMap<string, T>): void {
    this.#values = values as Map<string, T>;
    this.#isShared = true;
  }

  /** Returns the nearest changed path at or above one, of those that count. */
  nearest(
    path: string,
    counts: (value: T) => boolean = () => true,
  ): readonly [at: string, value: T] | undefined {
    for (let at = path; ; at = parentOf(at)) {
      const value = this.#values.get(at);
      if (value !== undefined && counts(value)) return [at, value];
      if (at === "/") return undefined;
    }
  }

  /** Yields the changed paths below one. */
  *below(path: string): Generator<readonly [at: string, value: T]> {
    for (const one of this.#values) if (one[0] !== path && isWithin(one[0], path)) yield one;
  }
}
