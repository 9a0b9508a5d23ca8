/**
 * The revisions of the Model Context Protocol that are agreed by `initialize`, for every server of this
 * package. Later ones have no handshake: each request names its revision.
 */

/** The revisions, newest first: the first one answers a client that names an unknown one. */
export const REVISIONS: readonly [latest: string, ...older: string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** Returns the revision that answers `initialize`: the requested one if it is known, else the newest. */
export function revisionFor(requested: unknown): string {
  return REVISIONS.find((revision) => revision === requested) ?? REVISIONS[0];
}
