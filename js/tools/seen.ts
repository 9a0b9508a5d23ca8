/**
 * What the caller has seen of files: the version of each when it was last read
 * or written in this workspace. It only serves to say, where an edit does not
 * fit, whether the file has changed since.
 */

/** The versions that a caller has seen. */
export interface Seen {
  /** Notes what was read or written; a backend without versions notes nothing. */
  note(path: string, version: string | undefined): void;
  /** Whether the file is another than was seen; undefined where it was not. */
  changed(path: string, version: string): boolean | undefined;
}

/** Files remembered; beyond that the one noted longest ago is forgotten. */
const REMEMBERED = 10_000;

/** Nothing seen yet. */
export function makeSeen(): Seen {
  const versions = new Map<string, string>();
  return Object.freeze({
    note(path: string, version: string | undefined): void {
      versions.delete(path);
      if (version === undefined) return;
      versions.set(path, version);
      if (versions.size > REMEMBERED) versions.delete(versions.keys().next().value as string);
    },
    changed(path: string, version: string): boolean | undefined {
      const seen = versions.get(path);
      return seen === undefined ? undefined : seen !== version;
    },
  });
}
