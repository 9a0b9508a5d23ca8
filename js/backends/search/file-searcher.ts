/**
 * Searches of files by threads that read them themselves, for backends that have such threads.
 *
 * The walk of a tree and the order of the results stay with the caller. A thread gets files that the policy has judged;
 * whatever it cannot answer it leaves to the caller, which then reads the file like any other.
 */
import type { Packed } from "../../engine/wire/unpack.ts";

/**
 * The decision of a policy about a found file: `read` it; `check` that its content is no secret; or `ask` the
 * backend itself, which may refuse it.
 */
export type FileVerdict = "read" | "check" | "ask";

/** The judgement of files below a directory. */
interface FileJudge {
  /** The real path of the directory. */
  readonly real: string;
  /** Judges a regular file by its path relative to the directory; no name of that path is a link. */
  judge(path: string): FileVerdict;
}

/** Returns the judgement of the files below a directory. @throws as `readBytes` for the directory */
export type JudgeFiles = (root: string) => Promise<FileJudge>;

/** The result of a thread for a file. Zero, so that it is the state of files that were not reached: ask the backend. */
export const ASK_BACKEND = 0;
/** The state of a file without matches. */
export const WITHOUT_HITS = 1;
/** The state of a binary file, which was not searched. */
export const BINARY_FILE = 2;
/** The state of a file with more bytes than the query allows. */
export const LARGE_FILE = 3;
/** The state of a file with matches; the next element of {@link SearchedFiles.hits} belongs to it. */
export const WITH_HITS = 4;

/** The results of a thread. */
export interface SearchedFiles {
  /** The state of each file, in the order of the request. */
  readonly states: Uint8Array;
  /** The packed hits of the files with matches, in the same order. */
  readonly hits: readonly Packed[];
}

/** The query of a search by threads. */
export interface ThreadQuery {
  /** The query as {@link EncodedQuery.options}. */
  readonly options: string;
  /** The limits of each file as JSON, without the length of its path. */
  readonly limits: string;
  /** True when the limits count the length of the path. */
  readonly countsPath: boolean;
  readonly maxFileBytes: number;
  /** The milliseconds after which a thread leaves the rest of its files to the caller. */
  readonly timeLeft: number | undefined;
}

/** A search by threads. */
export interface ThreadSearch {
  /** The number of requests that keep all threads at work while the caller is not delayed. */
  readonly requests: number;
  /** The number of requests that keep them at work although other programs delay the caller. */
  readonly maxRequests: number;
  /** Searches files, given by their paths relative to the root of the search. @throws CANCELLED, INTERNAL */
  run(paths: readonly string[], query: ThreadQuery, signal: AbortSignal | undefined): Promise<SearchedFiles>;
}

/** Begins a search by threads below a directory; undefined when there are no threads. */
export type BeginThreadSearch = (root: string) => Promise<ThreadSearch | undefined>;
