/** A copy of the files of a storage on this machine, as the searches of the storage see it. */
import type { Files } from "../../backends/files.ts";
import type { SearchQuery, SearchResult } from "../../engine/search-types.ts";
import type { SandboxPolicy } from "../../backends/policy.ts";
import type { Signalled } from "../../backends/search/search-grep.ts";
import type { NearContents } from "./contents.ts";
import type { TreeStorage } from "./tree-storage.ts";

/** A search of contents below a directory. */
export interface MirrorSearch {
  /** The real path of the directory in the storage. */
  readonly root: string;
  readonly query: SearchQuery & Signalled;
  /** The paths that may be read; undefined for all. */
  readonly policy: SandboxPolicy | undefined;
  /** The real paths of the secrets that may be read. */
  readonly granted: readonly string[];
  /** The files of the moment as the caller may see them, without searches. */
  readonly walked: Files;
}

/** A copy of the files of a storage. */
export interface StorageMirror extends NearContents {
  /** Begins to open the copy of an earlier process, while the first tree is still being read from the storage. */
  prepare(): void;
  /**
   * Searches the copy, in exactly the state of the moment or in a later one. Returns undefined where the copy is not
   * there yet or cannot answer: the moment is walked instead.
   */
  grep(files: TreeStorage, search: MirrorSearch): Promise<SearchResult | undefined>;
  /**
   * Searches a moment of a fork of the storage, or of a fork of one: the copy, without what differs there, and that
   * by a walk. Returns undefined where the whole moment has to be walked.
   */
  grepFork(files: TreeStorage, search: MirrorSearch): Promise<SearchResult | undefined>;
}
