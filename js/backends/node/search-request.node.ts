/** The request of `thread-search.node.ts` to a worker, which `answer-search.node.ts` answers. */
import type { ThreadQuery } from "../search/file-searcher.ts";
import type { PinMode } from "./pinned.node.ts";

/** The request to a worker about one file. */
export const SKIP_FILE = 0;
/** The file is searched. */
export const SEARCH_FILE = 1;
/** The file is searched unless its content is a secret. */
export const CHECK_AND_SEARCH_FILE = 2;

/** The files of a request that lie in one directory. */
export interface DirectoryRequest {
  /** The real path of the directory. */
  readonly path: string;
  /** The names of the files, separated by slashes. */
  readonly names: string;
  /** The place of each file in the request. */
  readonly places: Uint32Array;
}

/** A request to a worker. */
export interface SearchRequest extends ThreadQuery {
  /** How directories are held. */
  readonly mode: PinMode;
  readonly directories: readonly DirectoryRequest[];
  /** The request about each file. */
  readonly asked: Uint8Array;
  /** The length of each path in bytes, where limits count it. */
  readonly pathBytes: Uint32Array;
}
