/** The revisions of the Model Context Protocol that begin with a handshake, for every server of this package. */

/** The revisions, newest first. */
export const REVISIONS: readonly [latest: string, ...older: string[]] = [
  "2025-11-25",
  "2025-06-18",
  "2025-03-26",
  "2024-11-05",
  "2024-10-07",
];

/** Returns the revision with which a handshake is answered: the one that the client names, if it is known. */
export function revisionFor(named: unknown): string {
  return REVISIONS.find((revision) => revision === named) ?? REVISIONS[0];
}
