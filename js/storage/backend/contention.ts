/**
 * The paths that met a conflict of late. Conditions alone starve a writer of a busy file: each attempt is planned
 * on what another replica replaces meanwhile. A path that met a conflict is therefore locked for the next second.
 */

import type { Entry } from "../storage.ts";

/** The time for which a path is locked after a conflict, in milliseconds. */
const CONTENDED_MS = 1000;
/** The number of paths at which those whose time is over are dropped. */
const MAX_PATHS = 1000;

/** A state that this process has committed. */
interface CommittedState {
  /** Null for a path that was removed. */
  readonly version: string | null;
  readonly at: number;
}

/** Remembers which paths met a conflict, and what this process has committed of late. */
export class Contention {
  readonly #until = new Map<string, number>();
  /** The last commits of this process by path, the oldest first. */
  readonly #committed = new Map<string, CommittedState>();

  /** Notes what a commit of this process made. */
  committed(entries: readonly Entry[]): void {
    const at = performance.now();
    for (const { path, type, version } of entries) {
      this.#committed.delete(path);
      this.#committed.set(path, { version: type === "gone" ? null : version, at });
    }
    for (const path of this.#committed.keys()) {
      if (this.#committed.size <= MAX_PATHS) break;
      this.#committed.delete(path);
    }
  }

  /** Returns true when this process has committed another version of a path after a time. */
  isNewer(path: string, version: string | null, since: number): boolean {
    const last = this.#committed.get(path);
    return last !== undefined && last.at > since && last.version !== version;
  }

  /** Notes that a change of a path met a conflict. */
  note(path: string): void {
    const now = performance.now();
    if (this.#until.size >= MAX_PATHS)
      for (const [one, until] of this.#until) if (until <= now) this.#until.delete(one);
    this.#until.set(path, now + CONTENDED_MS);
  }

  /** Notes a path as contended when another process has changed it since the last commit of this one. */
  found(path: string, version: string | null): void {
    const last = this.#committed.get(path);
    if (last !== undefined && last.version !== version) this.note(path);
  }

  /** True when a path may have met a conflict within the last second. */
  get isAny(): boolean {
    return this.#until.size > 0;
  }

  /** Returns true when a path met a conflict within the last second. */
  isContended(path: string): boolean {
    return (this.#until.get(path) ?? 0) > performance.now();
  }
}
