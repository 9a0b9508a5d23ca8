/** How much the copies of storages in this process take, and how far they are behind, for metrics. */
import type { Version } from "../entry.ts";

/** The copies of storages that this process has open. */
export interface MirrorUse {
  /** The size of their files on the disk together, without their indexes. */
  readonly bytes: number;
  /**
   * The number of versions by which the copy that is furthest behind is older than the newest version that a search has
   * seen. A copy that is being filled is behind by all versions. 0 without a copy, and before the first search.
   */
  readonly lagVersions: number;
}

/** A copy that can be measured. */
interface MeasuredMirror {
  readonly use: MirrorUse;
}

/** The copies that are open. Each enters itself, and leaves when it is closed. */
export const openMirrors: Set<MeasuredMirror> = new Set();

/**
 * Returns the present use of the copies of storages on this machine by this process.
 *
 * @example
 * metrics.gauge("mirror_bytes", () => mirrorUse().bytes);
 * metrics.gauge("mirror_lag_versions", () => mirrorUse().lagVersions);
 */
export function mirrorUse(): MirrorUse {
  let [bytes, lagVersions] = [0, 0];
  for (const { use } of openMirrors) {
    bytes += use.bytes;
    lagVersions = Math.max(lagVersions, use.lagVersions);
  }
  return { bytes, lagVersions };
}

/** Returns the number of versions from one to a later one. Versions that are no numbers are one apart. */
export function versionsBetween(at: Version | undefined, newest: Version | undefined): number {
  if (newest === undefined || at === newest) return 0;
  const difference = Number(newest) - Number(at ?? 0);
  return Number.isFinite(difference) ? Math.max(0, difference) : 1;
}
