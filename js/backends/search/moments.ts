/**
 * Backends that can be seen as they were at one moment. Every search and listing of such a moment is answered from
 * memory, so a layer above them searches the moment instead of the backend itself.
 */
import type { SearchQuery, SearchResult } from "../../engine/search-types.ts";
import type { FsBackend } from "../backend.ts";
import type { SandboxPolicy } from "../policy.ts";
import type { Signalled } from "./search-grep.ts";

/** A search of a moment by a copy of its files on this machine. */
export interface MomentSearch {
  /**
   * Searches the contents below a real directory as the policy allows, with the real paths of the granted secrets.
   * `walked` are the files of the moment as the caller may see them, without searches. Returns undefined where the
   * moment has to be walked.
   */
  grep(
    root: string,
    query: SearchQuery & Signalled,
    policy: SandboxPolicy | undefined,
    granted: readonly string[],
    walked: FsBackend,
  ): Promise<SearchResult | undefined>;
}

/** How old a moment may be. */
export interface MomentOptions extends Signalled {
  /** The age in milliseconds up to which a known moment is used. Default 0. */
  readonly maxAgeMs?: number | undefined;
}

/** Returns a backend for what there is at this moment. It cannot be changed. */
export type MomentOf = (options?: MomentOptions) => Promise<FsBackend>;
