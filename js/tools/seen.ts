/**
 * What the caller has seen of files: the version of each when it was last read
 * or written in this workspace, and the hash of its content where that is known.
 * It only serves to say, where an edit does not fit, whether the file has
 * changed since.
 */
import { engine } from "../engine/current.ts";

/** The states of files that a caller has seen. */
export interface Seen {
  /** Notes what was read or written; a backend without versions notes nothing. */
  note(path: string, version: string | undefined, hash?: string | null): void;
  /**
   * Whether the file is another than was seen; undefined where it was not. Equal
   * content is no change, though its times or its place on the disk are others.
   */
  changed(path: string, now: { readonly version: string; readonly bytes: Uint8Array }): boolean | undefined;
}

/** Files remembered; beyond that the one noted longest ago is forgotten. */
const REMEMBERED = 10_000;

/** Nothing seen yet. */
export function makeSeen(): Seen {
  const states = new Map<string, { readonly version: string; readonly hash: string | null }>();
  return Object.freeze({
    note(path: string, version: string | undefined, hash: string | null = null): void {
      states.delete(path);
      if (version === undefined) return;
      states.set(path, { version, hash });
      if (states.size > REMEMBERED) states.delete(states.keys().next().value as string);
    },
    changed(
      path: string,
      now: { readonly version: string; readonly bytes: Uint8Array },
    ): boolean | undefined {
      const seen = states.get(path);
      if (seen === undefined) return undefined;
      if (seen.version === now.version) return false;
      return seen.hash === null || seen.hash !== engine().sha256(now.bytes);
    },
  });
}
