/**
 * The paths that met a conflict of late. Conditions alone starve a writer of a busy file: each attempt is planned
 * on what another replica replaces meanwhile. A path that met a conflict is therefore locked for the next second.
 */

/** The time for which a path is locked after a conflict, in milliseconds. */
const CONTENDED_MS = 1000;
/** The number of paths at which those whose time is over are dropped. */
const MAX_PATHS = 1000;

/** Remembers which paths met a conflict. */
export class Contention {
  readonly #until = new Map<string, number>();

  /** Notes that a change of a path met a conflict. */
  note(path: string): void {
    const now = performance.now();
    if (this.#until.size >= MAX_PATHS)
      for (const [one, until] of this.#until) if (until <= now) this.#until.delete(one);
    this.#until.set(path, now + CONTENDED_MS);
  }

  /** Returns true when a path met a conflict within the last second. */
  isContended(path: string): boolean {
    return (this.#until.get(path) ?? 0) > performance.now();
  }
}
