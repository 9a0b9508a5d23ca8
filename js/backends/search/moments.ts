/**
 * Backends that can be seen as they were at one moment. Every search and listing of such a moment is answered from
 * memory, so a layer above them searches the moment instead of the backend itself.
 */
import type { Files } from "../files.ts";
import type { Signalled } from "./search-grep.ts";

/** How old a moment may be. */
export interface MomentOptions extends Signalled {
  /** The age in milliseconds up to which a known moment is used. Default 0. */
  readonly maxAgeMs?: number | undefined;
}

/** Returns a backend for what there is at this moment. It cannot be changed. */
export type MomentOf = (options?: MomentOptions) => Promise<Files>;
