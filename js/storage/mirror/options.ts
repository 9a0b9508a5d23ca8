/** The options of the copy of a storage on this machine. `js/schema/option.ts` describes how to add an option. */
import { type Options, integer, options } from "../../schema/option.ts";

/** How old the answer of a search may be. */
interface MirrorFreshness {
  /**
   * The age in milliseconds up to which a search is answered without asking the storage. Changes of this process are
   * always found. Default 0: every search asks, which takes one round trip.
   */
  readonly maxAgeMs?: number | undefined;
}

/** The copy of a storage's files on this machine, which its searches use. */
export interface MirrorOptions {
  /**
   * The maximum number of bytes of all copies below the state directory. The copies that were searched least recently
   * are removed first; a storage that is larger has none. Default: 4 GiB.
   */
  readonly maxBytes?: number | undefined;
  /** How old the answer of a search may be. Default: as new as the storage. */
  readonly freshness?: MirrorFreshness | undefined;
}

/** The bytes of all copies below a state directory, unless a workspace says otherwise. */
export const DEFAULT_MIRROR_BYTES: number = 4 * 2 ** 30;

/** The option `mirror` of a workspace. */
export const MIRROR_OPTIONS: Options<MirrorOptions> = options("MirrorOptions", {
  maxBytes: integer(1),
  freshness: options<MirrorFreshness>("MirrorFreshness", { maxAgeMs: integer(0) }),
});
